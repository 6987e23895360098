// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs something that must throw a vlearn::Error and hands the error over for a closer look.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "vlearn/core/error.h"

namespace vlearn::test {

/// The message of the error, empty (and a failed test) when there was none or another kind.
template <class Call>
std::string error_of(ErrorKind kind, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

}  // namespace vlearn::test
