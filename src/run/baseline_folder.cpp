// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/baseline_folder.h"

#include "vlearn/core/hash.h"
#include "vlearn/core/random.h"
#include "vlearn/core/version.h"

namespace vlearn {

std::string config_to_json(const RunTitle& title, const BaselineConfig& config) {
  const BaselineOptions& options = config.baseline;
  check_choices(options);
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.baseline-config/1");
  json.member("version", build_info().version).member("game", title.game);
  json.member("game_hash", title.game_hash).member("algorithm", name_of(options.algorithm));
  json.member("target", name_of(options.target));
  if (options.algorithm == BaselineName::nash_vi) {
    json.member("bonus", kBaselineBonusNames[static_cast<std::size_t>(options.bonus)]);
  }
  if (options.algorithm != BaselineName::plug_in) {
    json.member("constant", options.constant).member("delta", options.delta);
    json.member("horizon_episodes", options.horizon_episodes);
    json.member("replan", kReplanNames[static_cast<std::size_t>(options.replan)]);
    json.member("output", kBaselineOutputNames[static_cast<std::size_t>(options.output)]);
  }
  json.member("max_memory", options.max_memory);
  if (config.episodes) json.member("episodes", *config.episodes);
  if (config.until_gap) json.member("until_gap", *config.until_gap);
  if (config.max_seconds) json.member("max_seconds", *config.max_seconds);
  json.member("seed", config.seed).member("stream_version", std::uint64_t{kStreamVersion});
  return json.end_object().text() + "\n";
}

bool is_proven(const BaselineConfig& config, std::uint64_t episodes) noexcept {
  const BaselineOptions& options = config.baseline;
  return options.algorithm != BaselineName::plug_in &&
         options.constant >= theory_constant(options.algorithm) &&
         episodes <= options.horizon_episodes;
}

void write_result(JsonWriter& json,
                  const RunTitle& title,
                  const BaselineConfig& config,
                  const BaselineResult& result) {
  const std::string text = config_to_json(title, config);
  json.member("schema", "vlearn.baseline/1").member("version", build_info().version);
  json.member("game", title.game).member("game_hash", title.game_hash);
  json.member("config_hash", to_hex(sha256(std::as_bytes(std::span(text)))));
  json.member("algorithm", name_of(config.baseline.algorithm));
  json.member("target", name_of(config.baseline.target));
  json.member("seed", config.seed).member("stopped", name_of(result.stopped));
  json.member("episodes", result.episodes).member("output_episodes", result.last.episodes);
  json.member("plans", result.last.plans).member("bytes", result.last.bytes);
  if (result.last.optimism_gap) {
    json.key("optimism_gap").begin_object();
    json.member("value", *result.last.optimism_gap);
    json.member("proven", is_proven(config, result.episodes)).end_object();
  }
  write_exact(json, result.certificate);
}

void write_baseline(const std::filesystem::path& path,
                    RunFolder::Existing existing,
                    const RunTitle& title,
                    const BaselineConfig& config,
                    BaselineResult& result) {
  std::string rows;
  std::string timing;
  for (const BaselineLook& look : result.looks) {
    JsonWriter row(JsonWriter::Layout::compact);
    row.begin_object().member("episode", look.episodes).member("plans", look.plans);
    if (look.optimism_gap) row.member("optimism_gap", *look.optimism_gap);
    row.member("certified_gap", look.gap.largest).member("sum_of_gaps", look.gap.sum);
    rows += row.end_object().text() + "\n";
    JsonWriter time(JsonWriter::Layout::compact);
    time.begin_object().member("episode", look.episodes);
    timing += time.member("cpu_seconds", look.cpu_seconds).end_object().text() + "\n";
  }
  JsonWriter json;
  json.begin_object();
  write_result(json, title, config, result);
  RunFolder::write_whole(path, existing,
                         {.config = config_to_json(title, config),
                          .target = config.baseline.target,
                          .seed = config.seed,
                          .tables = result.tables,
                          .metrics = rows,
                          .timing = timing,
                          .result = json.end_object().text() + "\n"},
                         result.certificate);
}

}  // namespace vlearn
