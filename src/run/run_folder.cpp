// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/run/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>
#include <vector>

#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/core/random.h"
#include "vlearn/core/simplex.h"
#include "vlearn/core/version.h"
#include "vlearn/policy/execute.h"
#include "vlearn/policy/markov.h"
#include "vlearn/run/self_play.h"

namespace vlearn {
namespace {

constexpr const char* kCertificate = "certificate.json";
constexpr const char* kSampledCertificate = "certificate-sampled.json";
constexpr std::array<const char*, 5> kResults = {"result.json", kCertificate, kSampledCertificate,
                                                 "tables.safetensors", "report.html"};
constexpr std::array<const char*, 3> kGrowing = {"metrics.jsonl", "metrics.csv", "timing.jsonl"};
constexpr std::array<std::string_view, 2> kHistoryNames = {"none", "full"};

constexpr const char* kPolicyFolder = "policy";
constexpr std::uint64_t kMaxConfig = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMaxTiming = std::uint64_t{1} << 26U;
constexpr std::string_view kConfigSchema = "vlearn.config/1";
constexpr std::string_view kSolveConfigSchema = "vlearn.solve-config/1";
constexpr std::string_view kBaselineConfigSchema = "vlearn.baseline-config/1";

struct NamedMetrics {
  std::string player;  // a number, or "min", "mean", "max"
  PlayerMetrics metrics;
};

/// Every number of all players through one function.
template <class Combine>
PlayerMetrics combine(const MetricsRow& row, const Combine& combine) {
  const auto all_of = [&](const auto& member) {
    std::vector<double> numbers;
    numbers.reserve(row.players.size());
    for (const PlayerMetrics& metrics : row.players) numbers.push_back(member(metrics));
    return combine(numbers);
  };
  PlayerMetrics result;
  result.value = all_of([](const PlayerMetrics& m) { return m.value; });
  result.mean_return = all_of([](const PlayerMetrics& m) { return m.mean_return.value_or(0.0); });
  result.upper = all_of([](const PlayerMetrics& m) { return m.upper; });
  if (row.players.front().lower) {
    result.lower = all_of([](const PlayerMetrics& m) { return m.lower.value_or(0.0); });
  }
  if (row.players.front().gap_bound) {
    result.gap_bound = all_of([](const PlayerMetrics& m) { return m.gap_bound.value_or(0.0); });
  }
  return result;
}

std::vector<NamedMetrics> lines_of(const MetricsRow& row) {
  std::vector<NamedMetrics> lines;
  if (row.players.size() <= kPlayersInRows) {
    for (const PlayerMetrics& metrics : row.players) {
      lines.push_back({std::to_string(lines.size() + 1), metrics});
    }
    return lines;
  }
  using Numbers = std::vector<double>;
  lines.push_back({"min", combine(row, [](const Numbers& x) { return std::ranges::min(x); })});
  lines.push_back({"mean", combine(row, [](const Numbers& x) {
                     double sum = 0.0;
                     for (const double number : x) sum += number;
                     return sum / static_cast<double>(x.size());
                   })});
  lines.push_back({"max", combine(row, [](const Numbers& x) { return std::ranges::max(x); })});
  return lines;
}

void write_bounds(JsonWriter& json, const PlayerMetrics& metrics) {
  json.member("upper", metrics.upper);
  if (metrics.lower) json.member("lower", *metrics.lower);
  if (metrics.mean_return) json.member("mean_return", *metrics.mean_return);
  if (metrics.gap_bound) json.member("gap_bound", *metrics.gap_bound);
}

void write_metrics(JsonWriter& json, const PlayerMetrics& metrics) {
  json.member("value", metrics.value);
  write_bounds(json, metrics);
}

/// What is known for certain; what play estimates stands beside it, or in its place where the value
/// is known as an interval only.
void write_certified(JsonWriter& json, const PlayerCertificate& certified, double estimate) {
  const bool exact = certified.value_lower == certified.value_upper;
  json.member("value", exact ? certified.value_lower : estimate);
  if (exact) {
    json.member("estimate", estimate);
  } else {
    json.member("value_lower", certified.value_lower).member("value_upper", certified.value_upper);
  }
  write_gap(json, "gap", certified.gap_upper, certified.gap_lower);
}

/// What the players' own data say, with the probability that it is true.
void write_data_certificate(JsonWriter& json, const Certificate& certificate) {
  json.key("data_certificate").begin_object().member("method", name_of(certificate.method->name));
  json.member("kind", "upper").member("confidence", certificate.method->confidence);
  json.member("output", kCertifiedOutputNames[static_cast<std::size_t>(certificate.output)]);
  json.member("start", kCertifiedStartNames[static_cast<std::size_t>(certificate.start)]);
  write_gap(json, "gap", certificate.gap_upper, std::nullopt);
  write_gap(json, "sum_of_gaps", certificate.sum_upper, std::nullopt);
  json.key("players").begin_array();
  for (std::size_t j = 0; j < certificate.players.size(); ++j) {
    const PlayerCertificate& player = certificate.players[j];
    json.on_one_line().begin_object().member("player", std::uint64_t{j + 1});
    json.member("value_lower", player.value_lower).member("value_upper", player.value_upper);
    json.member("deviation_upper", player.deviation_upper);
    json.member("gap_upper", player.gap_upper).end_object();
  }
  json.end_array().end_object();
}

std::string cell_of_csv(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : "";
}

/// Arrays over (player, step, state, action), 0 where there is no such state or action.
class Tables {
 public:
  Tables(const Trainer& trainer, const Frame& frame)
      : trainer_(trainer),
        seat_(trainer.seat(Player(0))),
        m_(frame.num_players()),
        horizon_(frame.horizon()),
        states_(frame.max_states()),
        actions_(trainer.seat(Player(0)).max_actions) {}

