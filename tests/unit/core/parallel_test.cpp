// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <latch>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "vlearn/core/exp.h"
#include "vlearn/core/float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace vlearn {
namespace {

std::vector<double> squares(std::size_t count, std::size_t threads, std::size_t grain) {
  std::vector<double> out(count, -1.0);
  parallel_for(count, {.threads = threads, .grain = grain},
               [&](std::size_t i) { out[i] = static_cast<double>(i * i); });
  return out;
}

TEST(ParallelFor, RunsEachIndexOnceForAnyThreadsAndGrain) {
  for (const std::size_t count : {0U, 1U, 2U, 7U, 100U}) {
    std::vector<std::atomic<int>> runs(count);
    const std::vector<double> serial = squares(count, 1, 1);
    for (const std::size_t threads : {0U, 1U, 2U, 3U, 8U, 16U}) {
      for (const std::size_t grain : {0U, 1U, 3U, 1000U}) {
        for (auto& run : runs) run = 0;
        parallel_for(count, {.threads = threads, .grain = grain},
                     [&](std::size_t i) { ++runs[i]; });
        for (const auto& run : runs) EXPECT_EQ(run, 1);
        EXPECT_EQ(squares(count, threads, grain), serial);
      }
    }
  }
}

TEST(ParallelFor, BoundsTheThreads) { EXPECT_EQ(squares(5000, SIZE_MAX, 1), squares(5000, 1, 1)); }

TEST(ParallelFor, ThrowsWhatAPlainLoopWouldThrow) {
  for (const std::size_t threads : {1U, 2U, 8U}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      try {
        parallel_for(200, {.threads = threads}, [](std::size_t i) {
          if (i % 50 == 13) throw std::runtime_error(std::to_string(i));
        });
        FAIL();
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "13");
      }
    }
  }
}

TEST(ParallelFor, StopsWhenAsked) {
  CancelSource source;
  std::atomic<int> runs = 0;
  EXPECT_THROW(parallel_for(1000, {.threads = 2, .cancel = source.token()},
                            [&](std::size_t i) {
                              ++runs;
                              if (i == 10) source.request();
                            }),
               Cancelled);
  EXPECT_LT(runs, 1000);
}

TEST(CancelToken, DefaultOneNeverFires) {
  const CancelToken token;
  EXPECT_FALSE(token.requested());
  EXPECT_NO_THROW(token.check());
  CancelSource source;
  const CancelToken other = source.token();
  EXPECT_FALSE(other.requested());
  source.request();
  EXPECT_TRUE(other.requested());
  EXPECT_THROW(other.check(), Cancelled);
}

// On x86 another library may also have set the bits that flush subnormal results and inputs.
#if defined(__x86_64__)
constexpr unsigned kFlush = 0x8040U;
unsigned control() { return _mm_getcsr(); }
void set_control(unsigned bits) { _mm_setcsr(bits); }
#else
constexpr unsigned kFlush = 0U;
unsigned control() { return 0U; }
void set_control(unsigned /*bits*/) {}
#endif

TEST(DefaultFloatEnvironment, UndoesWhatOthersSetAndPutsItBack) {
  const double expected = exp(-1.0 / 3.0);
  const unsigned before = control();
  set_control(before | kFlush);
  std::fesetround(FE_UPWARD);
  const unsigned hostile = control();
  {
    const DefaultFloatEnvironment environment;
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    EXPECT_EQ(control() & kFlush, 0U);
    EXPECT_EQ(exp(-1.0 / 3.0), expected);
    EXPECT_GT(exp(-745.0), 0.0);
    // Threads inherit it: four of them, since each waits for the others before it computes.
    std::vector<double> tiny(4, 0.0);
    std::latch all_here(4);
    parallel_for(4, {.threads = 4}, [&](std::size_t i) {
      all_here.arrive_and_wait();
      tiny[i] = exp(-745.0);
    });
    for (const double value : tiny) EXPECT_GT(value, 0.0);
  }
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  EXPECT_EQ(control() & kFlush, hostile & kFlush);
  set_control(before);
  std::fesetround(FE_TONEAREST);
}

}  // namespace
}  // namespace vlearn
