// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "interrupt.h"

#include <csignal>

namespace vlearn::app {
namespace {

CancelSource source;

void on_signal(int /*number*/) { source.request(); }

}  // namespace

CancelToken stop_on_signals() {
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

}  // namespace vlearn::app
