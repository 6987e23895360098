// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/parallel.h"

#include <sched.h>

#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace vlearn {

std::size_t available_cores() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return static_cast<std::size_t>(std::max(CPU_COUNT(&set), 1));
  }
  return std::max(std::thread::hardware_concurrency(), 1U);
}

namespace detail {
namespace {

/// Groups are handed out in order, so when one fails all lower ones have been started and will
/// report; those above it need not start.
class GroupQueue {
 public:
  GroupQueue(std::size_t groups,
             const CancelToken& cancel,
             const std::function<void(std::size_t)>& run_group)
      : groups_(groups), cancel_(cancel), run_group_(run_group) {}

  void work() noexcept {
    for (;;) {
      const std::size_t group = next_.fetch_add(1, std::memory_order_relaxed);
      if (group >= groups_ || group > lowest_failure_.load(std::memory_order_relaxed)) return;
      try {
        cancel_.check();
        run_group_(group);
      } catch (...) {
        record(group, std::current_exception());
      }
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void record(std::size_t group, std::exception_ptr failure) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (group >= lowest_failure_.load(std::memory_order_relaxed)) return;
    lowest_failure_.store(group, std::memory_order_relaxed);
    failure_ = std::move(failure);
  }

  std::size_t groups_;
  const CancelToken& cancel_;
  const std::function<void(std::size_t)>& run_group_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> lowest_failure_ = std::numeric_limits<std::size_t>::max();
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void run_groups(std::size_t groups,
                const ParallelOptions& options,
                const std::function<void(std::size_t)>& run_group) {
  const std::size_t wanted = options.threads == 0 ? available_cores() : options.threads;
  GroupQueue queue(groups, options.cancel, run_group);
  {
    std::vector<std::jthread> helpers;  // joined at the end of this block
    const std::size_t useful = std::min({wanted, groups, kMaxThreads});
    try {
      for (std::size_t t = 1; t < useful; ++t) helpers.emplace_back([&queue] { queue.work(); });
    } catch (...) {
      // No more threads or memory to be had: those that run do all the work.
    }
    queue.work();
  }
  queue.rethrow();
}

}  // namespace detail
}  // namespace vlearn
