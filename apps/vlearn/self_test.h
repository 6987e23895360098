// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The checks of `vlearn self-test`, for `vlearn doctor` too.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace vlearn::app {

struct SelfCheck {
  std::string name;             ///< what is right where it is true
  std::function<bool()> check;  ///< may throw where it cannot be told
};

[[nodiscard]] const std::vector<SelfCheck>& self_checks();

}  // namespace vlearn::app
