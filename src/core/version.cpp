// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/version.h"

#include "vlearn_commit.h"  // generated at every build

namespace vlearn {

BuildInfo build_info() {
#if defined(__clang__)
  const std::string compiler = std::string("Clang ") + __clang_version__;
#else
  const std::string compiler = std::string("GCC ") + __VERSION__;
#endif
#if defined(VLEARN_ASSERTIONS) && VLEARN_ASSERTIONS
  constexpr bool assertions = true;
#else
  constexpr bool assertions = false;
#endif
  return {.version = VLEARN_VERSION,
          .commit = VLEARN_COMMIT,
          .compiler = compiler,
          .build_type = VLEARN_BUILD_TYPE,
          .sanitizers = VLEARN_SANITIZERS,
          .assertions = assertions};
}

}  // namespace vlearn
