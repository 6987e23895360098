// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/convergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "vlearn/core/assert.h"
#include "vlearn/core/error.h"
#include "vlearn/core/hash.h"
#include "vlearn/core/json.h"
#include "vlearn/core/version.h"
#include "vlearn/run/gap_curve.h"
#include "vlearn/run/run_folder.h"

namespace vlearn {
namespace {

/// 10^8 times 10^(n/24), n = 1, ..., 24: no library's pow has a say in where looks are.
constexpr std::array<std::uint64_t, 2 * kLooks> kMarks = {
    110'069'417, 121'152'765, 133'352'143, 146'779'926, 161'559'809, 177'827'941,
    195'734'178, 215'443'469, 237'137'370, 261'015'721, 287'298'483, 316'227'766,
    348'070'058, 383'118'684, 421'696'503, 464'158'883, 510'896'977, 562'341'325,
    618'965'818, 681'292'069, 749'894'209, 825'404'185, 908'517'575, 1'000'000'000};
constexpr std::uint64_t kFirstDecade = 1000;
constexpr std::uint64_t kRisesBegin = 100'000;
constexpr std::uint64_t kLevelsBegin = 10'000'000;

std::uint64_t mark(std::uint64_t decade, std::size_t i) {
  return kMarks[i] * decade / kMarks.back();
}

/// H times the widest range of rewards.
double unit_of(const Frame& frame) {
  double width = 0.0;
  for (const Player player : all<Player>(frame.num_players())) {
    width = std::max(width, frame.range(player).high - frame.range(player).low);
  }
  return width * static_cast<double>(frame.horizon());
}

/// One hash of all games and all choices of the learners: results of others are not mixed with
/// these.
std::string hash_of_learners(const ConvergenceSettings& settings) {
  std::string text;
  for (const CyclicGame& game : settings.games) {
    const AnyGame loaded = load_cyclic_game(game);
    const RunTitle title{game.name, "", to_hex(law_hash_of(loaded))};
    for (const Target target : settings.targets) {
      text += config_to_json(title,
                             preset_config(loaded, settings.preset, target, settings.episodes, 1));
    }
  }
  return to_hex(sha256(std::as_bytes(std::span(text))));
}

void see(BarVerdict& verdict, bool good) {
  if (verdict != BarVerdict::broken) verdict = good ? BarVerdict::holds : BarVerdict::broken;
}

}  // namespace

std::vector<std::uint64_t> convergence_looks(std::uint64_t episodes) {
  std::vector<std::uint64_t> looks;
  for (std::uint64_t decade = 10 * kFirstDecade;; decade *= 10) {
    for (std::size_t half = 0; half < 2; ++half) {
      if (mark(decade, half * kLooks + kLooks - 1) > episodes) return looks;
      for (std::size_t i = 0; i < kLooks; ++i) looks.push_back(mark(decade, half * kLooks + i));
    }
  }
}

std::vector<std::uint64_t> half_decades(std::uint64_t episodes) {
  std::vector<std::uint64_t> ends;
  const std::vector<std::uint64_t> looks = convergence_looks(episodes);
  for (std::size_t i = kLooks; i <= looks.size(); i += kLooks) ends.push_back(looks[i - 1]);
  return ends;
}

ConvergenceVerdict judge_convergence(std::span<const double> worst) {
  const std::vector<std::uint64_t> ends = half_decades(kMostConvergenceEpisodes);
  VLEARN_ASSERT(worst.size() <= ends.size());
  ConvergenceVerdict verdict;
  for (std::size_t i = 0; i < worst.size(); ++i) {
    const double now = std::max(worst[i], kLeastShare);
    if (ends[i] > kRisesBegin) {
      see(verdict.rise, now <= kMostRise * std::max(worst[i - 1], kLeastShare));
    }
    if (ends[i] >= kLevelsBegin) see(verdict.level, now <= kMostLevel);
  }
  return verdict;
}

std::optional<ConvergenceRun> run_convergence(const ConvergenceSettings& settings,
                                              std::size_t game,
                                              Target target,
                                              std::uint64_t seed,
                                              const CancelToken& cancel) {
  const AnyGame loaded = load_cyclic_game(settings.games[game]);
  const double unit = unit_of(frame_of(loaded));
  const std::vector<std::uint64_t> looks = convergence_looks(settings.episodes);
  ConvergenceRun run{.game = game, .target = target, .seed = seed};
  std::size_t look = 0;
  follow_gap(
      loaded, preset_config(loaded, settings.preset, target, settings.episodes, seed),
      [&](std::uint64_t) { return looks[look]; },
      [&](const GapPoint& point) {
        if (look % kLooks == 0) {
          run.worst.push_back(-std::numeric_limits<double>::infinity());
          run.last.push_back(-std::numeric_limits<double>::infinity());
        }
        run.worst.back() = std::max(run.worst.back(), point.gap / unit);
        run.last.back() = std::max(run.last.back(), point.last_gap / unit);
        return ++look < looks.size();
      },
      cancel);
  if (look < looks.size()) return std::nullopt;
  return run;
}

bool measure_convergence(const ConvergenceSettings& settings,
                         ConvergenceLog& log,
                         const ConvergenceHooks& hooks) {
  std::mutex mutex;
  const std::size_t per_game = settings.targets.size() * settings.seeds;
  parallel_for(settings.games.size() * per_game, hooks.parallel, [&](std::size_t i) {
    if (hooks.cancel.requested()) return;
    const std::size_t game = i / per_game;
    const Target target = settings.targets[i % per_game / settings.seeds];
    const std::uint64_t seed = settings.first_seed + i % settings.seeds;
    {
      const std::scoped_lock lock(mutex);
      if (log.find(game, target, seed) != nullptr) return;
    }
    const std::optional<ConvergenceRun> run =
        run_convergence(settings, game, target, seed, hooks.cancel);
    if (!run) return;
    const std::scoped_lock lock(mutex);
    log.add(*run);
    if (hooks.done) hooks.done(*run);
  });
  return !hooks.cancel.requested();
}

std::string header_line(const ConvergenceSettings& settings) {
  JsonWriter json(JsonWriter::Layout::compact);
  json.begin_object().member("schema", "vlearn.convergence-results/1");
  json.member("version", build_info().version);
  json.member("preset", kPresetNames[static_cast<std::size_t>(settings.preset)]);
  json.member("first_seed", settings.first_seed).member("seeds", settings.seeds);
  json.member("episodes", settings.episodes).key("targets").begin_array();
  for (const Target target : settings.targets) json.value(name_of(target));
  json.end_array().key("games").begin_array();
  for (const CyclicGame& game : settings.games) json.value(game.name);
  json.end_array().member("learners", hash_of_learners(settings));
  return json.end_object().text();
}

std::string result_line(const ConvergenceSettings& settings, const ConvergenceRun& run) {
  JsonWriter json(JsonWriter::Layout::compact);
  json.begin_object().member("game", settings.games[run.game].name);
  json.member("target", name_of(run.target)).member("seed", run.seed);
  for (const auto& [key, gaps] : {std::pair("worst", &run.worst), {"last", &run.last}}) {
    json.key(key).begin_array();
    for (const double gap : *gaps) json.value(gap);
    json.end_array();
  }
  return json.end_object().text();
}

ConvergenceRun parse_convergence_line(const ConvergenceSettings& settings,
                                      std::string_view line,
                                      const std::string& source) {
  const JsonDocument document = JsonDocument::parse(line, source, kResultLimits);
  const JsonValue root = document.root();
  root.allow_keys({"game", "target", "seed", "worst", "last"});
  ConvergenceRun run;
  const JsonValue game = root.at("game");
  const std::string_view name = game.string();
  const auto its = std::find_if(settings.games.begin(), settings.games.end(),
                                [&](const CyclicGame& known) { return known.name == name; });
  if (its == settings.games.end()) throw game.error("is not a game of the first line");
  run.game = static_cast<std::size_t>(its - settings.games.begin());
  const JsonValue target = root.at("target");
  const std::optional<Target> named = target_named(target.string());
  if (!named || std::find(settings.targets.begin(), settings.targets.end(), *named) ==
                    settings.targets.end()) {
    throw target.error("is not a target of the first line");
  }
  run.target = *named;
  const JsonValue seed = root.at("seed");
  run.seed = seed.natural(settings.first_seed + settings.seeds - 1);
  if (run.seed < settings.first_seed) {
    throw seed.error(fmt::format("is {}", run.seed),
                     fmt::format("seeds count from {}", settings.first_seed));
  }
  const std::size_t wanted = half_decades(settings.episodes).size();
  for (const auto& [key, gaps] : {std::pair("worst", &run.worst), {"last", &run.last}}) {
    const JsonValue array = root.at(key);
    if (!array.is_array()) throw array.error("is no array");
    for (const JsonValue gap : array.items()) gaps->push_back(gap.number());
    if (gaps->size() != wanted) {
      throw array.error(fmt::format("has {} numbers, want one for each of {} half decades",
                                    gaps->size(), wanted));
    }
  }
  return run;
}

ConvergenceLog::ConvergenceLog(const std::filesystem::path& folder, ConvergenceSettings settings)
    : settings_(std::move(settings)),
      file_(folder, header_line(settings_), [&](std::string_view line, const std::string& source) {
        const ConvergenceRun run = parse_convergence_line(settings_, line, source);
        if (!runs_.emplace(Key{run.game, run.target, run.seed}, run).second) {
          throw Error(ErrorKind::input, source, "says again what a line before it says",
                      "remove one of them");
        }
      }) {}

const ConvergenceRun* ConvergenceLog::find(std::size_t game,
                                           Target target,
                                           std::uint64_t seed) const {
  const auto found = runs_.find(Key{game, target, seed});
  return found == runs_.end() ? nullptr : &found->second;
}

void ConvergenceLog::add(const ConvergenceRun& run) {
  file_.add(result_line(settings_, run));
  runs_.emplace(Key{run.game, run.target, run.seed}, run);
}

void ConvergenceLog::put_in_order() {
  std::vector<std::string> lines;
  lines.reserve(runs_.size());
  for (const auto& [key, run] : runs_) lines.push_back(result_line(settings_, run));
  file_.rewrite(lines);
}

}  // namespace vlearn
