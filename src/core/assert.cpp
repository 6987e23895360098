// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/assert.h"

#include <string>

namespace vlearn::detail {

void assertion_failed(const char* condition, const char* file, int line) {
  throw AssertionFailure(std::string(file) + ":" + std::to_string(line) +
                         ": this must hold: " + condition);
}

}  // namespace vlearn::detail
