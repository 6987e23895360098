// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/observations.h"

#include <fmt/format.h>

#include <istream>

#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/random.h"

namespace vlearn {
namespace {

constexpr std::size_t kMaxLine = 4096;

/// A line without its end; of one that is too long, enough to see that it is. Nothing at the end.
std::optional<std::string> next_line(std::istream& lines) {
  std::string line;
  for (char c = 0; lines.get(c);) {
    if (c == '\n') return line;
    line += c;
    if (line.size() > kMaxLine) return line;
  }
  if (line.empty()) return std::nullopt;
  return line;
}

std::uint64_t from_one(const JsonValue& value, std::uint64_t largest) {
  const std::uint64_t n = value.natural(largest);
  if (n == 0) throw value.error("counts from 1");
  return n;
}

}  // namespace

std::optional<Observation> Observations::next() {
  const std::optional<std::string> line = next_line(lines_);
  if (!line) return std::nullopt;
  const std::string source = fmt::format("{}, line {}", source_, ++number_);
  if (line->size() > kMaxLine) {
    throw Error(ErrorKind::resource, source, fmt::format("is longer than {} bytes", kMaxLine));
  }
  const JsonDocument document = JsonDocument::parse(*line, source);
  const JsonValue root = document.root();
  const std::uint64_t episode = from_one(root.at("episode"), kMaxEpisodes - 1);
  Observation seen;
  seen.episode = Episode::from_number(episode);
  seen.begins = episode != episode_;
  seen.h = Step::from_number(from_one(root.at("step"), first_cell_.size() - 1));
  const std::size_t states = first_cell_[seen.h.index() + 1] - first_cell_[seen.h.index()];
  seen.s = State::from_number(from_one(root.at("state"), states));
  const Step expected = seen.begins ? Step() : expected_;
  if (seen.h != expected) {
    throw Error(ErrorKind::input, source + ": step", fmt::format("is {}", seen.h.number()),
                fmt::format("steps of an episode come in order: want {}", expected.number()));
  }
  episode_ = episode;
  expected_ = seen.h.next();
  return seen;
}

}  // namespace vlearn
