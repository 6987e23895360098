// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "cut_file.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "command.h"
#include "terminal.h"
#include "vlearn/core/text.h"

namespace vlearn::app {
namespace {

/// The file that is mapped at an address; empty: none.
std::string file_at(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    int name = 0;
    // 7f0c0000-7f0d0000 r--p 00000000 08:01 4711   /folder/player-1.policy
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %*s %n", &begin, &end, &name) != 2) continue;
    if (wanted >= begin && wanted < end) return line.substr(static_cast<std::size_t>(name));
  }
  return {};
}

/// Unlike other handlers this one may take memory: the signal comes from the instruction that read
/// the map, which holds no lock.
void on_bus_error(int number, siginfo_t* info, void* /*context*/) {
  static std::atomic_flag told = ATOMIC_FLAG_INIT;
  while (told.test_and_set()) pause();  // another thread says it, and ends the process
  const bool is_ours = info->si_code == BUS_ADRERR;
  const std::string file = is_ours ? file_at(info->si_addr) : std::string();
  if (!file.starts_with('/')) {
    std::signal(number, SIG_DFL);
    static_cast<void>(std::raise(number));  // when this handler returns
    return;
  }
  say_in_need("vlearn: " + printable(file) +
              ": was cut while it was read, or its disk fails; restore it, and run this again\n");
  _exit(static_cast<int>(ExitCode::input));
}

}  // namespace

void explain_cut_files() noexcept {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace vlearn::app
