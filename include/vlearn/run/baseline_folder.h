// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What a run of a centralised baseline leaves behind: a folder like that of a planned game, with a
// Markov policy and its certificate. docs/reference/run_folder.md has the files.
#pragma once

#include <filesystem>
#include <string>

#include "vlearn/core/json.h"
#include "vlearn/run/baseline_game.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {

/// Everything that determines the run, `vlearn.baseline-config/1`.
[[nodiscard]] std::string config_to_json(const RunTitle& title, const BaselineConfig& config);

/// Whether the optimism gap is a bound with probability 1 - delta: the constant is large enough,
/// and no more episodes were played than iota allows for.
[[nodiscard]] bool is_proven(const BaselineConfig& config, std::uint64_t episodes) noexcept;

/// Members of the result, `vlearn.baseline/1`; the object is open, more may follow.
void write_result(JsonWriter& json,
                  const RunTitle& title,
                  const BaselineConfig& config,
                  const BaselineResult& result);

/// Writes the folder as a whole; the certificate gets the hashes of the tables. Throws as
/// RunFolder::check() does.
void write_baseline(const std::filesystem::path& path,
                    RunFolder::Existing existing,
                    const RunTitle& title,
                    const BaselineConfig& config,
                    BaselineResult& result);

}  // namespace vlearn
