// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// VLEARN_ASSERT states what must hold if our own code is right. It is on in the dev and sanitizer
// builds and compiles to nothing in release builds; user input is never checked with it.
#pragma once

#include <stdexcept>

namespace vlearn {

/// A broken invariant of the library itself. Leaving a noexcept function it ends the program,
/// which is what a development build should do.
class AssertionFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}  // namespace detail

}  // namespace vlearn

#if defined(VLEARN_ASSERTIONS) && VLEARN_ASSERTIONS
#define VLEARN_ASSERT(condition)      \
  ((condition) ? static_cast<void>(0) \
               : ::vlearn::detail::assertion_failed(#condition, __FILE__, __LINE__))
#else
// Unevaluated, so that names used only in assertions do not warn.
#define VLEARN_ASSERT(condition) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
