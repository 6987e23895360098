// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "lack_of_memory.h"

#include <unistd.h>

#include <atomic>

#include "command.h"
#include "terminal.h"

namespace vlearn::app {
namespace {

/// Set before there are threads; used before main() begins too.
constinit std::string_view advice = kLessMemory;

}  // namespace

void advise_in_need(std::string_view less_memory) noexcept { advice = less_memory; }

void say_out_of_memory() noexcept {
  say_in_need("vlearn: out of memory; ");
  say_in_need(advice);
  say_in_need("\n");
}

void end_for_lack_of_memory() noexcept {
  static constinit std::atomic_flag ending;
  while (ending.test_and_set()) pause();  // another thread ends the process
  say_out_of_memory();
  _exit(static_cast<int>(ExitCode::resource));
}

}  // namespace vlearn::app
