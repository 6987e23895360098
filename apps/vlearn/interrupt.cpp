// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string>

#include "terminal.h"

namespace vlearn::app {
namespace {

CancelSource source;
std::atomic<int> first_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "the handler stores to it");

/// What the handler says; made before there is one. Empty: nothing.
struct Messages {
  std::string at_keyboard;
  std::string elsewhere;
};
Messages messages;

/// Calls nothing but what a signal handler may.
void on_signal(int number) {
  const int failure = errno;
  source.request();
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number)) {
    end_bars();
    const auto write_out = [](std::string_view text) {
      if (!text.empty()) static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
    };
    if (bar_is_shown()) write_out("\r\033[K");
    write_out(number == SIGINT ? messages.at_keyboard : messages.elsewhere);
  }
  errno = failure;
}

}  // namespace

CancelToken stop_on_signals(std::string_view meanwhile) {
  if (!is_quiet()) {
    std::string text = paint_error(Style::note, "vlearn:") + " stopping";
    if (!meanwhile.empty()) text += ": " + std::string(meanwhile);
    messages = {text + " (Ctrl-C again to stop at once)\n", text + "\n"};
  }
  struct sigaction action {};
  action.sa_handler = on_signal;
  // Once: the second one finds the system's own way to end a program.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);  // as nohup wants it
  }
  return source.token();
}

ExitCode interrupted() noexcept {
  return first_signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
}

}  // namespace vlearn::app
