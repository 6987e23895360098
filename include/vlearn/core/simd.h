// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Which vector instructions the kernels run on. The choice is made once, at run time, and never
// shows in a result; tests switch it to prove that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vlearn {

/// The instruction set in use, in Highway's words: "AVX2", "SSE4", "NEON", ...
[[nodiscard]] std::string simd_target();

/// All that this binary holds and this machine runs, best first.
[[nodiscard]] std::vector<std::string> simd_targets();

/// Switches the whole process to one of simd_targets(); throws Error for another name, and changes
/// nothing then. An empty name goes back to the best. Not to be called while kernels run.
void use_simd_target(std::string_view name);

}  // namespace vlearn
