// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The report: one page that needs nothing but itself.
#pragma once

#include <span>
#include <string>

#include "vlearn/report/run_view.h"

namespace vlearn {

/// One self-contained HTML document: of one run everything, of several what they have in common
/// side by side, and how each ended; policies are looked at one run at a time. Same views, same
/// bytes.
[[nodiscard]] std::string report_page(std::span<const RunView> runs);

/// What was found, in a sentence: the first of the page.
[[nodiscard]] std::string headline_of(const RunView& run);

}  // namespace vlearn