  [[nodiscard]] std::vector<std::uint64_t> shape(std::size_t rank) const {
    const std::vector<std::uint64_t> all = {m_, horizon_, states_, actions_};
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rank)};
  }
  [[nodiscard]] std::vector<std::uint64_t> visits() const {
    std::vector<std::uint64_t> visits(horizon_ * states_, 0);
    for_each_cell(
        [&](std::size_t place, std::size_t cell) { visits[place] = trainer_.visits(cell); });
    return visits;
  }
  /// of(player): a number for each cell.
  template <class Of>
  [[nodiscard]] std::vector<double> values(const Of& of) const {
    std::vector<double> values(m_ * horizon_ * states_, 0.0);
    for (const Player player : all<Player>(m_)) {
      const std::span<const double> own = of(player);
      for_each_cell([&](std::size_t place, std::size_t cell) {
        values[player.index() * horizon_ * states_ + place] = own[cell];
      });
    }
    return values;
  }
  [[nodiscard]] std::vector<double> policies(bool markov) const {
    std::vector<double> policies(m_ * horizon_ * states_ * actions_, 0.0);
    for (const Player player : all<Player>(m_)) {
      for_each_cell([&](std::size_t place, std::size_t cell) {
        const std::span<const double> policy =
            markov ? trainer_.markov_policy(player, cell) : trainer_.policy(player, cell);
        std::copy(policy.begin(), policy.end(),
                  policies.data() + (player.index() * horizon_ * states_ + place) * actions_);
      });
    }
    return policies;
  }

 private:
  /// visit(place in an array over (step, state), cell)
  template <class Visit>
  void for_each_cell(const Visit& visit) const {
    for (std::size_t h = 0; h < horizon_; ++h) {
      for (std::size_t i = seat_.first_cell[h]; i < seat_.first_cell[h + 1]; ++i) {
        visit(h * states_ + (i - seat_.first_cell[h]), i);
      }
    }
  }

  const Trainer& trainer_;
  const Seat& seat_;
  std::size_t m_;
  std::size_t horizon_;
  std::size_t states_;
  std::size_t actions_;
};

/// The member of an enumeration that a word names.
template <class Enum, std::size_t kSize>
Enum named(const JsonValue& value, const std::array<std::string_view, kSize>& names) {
  const auto* const found = std::find(names.begin(), names.end(), value.string());
  if (found == names.end()) {
    throw value.error(fmt::format("is none of {}", fmt::join(names, ", ")));
  }
  return static_cast<Enum>(found - names.begin());
}

/// Where it is a regular file.
void remove_file(const std::filesystem::path& path) {
  std::error_code failure;
  if (std::filesystem::is_regular_file(std::filesystem::symlink_status(path, failure))) {
    std::filesystem::remove(path, failure);
  }
}

/// Whether a run writes files of this name.
bool is_ours(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const std::string_view stem = std::string_view(name).substr(0, name.find_last_of('.'));
  const std::string extension = path.extension().string();
  if (extension == ".policy" || extension == ".markov" || extension == ".seed") {
    if (stem.starts_with("player-")) return is_number(stem.substr(7));
    return extension == ".seed" &&
           (stem == "index" || (stem.starts_with("index-") && is_number(stem.substr(6))));
  }
  const auto is_name = [&](const char* file) { return name == file; };
  return name == "config.json" || stem.starts_with("checkpoint") ||
         std::any_of(kResults.begin(), kResults.end(), is_name) ||
         std::any_of(kGrowing.begin(), kGrowing.end(), is_name);
}

const std::filesystem::path& made_folder(const std::filesystem::path& path) {
  make_folders(path);
  return path;
}

/// Throws Error (input) where a file is shorter.
void check_size(const std::filesystem::path& path, std::uint64_t size) {
  const InputFile file(path, UINT64_MAX);
  if (file.size() >= size) return;
  throw Error(ErrorKind::input, path.string(),
              fmt::format("has {} bytes where {} had been written", file.size(), size),
              "restore it from a copy");
}

