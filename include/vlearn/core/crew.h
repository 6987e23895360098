// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that stay, for loops that are short and come often: parallel_for() starts its threads
// anew, which takes longer than a step of a thousand players. Members wait for work by spinning a
// while and then asleep. As with parallel_for(), what is computed does not depend on their number:
// every index is worked on once and writes only what belongs to it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace vlearn {

/// Loops over fewer players than this are done sooner alone.
inline constexpr std::size_t kPlayersForACrew = 256;

class Crew {
 public:
  /// The caller and threads - 1 others; 0: one per core. Fewer than wanted is no error.
  explicit Crew(std::size_t threads = 1);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  Crew(Crew&&) = delete;
  Crew& operator=(Crew&&) = delete;

  /// Members, the caller included.
  [[nodiscard]] std::size_t size() const noexcept;

  /// A member's part of the indices.
  struct Share {
    std::size_t member;
    std::size_t begin;
    std::size_t end;
  };
  /// 0, ..., count - 1 dealt out in order, each member a neighbouring part of about the same size;
  /// returns when all have done theirs. Of exceptions the one of the lowest member is thrown. One
  /// call at a time, and none from within `work`: who runs at the same time has a crew of its own.
  void run(std::size_t count, const std::function<void(const Share&)>& work);

  /// For work on so many players: a crew of so many threads, or none where it does not pay.
  [[nodiscard]] static std::shared_ptr<Crew> for_players(std::size_t num_players,
                                                         std::size_t threads);

 private:
  struct Members;
  std::unique_ptr<Members> members_;  // none: the caller is alone
};

}  // namespace vlearn
