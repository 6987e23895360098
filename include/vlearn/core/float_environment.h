// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Results are the same bits only in the default floating-point environment: round to nearest, no
// flush of subnormals. Another library in the process may have changed that (code linked with
// -ffast-math sets the flush bits for the whole process), so whoever computes holds one of these:
// the command for all it does, JsonDocument::parse for the numbers it reads. The small kernels
// (exp.h, simplex.h, alpha.h) do not, because it would cost more than they do: there it is the
// caller's.
#pragma once

#include <cfenv>

namespace vlearn {

/// Sets the default environment for the calling thread and puts the old one back at the end.
/// Threads started meanwhile inherit the default one.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&saved_); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment(DefaultFloatEnvironment&&) = delete;
  DefaultFloatEnvironment& operator=(DefaultFloatEnvironment&&) = delete;

 private:
  std::fenv_t saved_{};
};

}  // namespace vlearn