/// What is in a folder; nothing if there is none. What cannot be looked at is an Error: a run that
/// nobody sees could be overwritten.
std::vector<std::filesystem::directory_entry> entries_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::directory_entry> entries;
  std::error_code failure;
  auto entry = std::filesystem::directory_iterator(folder, failure);
  for (; !failure && entry != std::filesystem::directory_iterator(); entry.increment(failure)) {
    entries.push_back(*entry);
  }
  if (failure && failure != std::errc::no_such_file_or_directory) {
    throw system_error(ErrorKind::usage, folder, "cannot be looked at", failure.value(),
                       "choose another place, or a folder that you may read");
  }
  return entries;
}

/// Removes what a run before has left: files of ours, and nothing else. Once its checkpoints are
/// gone nothing of it counts any more.
void remove_old_run(const std::filesystem::path& path) {
  for (const char* file : kResults) remove_file(path / file);
  for (const char* file : kGrowing) remove_file(path / file);
  for (const auto& entry : entries_of(path / kPolicyFolder)) {
    if (is_ours(entry.path())) remove_file(entry.path());
  }
  std::error_code failure;
  if (std::filesystem::is_directory(path / kPolicyFolder, failure)) {
    std::filesystem::remove(path / kPolicyFolder, failure);  // unless something else is in it
  }
}

/// Whether a config of ours is there. Throws Error (resource) if the system is in trouble.
bool is_run(const std::filesystem::path& path) {
  try {
    const JsonDocument config = JsonDocument::read(path / "config.json");
    const std::string_view schema = config.root().at("schema").string();
    return schema == kConfigSchema || schema == kSolveConfigSchema ||
           schema == kBaselineConfigSchema;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::resource) throw;
    return false;
  }
}

}  // namespace

std::string file_name(std::string_view game) {
  std::string name = game == "-" ? "stdin" : std::string(game);
  if (name.find('/') != std::string::npos || name.ends_with(".json") || name.ends_with(".nfg") ||
      name.ends_with(".safetensors")) {
    name = std::filesystem::path(name).stem().string();
  }
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                       std::string_view("-_.=,").find(c) != std::string_view::npos;
    if (!plain || static_cast<unsigned char>(c) >= 0x80) c = '-';
  }
  name.resize(std::min<std::size_t>(name.size(), 200));
  return name;
}

std::string run_name(std::string_view game, std::uint64_t seed) {
  return fmt::format("{}-{}", file_name(game), seed);
}

std::string config_to_json(const RunTitle& title, const LearnConfig& config) {
  check_choices(config);
  const LearnerOptions& learner = config.learner;
  JsonWriter json;
  json.begin_object().member("schema", kConfigSchema);
  json.member("version", build_info().version).member("game", title.game);
  json.member("game_hash", title.game_hash);
  json.member("target", name_of(learner.target)).member("preset", title.preset);
  json.member("rule", kRuleNames[static_cast<std::size_t>(learner.rule)]);
  json.member("control_variate", learner.control_variate);
  json.member("bonus", kBonusNames[static_cast<std::size_t>(learner.bonus)]);
  json.member("bonus_constant", learner.bonus_constant);
  json.member("loss_scale", kLossScaleNames[static_cast<std::size_t>(learner.loss_scale)]);
  json.member("value_weights", kValueWeightsNames[static_cast<std::size_t>(learner.value_weights)]);
  json.member("action_draws", kActionDrawsNames[static_cast<std::size_t>(learner.action_draws)]);
  json.member("monotone", learner.monotone).member("pessimistic", learner.pessimistic);
  json.member("delta", learner.delta).member("horizon_episodes", learner.horizon_episodes);
  json.member("seed", config.seed).member("stream_version", std::uint64_t{kStreamVersion});
  json.member("history", kHistoryNames[config.history ? 1 : 0]);
  json.member("certify", config.certify);
  json.member("output", kCertifiedOutputNames[static_cast<std::size_t>(config.output)]);
  if (learner.output_weights) json.member("output_weights", *learner.output_weights);
  if (learner.output_taper) json.member("output_taper", true);
  if (config.until_gap) json.member("until_gap", *config.until_gap);
  if (config.episodes) json.member("episodes", *config.episodes);
  if (config.max_seconds) json.member("max_seconds", *config.max_seconds);
  return json.end_object().text() + "\n";
}

