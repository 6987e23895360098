// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/crew.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "vlearn/core/assert.h"
#include "vlearn/core/parallel.h"

namespace vlearn {
namespace {

/// Some tens of microseconds, about what it takes to wake a thread.
constexpr int kSpins = 2000;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns when the number is no longer `old`.
template <class Integer>
void wait_while(const std::atomic<Integer>& number, Integer old) noexcept {
  for (int i = 0; i < kSpins; ++i) {
    if (number.load(std::memory_order_acquire) != old) return;
    pause();
  }
  number.wait(old, std::memory_order_acquire);
}

}  // namespace

struct Crew::Members {
  /// What they are called to do; a new number of the call says that there is something.
  std::atomic<std::uint64_t> call = 0;
  std::size_t count = 0;
  const std::function<void(const Share&)>* work = nullptr;  // null: go home
  std::atomic<std::size_t> busy = 0;
  std::vector<std::exception_ptr> failures;
  std::vector<std::jthread> threads;

  void do_share(std::size_t member) noexcept {
    const std::size_t size = failures.size();
    // count / size each, and one more for the first few.
    const auto first = [&](std::size_t j) {
      return j * (count / size) + std::min(j, count % size);
    };
    try {
      (*work)({member, first(member), first(member + 1)});
    } catch (...) {
      failures[member] = std::current_exception();
    }
  }

  void serve(std::size_t member) noexcept {
    for (std::uint64_t seen = 0;; ++seen) {
      wait_while(call, seen);
      if (work == nullptr) return;
      do_share(member);
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) busy.notify_one();
    }
  }

  void announce() noexcept {
    call.fetch_add(1, std::memory_order_release);
    call.notify_all();
  }
};

Crew::Crew(std::size_t threads) {
  const std::size_t wanted = std::min(threads == 0 ? available_cores() : threads, kMaxThreads);
  if (wanted < 2) return;
  members_ = std::make_unique<Members>();
  members_->failures.resize(1);
  members_->failures.reserve(wanted);
  members_->threads.reserve(wanted);
  try {
    for (std::size_t member = 1; member < wanted; ++member) {
      members_->threads.emplace_back([crew = members_.get(), member] { crew->serve(member); });
      members_->failures.emplace_back();
    }
  } catch (...) {
    // No more threads to be had: those that there are do all the work.
  }
}

Crew::~Crew() {
  if (!members_) return;
  members_->work = nullptr;
  members_->announce();
}

std::shared_ptr<Crew> Crew::for_players(std::size_t num_players, std::size_t threads) {
  return num_players < kPlayersForACrew ? nullptr : std::make_shared<Crew>(threads);
}

std::size_t Crew::size() const noexcept { return members_ ? members_->failures.size() : 1; }

void Crew::run(std::size_t count, const std::function<void(const Share&)>& work) {
  if (size() == 1) return work({0, 0, count});
  Members& crew = *members_;
  VLEARN_ASSERT(crew.busy.load(std::memory_order_relaxed) == 0);
  crew.count = count;
  crew.work = &work;
  crew.busy.store(size() - 1, std::memory_order_relaxed);
  crew.announce();
  crew.do_share(0);
  for (std::size_t left = crew.busy.load(std::memory_order_acquire); left > 0;
       left = crew.busy.load(std::memory_order_acquire)) {
    wait_while(crew.busy, left);
  }
  std::exception_ptr lowest;
  for (std::exception_ptr& failure : crew.failures) {
    if (!lowest) lowest = failure;
    failure = nullptr;
  }
  if (lowest) std::rethrow_exception(lowest);
}

}  // namespace vlearn
