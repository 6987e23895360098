// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a player who executes its policy alone is told: one line for each step of an episode, with
// the state that everybody observes,
//
//   {"episode": 1, "step": 1, "state": 3}
//
// Episodes may come in any order; the steps of one come in theirs, from the first on. All numbers
// count from 1. The lines are from outside: the longest has 4096 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "vlearn/core/id.h"

namespace vlearn {

struct Observation {
  Episode episode;
  Step h;
  State s;
  bool begins = false;  ///< the episode is another than that of the line before
};

class Observations {
 public:
  /// `source` names the stream in errors. `first_cell` is Seat's: a step has as many states as
  /// cells. The stream and the cells must outlive this.
  Observations(std::istream& lines, std::string source, std::span<const std::size_t> first_cell)
      : lines_(lines), source_(std::move(source)), first_cell_(first_cell) {}

  /// The next line; nothing at the end. Throws Error that names the line and the key: input, or
  /// resource for a line that is too long, of which no more is read than fits.
  [[nodiscard]] std::optional<Observation> next();

 private:
  std::istream& lines_;
  std::string source_;
  std::span<const std::size_t> first_cell_;
  std::uint64_t number_ = 0;   // of the line
  std::uint64_t episode_ = 0;  // of the line before; 0: there is none
  Step expected_;
};

}  // namespace vlearn