void write_result(JsonWriter& json,
                  const RunTitle& title,
                  const GameNames& names,
                  const LearnConfig& config,
                  const std::string& config_hash,
                  const LearnResult& result,
                  const std::optional<Certificate>& certificate) {
  json.member("schema", "vlearn.learn/1").member("version", build_info().version);
  json.member("game", title.game).member("game_hash", title.game_hash);
  json.member("config_hash", config_hash);
  json.member("target", name_of(config.learner.target)).member("preset", title.preset);
  json.member("seed", config.seed).member("stopped", name_of(result.stopped));
  json.member("episodes", result.last.episode).member("agent_steps", result.agent_steps);
  json.member("visited_cells", result.last.visited_cells);
  json.member("guarantee", guarantee_of(config, result.last.episode));
  json.member("signature", fmt::format("{:016x}", result.signature));
  json.key("players").begin_array();
  std::optional<double> largest;
  for (std::size_t j = 0; j < result.last.players.size(); ++j) {
    const PlayerMetrics& metrics = result.last.players[j];
    json.begin_object().member("player", std::uint64_t{j + 1});
    json.member("name", names.player(Player(j)));
    if (certificate) {
      write_certified(json, certificate->players[j], metrics.value);
      write_bounds(json, metrics);
    } else {
      json.member("value", metrics.value);
      write_bounds(json, metrics);
    }
    json.end_object();
    if (metrics.gap_bound)
      largest = std::max(largest.value_or(*metrics.gap_bound), *metrics.gap_bound);
  }
  json.end_array();
  if (largest) json.member("gap_bound", *largest);
  if (result.data_certificate) write_data_certificate(json, *result.data_certificate);
  if (!certificate) return;
  json.member("output", kCertifiedOutputNames[static_cast<std::size_t>(certificate->output)]);
  if (has_start(*certificate)) {
    json.member("start", kCertifiedStartNames[static_cast<std::size_t>(certificate->start)]);
  }
  write_gap(json, "gap", certificate->gap_upper, certificate->gap_lower);
  write_gap(json, "sum_of_gaps", certificate->sum_upper, certificate->sum_lower);
}

std::filesystem::path policy_path(const std::filesystem::path& run, Player player) {
  return run / kPolicyFolder / fmt::format("player-{}.policy", player.number());
}

std::filesystem::path markov_path(const std::filesystem::path& run, Player player) {
  return run / kPolicyFolder / fmt::format("player-{}.markov", player.number());
}

std::filesystem::path private_seed_path(const std::filesystem::path& run, Player player) {
  return run / kPolicyFolder / fmt::format("player-{}.seed", player.number());
}

std::filesystem::path index_seed_path(const std::filesystem::path& run,
                                      Target target,
                                      Player player) {
  if (target != Target::nash) return run / kPolicyFolder / "index.seed";
  return run / kPolicyFolder / fmt::format("index-{}.seed", player.number());
}

std::filesystem::path sampled_path(const std::filesystem::path& run) {
  return run / kSampledCertificate;
}

std::filesystem::path certificate_path(const std::filesystem::path& run) {
  return run / kCertificate;
}

CertifiedOutput returned_output(const StoredRun& run) {
  return run.planned || run.config.learner.monotone ? CertifiedOutput::table : run.config.output;
}

std::string start_in_seed(const Certificate& certificate) {
  switch (certificate.output) {
    case CertifiedOutput::markov:
    case CertifiedOutput::marginals:
      if (!has_start(certificate)) return "anew";
      return fmt::format("anew {}", certificate.start_episode);
    case CertifiedOutput::table: return "table";
    case CertifiedOutput::nested: break;
  }
  return certificate.start == CertifiedStart::uniform ? "uniform"
                                                      : std::to_string(certificate.start_episode);
}

void write_index_seeds(const std::filesystem::path& run,
                       const LearnConfig& config,
                       std::size_t num_players,
                       const std::optional<Certificate>& certificate) {
  std::string start;
  if (certificate) {
    start = start_in_seed(*certificate);
  } else if (config.learner.monotone) {
    start = "table";
  } else if (config.output != CertifiedOutput::nested) {
    start = "anew";
  }
  const Target target = config.learner.target;
  // One for all players, or for nash one for each.
  const std::size_t seeds =
      target == Target::nash ? num_players : std::min<std::size_t>(num_players, 1);
  for (const Player player : all<Player>(seeds)) {
    const std::uint64_t whose = target == Target::nash ? player.number() : 0;
    write_seed(index_seed_path(run, target, player), derive_seed(config.seed, "index", whose),
               false, start);
  }
}

namespace {

void check_streams(const JsonValue& root) {
  if (root.at("stream_version").natural(UINT32_MAX) != kStreamVersion) {
    throw root.at("stream_version").error("is not one that this version draws from");
  }
}

/// Of a run that was written as a whole: what reading and executing its tables needs.
StoredRun read_whole(const std::filesystem::path& path, const JsonValue& root) {
  const bool baseline = root.at("schema").string() == kBaselineConfigSchema;
  if (baseline) {
    root.allow_keys({"schema", "version", "game", "game_hash", "algorithm", "target", "bonus",
                     "constant", "delta", "horizon_episodes", "replan", "output", "max_memory",
                     "episodes", "until_gap", "max_seconds", "seed", "stream_version"});
  } else {
    root.allow_keys({"schema", "version", "game", "game_hash", "target", "method", "select",
                     "until_gap", "max_seconds", "max_iterations", "seed", "stream_version"});
  }
  StoredRun run;
  run.path = path;
  run.planned = true;
  run.title = {std::string(root.at("game").string()), "",
               std::string(root.at("game_hash").string())};
  run.version = std::string(root.at("version").string());
  run.config.learner.target = named<Target>(root.at("target"), kTargetNames);
  run.config.seed = root.at("seed").natural(UINT64_MAX);
  run.config.history = false;
  if (baseline) run.algorithm = std::string(root.at("algorithm").string());
  check_streams(root);
  return run;
}

}  // namespace

