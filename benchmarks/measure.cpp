// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "vlearn/core/cpu_time.h"

namespace vlearn::bench {
namespace {

constexpr int kTurns = 15;
constexpr double kNsPerTurn = 10e6;

double ns_for(const Work& work, std::size_t operations) {
  const double begin = thread_seconds();
  [[maybe_unused]] const volatile double result = work(operations);
  return 1e9 * (thread_seconds() - begin);
}

/// Enough operations to fill a turn.
std::size_t calibrate(const Work& work) {
  std::size_t operations = 1;
  while (ns_for(work, operations) < kNsPerTurn && operations < (std::size_t{1} << 40U)) {
    operations *= 2;
  }
  return operations;
}

}  // namespace

Measurement compare(std::string name,
                    const Work& work,
                    std::string reference,
                    const Work& reference_work) {
  const std::size_t operations = calibrate(work);
  const std::size_t reference_operations = calibrate(reference_work);
  constexpr double never = std::numeric_limits<double>::infinity();
  Measurement result{std::move(name), never, std::move(reference), never};
  for (int turn = 0; turn < kTurns; ++turn) {
    result.ns = std::min(result.ns, ns_for(work, operations) / static_cast<double>(operations));
    result.reference_ns =
        std::min(result.reference_ns, ns_for(reference_work, reference_operations) /
                                          static_cast<double>(reference_operations));
  }
  return result;
}

Measurement compare_wall(std::string name,
                         const Work& work,
                         std::string reference,
                         const Work& reference_work,
                         std::size_t operations) {
  constexpr int turns = 3;
  const auto wall_ns = [&](const Work& one) {
    const auto begin = std::chrono::steady_clock::now();
    [[maybe_unused]] const volatile double result = one(operations);
    const std::chrono::duration<double, std::nano> elapsed =
        std::chrono::steady_clock::now() - begin;
    return elapsed.count() / static_cast<double>(operations);
  };
  constexpr double never = std::numeric_limits<double>::infinity();
  Measurement result{std::move(name), never, std::move(reference), never};
  for (int turn = 0; turn < turns; ++turn) {
    result.ns = std::min(result.ns, wall_ns(work));
    result.reference_ns = std::min(result.reference_ns, wall_ns(reference_work));
  }
  return result;
}

Measurement measure(std::string name, const Work& work) {
  const std::size_t operations = calibrate(work);
  double best = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < kTurns; ++turn) best = std::min(best, ns_for(work, operations));
  return {std::move(name), best / static_cast<double>(operations), "", 0.0};
}

}  // namespace vlearn::bench
