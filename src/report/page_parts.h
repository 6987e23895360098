// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of a page, each a <section> that can be read without scripts, in the order in which
// they stand; and what several of them need to know of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "html.h"
#include "svg.h"
#include "vlearn/report/run_view.h"
#include "vlearn/report/summary.h"

namespace vlearn {

// --- one run --------------------------------------------------------------------------------

void add_headline(Html& html, const RunView& run);
void add_game(Html& html, const RunView& run);
void add_gap_curve(Html& html, const RunView& run);
void add_values(Html& html, const RunView& run);
void add_deviations(Html& html, const RunView& run);
void add_policies(Html& html, const RunView& run);
void add_visits(Html& html, const RunView& run);
void add_certificate(Html& html, const RunView& run);
void add_making(Html& html, const RunView& run);

// --- several --------------------------------------------------------------------------------

/// Runs that differ by their seed, and what tells them from the other groups.
struct NamedGroup {
  RunGroup group = {};
  std::string label = {};
  std::optional<MeanInterval> last = std::nullopt;  ///< of the certificates
};
[[nodiscard]] std::vector<NamedGroup> name_groups(std::span<const RunView> runs);

void add_runs_headline(Html& html,
                       std::span<const RunView> runs,
                       const std::vector<NamedGroup>& groups);
void add_groups(Html& html, std::span<const RunView> runs, const std::vector<NamedGroup>& groups);
void add_each_run(Html& html, std::span<const RunView> runs);

// --- for the script ---------------------------------------------------------------------------

/// JSON that can stand in a <script> element.
[[nodiscard]] std::string page_data(const RunView& run);
[[nodiscard]] std::string page_data(std::span<const RunView> runs,
                                    const std::vector<NamedGroup>& groups);

// --- what they share --------------------------------------------------------------------------

/// A section with its heading; close() ends it.
void open_section(Html& html, std::string_view id, std::string_view title);

/// The certificate that counts: the certain one where there is one.
[[nodiscard]] const Certificate* certificate_of(const RunView& run);
/// Whether its gaps are known but for rounding.
[[nodiscard]] bool is_exact(const Certificate& certificate);
[[nodiscard]] std::string verified_word(const Verification& verification);

/// Places of a curve that are kept: all, or at most 2000, evenly on a logarithmic axis.
[[nodiscard]] std::vector<std::size_t> kept_points(std::span<const CurvePoint> curve);
/// c of c / sqrt(episodes), through the middle of the gaps; nothing where there are none.
[[nodiscard]] std::optional<double> guide_of(std::span<const CurvePoint> curve);
/// Whether all points are known from below as they are from above.
[[nodiscard]] bool exact_curve(std::span<const CurvePoint> curve);

/// Of all cells, by step and state.
[[nodiscard]] std::vector<std::string> cell_names(const RunView& run);
/// What the player's gap is at most; 0 where nothing is known.
[[nodiscard]] double player_gap(const RunView& run, std::size_t player);
[[nodiscard]] std::string player_name(const RunView& run, std::size_t player);
/// "left 62 %, right 38 %": the likeliest actions.
[[nodiscard]] std::string policy_text(const PlayerCell& cell, std::size_t most);
[[nodiscard]] std::size_t likeliest(const std::vector<double>& chances);
/// What the witness plays in place of what is recommended.
[[nodiscard]] std::string witness_text(const PlayerCell& cell, Target target);
/// A line of a <dl class="facts">; nothing where there is no text.
void add_fact(Html& html, std::string_view label, const std::string& text, bool is_hash = false);
/// A chart as a picture, which the script replaces by one that answers to the mouse.
void add_chart(Html& html, std::string_view which, const LineChart& chart);
/// What the gaps of a run's curve are called: its own record, unless they were derived again.
[[nodiscard]] std::string gap_label(const RunView& run);
/// What the bound of a run's own data is called; it holds with a probability that the config has.
[[nodiscard]] std::string bound_label(const RunView& run);
/// "episodes", of planned runs "iterations".
[[nodiscard]] const char* x_label(std::span<const RunView> runs);
/// A command in a box, with room for a button that copies it.
void add_command(Html& html, const std::string& command, std::string_view label);

}  // namespace vlearn