StoredRun parse_run(std::string_view config, const std::filesystem::path& path) {
  const JsonDocument document = JsonDocument::parse(config, (path / "config.json").string());
  const JsonValue root = document.root();
  const std::string_view schema = root.at("schema").string();
  if (schema == kSolveConfigSchema || schema == kBaselineConfigSchema) {
    return read_whole(path, root);
  }
  if (schema != kConfigSchema) {
    throw root.at("schema").error("is not one that this version reads");
  }
  root.allow_keys({"schema",         "version",          "game",
                   "game_hash",      "target",           "preset",
                   "rule",           "control_variate",  "bonus",
                   "bonus_constant", "loss_scale",       "value_weights",
                   "action_draws",   "monotone",         "pessimistic",
                   "delta",          "horizon_episodes", "seed",
                   "stream_version", "history",          "certify",
                   "output",         "output_weights",   "output_taper",
                   "until_gap",      "episodes",         "max_seconds"});
  const auto text = [&](const char* key) { return std::string(root.at(key).string()); };
  StoredRun run;
  run.path = path;
  run.title = {text("game"), text("preset"), text("game_hash")};
  run.version = text("version");
  LearnerOptions& learner = run.config.learner;
  learner.target = named<Target>(root.at("target"), kTargetNames);
  learner.rule = named<RuleName>(root.at("rule"), kRuleNames);
  learner.control_variate = root.at("control_variate").boolean();
  learner.bonus = named<Bonus>(root.at("bonus"), kBonusNames);
  learner.bonus_constant = root.at("bonus_constant").number();
  learner.loss_scale = named<LossScale>(root.at("loss_scale"), kLossScaleNames);
  if (root.find("value_weights")) {
    learner.value_weights = named<ValueWeights>(root.at("value_weights"), kValueWeightsNames);
  }
  if (root.find("action_draws")) {
    learner.action_draws = named<ActionDraws>(root.at("action_draws"), kActionDrawsNames);
  }
  learner.monotone = root.at("monotone").boolean();
  learner.pessimistic = root.at("pessimistic").boolean();
  learner.delta = root.at("delta").number();
  learner.horizon_episodes = root.at("horizon_episodes").natural(UINT64_MAX);
  run.config.seed = root.at("seed").natural(UINT64_MAX);
  run.config.history = named<int>(root.at("history"), kHistoryNames) == 1;
  run.config.certify = root.at("certify").boolean();
  if (root.find("output")) {
    run.config.output = named<CertifiedOutput>(root.at("output"), kCertifiedOutputNames);
    if (run.config.output == CertifiedOutput::table) {
      throw root.at("output").error("is not what a run that learns returns");
    }
  }
  if (root.find("output_weights")) {
    learner.output_weights = root.at("output_weights").natural(kMaxSteps - 1);
    if (learner.output_weights == 0U) throw root.at("output_weights").error("counts from 1");
  }
  if (root.find("output_taper")) learner.output_taper = root.at("output_taper").boolean();
  if (root.find("until_gap")) run.config.until_gap = root.at("until_gap").number();
  if (root.find("episodes")) run.config.episodes = root.at("episodes").natural(kMaxEpisodes - 1);
  if (root.find("max_seconds")) run.config.max_seconds = root.at("max_seconds").number();
  check_streams(root);
  return run;
}

StoredRun read_run(const std::filesystem::path& path) {
  return parse_run(FileBytes::read(path / "config.json", kMaxConfig).text(), path);
}

namespace {

/// Values of other targets, and learners, leave no choice.
bool selects(const SolveConfig& config) {
  return config.method == PlanMethod::lp &&
         (config.target == Target::cce || config.target == Target::ce);
}

}  // namespace

void write_gap(JsonWriter& json,
               std::string_view key,
               double upper,
               const std::optional<double>& lower) {
  json.key(key).begin_object().member("upper", upper);
  if (lower) json.member("lower", *lower);
  json.end_object();
}

void write_exact(JsonWriter& json, const Certificate& certificate) {
  json.key("players").begin_array();
  for (std::size_t j = 0; j < certificate.players.size(); ++j) {
    const PlayerCertificate& player = certificate.players[j];
    json.begin_object().member("player", std::uint64_t{j + 1}).member("name", player.name);
    json.member("value", player.value_upper);
    write_gap(json, "gap", player.gap_upper, player.gap_lower);
    json.end_object();
  }
  json.end_array();
  write_gap(json, "gap", certificate.gap_upper, certificate.gap_lower);
  write_gap(json, "sum_of_gaps", certificate.sum_upper, certificate.sum_lower);
}

