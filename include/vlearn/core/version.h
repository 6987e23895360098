// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What this binary is: stated in every result and by `vlearn --version`.
#pragma once

#include <string>
#include <string_view>

namespace vlearn {

struct BuildInfo {
  std::string_view version;     ///< "0.1.0"
  std::string_view commit;      ///< of the source, "unknown" outside a checkout
  std::string compiler;         ///< "GCC 12.2.0"
  std::string_view build_type;  ///< "Release"
  std::string_view sanitizers;  ///< "none", or as in -fsanitize=
  bool assertions = false;
};

[[nodiscard]] BuildInfo build_info();

}  // namespace vlearn
