// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "terminal.h"

namespace vlearn::app {
namespace {

CancelSource source;
std::atomic<int> first_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "the handler stores to it");

/// What the handler says; made before there is one. Empty: nothing. It needs no destructor: a
/// signal may come while those of others run.
struct Message {
  std::array<char, 256> text;
  std::size_t size;
  void set(std::string_view words) noexcept {
    size = std::min(words.size(), text.size());
    std::copy_n(words.begin(), size, text.begin());
  }
};
static_assert(std::is_trivially_destructible_v<Message>);
static_assert(std::is_trivially_destructible_v<CancelSource>);
Message at_keyboard{};
Message elsewhere{};

/// Calls nothing but what a signal handler may.
void on_signal(int number) {
  const int failure = errno;
  source.request();
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number)) {
    end_bars();
    const auto write_out = [](std::string_view text) {
      // Where it would have to wait, stopping goes first.
      if (text.empty() || !stderr_takes_text()) return;
      static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
    };
    if (bar_is_shown()) write_out("\r\033[K");
    const Message& message = number == SIGINT ? at_keyboard : elsewhere;
    write_out({message.text.data(), message.size});
  }
  errno = failure;
}

}  // namespace

CancelToken stop_on_signals(std::string_view meanwhile) {
  if (!is_quiet()) {
    std::string text = paint_error(Style::note, "vlearn:") + " stopping";
    if (!meanwhile.empty()) text += ": " + std::string(meanwhile);
    at_keyboard.set(text + " (Ctrl-C again to stop at once)\n");
    elsewhere.set(text + "\n");
  }
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) {
    // Once: the second one finds the system's own way to end a program. When a terminal closes, two
    // come: from the shell, and from the system when the shell has ended.
    action.sa_flags = number == SIGHUP ? 0 : static_cast<int>(SA_RESETHAND);
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);  // as nohup wants it
  }
  return source.token();
}

ExitCode interrupted() noexcept {
  switch (first_signal) {
    case SIGTERM: return ExitCode::terminated;
    case SIGHUP: return ExitCode::hung_up;
    default: return ExitCode::interrupted;
  }
}

}  // namespace vlearn::app