std::string config_to_json(const RunTitle& title, const SolveConfig& config) {
  check_choices(config);
  JsonWriter json;
  json.begin_object().member("schema", kSolveConfigSchema);
  json.member("version", build_info().version).member("game", title.game);
  json.member("game_hash", title.game_hash).member("target", name_of(config.target));
  json.member("method", kPlanMethodNames[static_cast<std::size_t>(config.method)]);
  if (selects(config)) json.member("select", name_of(config.selection));
  json.member("until_gap", config.until_gap).member("max_iterations", config.max_iterations);
  if (config.max_seconds) json.member("max_seconds", *config.max_seconds);
  json.member("seed", config.seed).member("stream_version", std::uint64_t{kStreamVersion});
  return json.end_object().text() + "\n";
}

void write_result(JsonWriter& json,
                  const RunTitle& title,
                  const SolveConfig& config,
                  const SolveResult& result) {
  json.member("schema", "vlearn.solve/1").member("version", build_info().version);
  json.member("game", title.game).member("game_hash", title.game_hash);
  json.member("target", name_of(config.target));
  json.member("method", kPlanMethodNames[static_cast<std::size_t>(config.method)]);
  if (selects(config)) json.member("select", name_of(config.selection));
  json.member("seed", config.seed).member("stopped", name_of(result.stopped));
  json.member("iterations", result.rows.back().iterations);
  write_exact(json, result.certificate);
}

void RunFolder::write_planned(const std::filesystem::path& path,
                              Existing existing,
                              const RunTitle& title,
                              const SolveConfig& config,
                              SolveResult& result) {
  std::string rows;
  for (const SolveRow& row : result.rows) {
    JsonWriter json(JsonWriter::Layout::compact);
    json.begin_object().member("round", row.round).member("iterations", row.iterations);
    rows += json.member("certified_gap", row.gap_upper).end_object().text() + "\n";
  }
  JsonWriter json;
  json.begin_object();
  write_result(json, title, config, result);
  write_whole(path, existing,
              {.config = config_to_json(title, config),
               .target = config.target,
               .seed = config.seed,
               .tables = result.tables,
               .metrics = rows,
               .result = json.end_object().text() + "\n"},
              result.certificate);
}

void RunFolder::write_whole(const std::filesystem::path& path,
                            Existing existing,
                            const WholeRun& run,
                            Certificate& certificate) {
  check(path, existing);
  const FolderLock lock(made_folder(path));
  check(path, existing);
  Checkpoints(path, to_hex(sha256(std::as_bytes(std::span(run.config))))).remove_all();
  remove_temporary_files(path);
  remove_temporary_files(path / kPolicyFolder);
  remove_old_run(path);
  write_file(path / "config.json", run.config);
  make_folders(path / kPolicyFolder);
  for (const MarkovTable& table : run.tables) {
    const std::filesystem::path file = markov_path(path, table.player);
    write_markov(file, table);
    certificate.policy_hashes.push_back(
        to_hex(sha256(FileBytes::map(file, kMaxPolicyBytes).bytes())));
    write_seed(private_seed_path(path, table.player),
               derive_seed(run.seed, "private", table.player.number()), true);
  }
  LearnConfig who;
  who.learner.target = run.target;
  who.seed = run.seed;
  write_index_seeds(path, who, run.tables.size(), certificate);
  write_file(path / "metrics.jsonl", run.metrics);
  if (!run.timing.empty()) write_file(path / "timing.jsonl", run.timing);
  write_file(certificate_path(path), to_json(certificate));
  write_file(path / "result.json", run.result);
}

void RunFolder::check(const std::filesystem::path& path, Existing existing) {
  const auto refuse = [&](const char* problem, const char* fix) {
    throw Error(ErrorKind::usage, path.string(), problem, fix);
  };
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    refuse("is a file, not a run folder", "choose another place with --out");
  }
  const auto entries = entries_of(path);
  if (std::all_of(entries.begin(), entries.end(),
                  [](const auto& entry) { return is_temporary(entry.path()); })) {
    return;
  }
  if (existing == Existing::refuse) {
    refuse(
        "is there already",
        "choose another place with --out, or replace it with --force; a learned run goes on with "
        "learn --resume");
  }
  if (!is_run(path)) {
    refuse("has other things in it than a run",
           "--force replaces runs only; choose another place with --out");
  }
  // Whoever writes through a link changes something elsewhere.
  const auto policies = std::filesystem::symlink_status(path / kPolicyFolder, failure);
  if (std::filesystem::exists(policies) && !std::filesystem::is_directory(policies)) {
    refuse("has something else in the place of its policy folder", "put the folder itself there");
  }
  for (const std::filesystem::path& folder : {path, path / kPolicyFolder}) {
    for (const auto& entry : entries_of(folder)) {
      if (entry.is_symlink(failure) && is_ours(entry.path())) {
        throw Error(ErrorKind::usage, entry.path().string(),
                    "is a link in the place of a file of the run", "put the file itself there");
      }
    }
  }
}

RunFolder::RunFolder(std::filesystem::path path,
                     std::string config,
                     std::size_t num_policies,
                     Existing existing)
    : path_(std::move(path)),
      existing_(existing),
      config_(std::move(config)),
      config_hash_(to_hex(sha256(std::as_bytes(std::span(config_))))),
      lock_(made_folder(path_)),
      checkpoints_(path_, config_hash_),
      policy_sizes_(num_policies, 0) {
  // Nobody else writes here now; somebody may have done so before.
  check(path_, existing_);
  if (existing_ == Existing::resume &&
      FileBytes::read(path_ / "config.json", kMaxConfig).text() != config_) {
    throw Error(ErrorKind::input, (path_ / "config.json").string(),
                "is not as the program wrote it, or changes right now", "restore it from a copy");
  }
  remove_temporary_files(path_);
  remove_temporary_files(path_ / kPolicyFolder);
}

void RunFolder::open(const RunState& state,
                     const RunTitle& title,
                     const LearnConfig& config,
                     const Checkpoints::Tell& tell) {
  game_hash_ = title.game_hash;
  num_executing_ = policy_sizes_.size();
  if (config.learner.monotone) {
    // Its output needs no history. Who plays alone has a dummy opponent, who executes nothing.
    num_executing_ =
        config.learner.target == Target::optimal ? 1 : state.trainer.seat(Player(0)).num_players;
  }
  if (!policy_sizes_.empty()) keep_history(state.trainer);
  if (existing_ == Existing::resume && go_on(state, config, tell)) return;
  begin(state.trainer, title, config);
}

void RunFolder::begin(Trainer& trainer, const RunTitle& title, const LearnConfig& config) {
  checkpoints_.remove_all();
  write_file(path_ / "config.json", config_);
  remove_old_run(path_);
  metrics_.emplace(path_ / "metrics.jsonl");
  table_.emplace(path_ / "metrics.csv");
  timing_.emplace(path_ / "timing.jsonl");
  table_->append(
      "episode,player,value,upper,lower,mean_return,gap_bound,visited_cells,certified_gap\n");
  if (num_executing_ > 0) std::filesystem::create_directory(path_ / kPolicyFolder);
  sync_folder(path_);  // a checkpoint counts on these files
  if (num_executing_ == 0) return;
  for (const Player player : all<Player>(num_executing_)) {
    write_seed(private_seed_path(path_, player),
               derive_seed(config.seed, "private", player.number()), true);
  }
  write_index_seeds(path_, config, num_executing_, std::nullopt);
  for (const Player player : all<Player>(policy_sizes_.size())) {
    PolicyHeader header = trainer.policy_header(player);
    header.game_hash = title.game_hash;
    header.config_hash = config_hash_;
    const std::string head = encode_header(header);
    write_file(policy_path(path_, player), head);
    policy_sizes_[player.index()] = head.size();
  }
}

bool RunFolder::go_on(const RunState& state,
                      const LearnConfig& config,
                      const Checkpoints::Tell& tell) {
  const auto check_files = [&](const FileSizes& sizes) {
    if (sizes.policies.size() != policy_sizes_.size()) {
      throw Error(ErrorKind::input, path_.string(), "has a checkpoint of other policy files");
    }
    check_size(path_ / "metrics.jsonl", sizes.metrics);
    check_size(path_ / "metrics.csv", sizes.table);
    for (const Player player : all<Player>(sizes.policies.size())) {
      check_size(policy_path(path_, player), sizes.policies[player.index()]);
    }
  };
  const std::optional<FileSizes> sizes = checkpoints_.load(state, check_files, tell);
  if (!sizes) return false;
  // Without its certificate a run has not ended: who goes on with it makes the certificate again.
  const bool certified = !config.certify || std::filesystem::exists(certificate_path(path_));
  if (state.trainer.episodes() == config.episodes && certified &&
      std::filesystem::exists(path_ / "result.json")) {
    complete_ = true;
    checkpoints_.keep_newest();
    return true;
  }
  // The run has not ended any more; then what it had written beyond the checkpoint goes.
  for (const char* file : kResults) remove_file(path_ / file);
  for (const Player player : all<Player>(num_executing_)) remove_file(markov_path(path_, player));
  metrics_.emplace(path_ / "metrics.jsonl", sizes->metrics);
  table_.emplace(path_ / "metrics.csv", sizes->table);
  policy_sizes_ = sizes->policies;
  for (const Player player : all<Player>(policy_sizes_.size())) {
    const AppendFile cut(policy_path(path_, player), policy_sizes_[player.index()]);
  }
  write_index_seeds(path_, config, num_executing_, std::nullopt);
  const std::filesystem::path timing = path_ / "timing.jsonl";
  if (std::filesystem::is_regular_file(timing)) {
    // Whole lines only.
    timing_.emplace(timing, FileBytes::read(timing, kMaxTiming).text().rfind('\n') + 1);
  } else {
    timing_.emplace(timing);
  }
  return true;
}

void RunFolder::keep_history(Trainer& trainer) {
  trainer.keep_history([this](Player player, std::span<const std::byte> bytes) {
    if (player.index() >= policy_sizes_.size()) return;  // a dummy opponent has no file
    std::uint64_t& size = policy_sizes_[player.index()];
    AppendFile file(policy_path(path_, player), size);
    file.append(bytes);
    size = file.size();
    policies_grew_ = true;
  });
}

void RunFolder::add(const MetricsRow& row, double seconds) {
  JsonWriter json(JsonWriter::Layout::compact);
  json.begin_object().member("episode", row.episode).member("visited_cells", row.visited_cells);
  if (row.certified_gap) json.member("certified_gap", *row.certified_gap);
  json.key("players").begin_array();
  std::string csv;
  for (const auto& [player, metrics] : lines_of(row)) {
    json.begin_object().member("player", player);
    write_metrics(json, metrics);
    json.end_object();
    csv += fmt::format("{},{},{},{},{},{},{},{},{}\n", row.episode, player, metrics.value,
                       metrics.upper, cell_of_csv(metrics.lower), cell_of_csv(metrics.mean_return),
                       cell_of_csv(metrics.gap_bound), row.visited_cells,
                       cell_of_csv(row.certified_gap));
  }
  metrics_->append(json.end_array().end_object().text() + "\n");
  table_->append(csv);
  JsonWriter timing(JsonWriter::Layout::compact);
  timing.begin_object().member("episode", row.episode).member("seconds", seconds);
  timing_->append(timing.end_object().text() + "\n");
}

void RunFolder::sync() {
  metrics_->sync();
  table_->sync();
  if (!std::exchange(policies_grew_, false)) return;
  for (const Player player : all<Player>(policy_sizes_.size())) {
    sync_file(policy_path(path_, player));
  }
}

FileSizes RunFolder::sizes() const { return {metrics_->size(), table_->size(), policy_sizes_}; }

void RunFolder::save_checkpoint(const RunState& state) {
  sync();
  checkpoints_.save(state, sizes());
}

void RunFolder::finish_history(const RunState& state) {
  if (complete_) return;
  // Before the history's rest: a run that goes on will write longer segments in its place.
  save_checkpoint(state);
  state.trainer.hand_out_rest();
  sync();
}

void RunFolder::finish(std::string_view result,
                       const Trainer& trainer,
                       const Frame& frame,
                       const LearnConfig& config,
                       const std::optional<Certificate>& certificate,
                       Stopped stopped) {
  if (complete_) return;
  const Tables tables(trainer, frame);
  const std::vector<std::uint64_t> visits = tables.visits();
  const std::vector<double> values = tables.values([&](Player j) { return trainer.estimates(j); });
  const std::vector<double> uppers = tables.values([&](Player j) { return trainer.values(j); });
  const std::vector<double> policies = tables.policies(false);
  ContainerWriter writer("vlearn.tables/1");
  writer.add("visits", {visits.size() / frame.max_states(), frame.max_states()}, visits);
  writer.add("value", tables.shape(3), values).add("upper", tables.shape(3), uppers);
  writer.add("current_policy", tables.shape(4), policies);
  std::vector<double> lowers;
  std::vector<double> markov;
  if (!trainer.low_values(Player(0)).empty()) {
    lowers = tables.values([&](Player j) { return trainer.low_values(j); });
    writer.add("lower", tables.shape(3), lowers);
  }
  if (config.learner.monotone) {
    markov = tables.policies(true);
    writer.add("markov_policy", tables.shape(4), markov);
    for (const Player player : all<Player>(frame.num_players())) {
      MarkovTable table =
          empty_markov_table(seat_of(frame, player), player, config.learner.target, game_hash_);
      for (std::size_t cell = 0; cell < table.num_actions.size(); ++cell) {
        // An average of many visits sums to one only nearly.
        const std::span<const double> average = trainer.markov_policy(player, cell);
        std::vector<double> policy(average.begin(), average.end());
        if (!normalise(policy)) throw Error(ErrorKind::internal, "policy", "does not sum to 1");
        table.add_part(1, policy);
        table.end_cell();
      }
      write_markov(markov_path(path_, player), table);
    }
  }
  writer.write(path_ / "tables.safetensors");
  timing_->sync();
  if (certificate) {
    write_file(certificate_path(path_), to_json(*certificate));
    write_index_seeds(path_, config, num_executing_, certificate);
  }
  write_file(path_ / "result.json", result);
  if (stopped != Stopped::interrupt) checkpoints_.keep_newest();
}

}  // namespace vlearn
