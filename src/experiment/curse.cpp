// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/experiment/curse.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "vlearn/baseline/memory.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/container.h"
#include "vlearn/core/cpu_time.h"
#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/version.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/baseline_game.h"
#include "vlearn/run/gap_curve.h"
#include "vlearn/run/trainer.h"

namespace vlearn {
namespace {

constexpr std::uint64_t kActions = 3;
constexpr std::uint64_t kStates = 3;
constexpr std::uint64_t kSteps = 3;
/// The most that JSON has as a number; more bytes are no more hopeless.
constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;

bool is_baseline(CurseMethod method) {
  return method != CurseMethod::paper && method != CurseMethod::fast;
}

BaselineName baseline_of(CurseMethod method) {
  switch (method) {
    case CurseMethod::multi_cce_vi: return BaselineName::multi_cce_vi;
    case CurseMethod::multi_ce_vi: return BaselineName::multi_ce_vi;
    default: return BaselineName::plug_in;
  }
}

/// Rewards and transitions, counted before they are made.
std::uint64_t bytes_of_game(CurseFamily family, std::uint64_t players) {
  if (family == CurseFamily::congestion) {
    return sizeof(double) * kStates * kActions * (players + kStates);
  }
  std::optional<std::uint64_t> numbers = kStates * (players + kStates);
  for (std::uint64_t i = 0; i < players && numbers; ++i) {
    numbers = checked_multiply(*numbers, kActions);
  }
  if (numbers) numbers = checked_multiply(*numbers, sizeof(double));
  return std::min(numbers.value_or(kMost), kMost);
}

/// One run in the making.
class CurseTask {
 public:
  CurseTask(const CurseSettings& settings, const CurseRun& run, const CancelToken& cancel)
      : settings_(settings), run_(run), cancel_(cancel) {}

  std::optional<CurseRun> go() {
    run_.game_bytes = bytes_of_game(run_.family, run_.players);
    if (run_.game_bytes > settings_.max_bytes) return ended(CurseEnd::memory);
    const AnyGame game = make_game(curse_game(run_.family, run_.players, run_.seed));
    const LearnConfig nobody = preset_config(game, Preset::paper, Target::cce, 1, run_.seed);
    run_.uniform_gap = gap_after(game, nobody, 0)->gap;
    begin_ = thread_seconds();
    return is_baseline(run_.method) ? follow_controller(game) : follow_players(game);
  }

 private:
  CurseRun ended(CurseEnd end) {
    run_.end = end;
    return run_;
  }
  [[nodiscard]] bool late() const { return thread_seconds() - begin_ > settings_.max_seconds; }

  /// Whether to go on.
  bool see(std::uint64_t episodes, double gap) {
    run_.episodes = episodes;
    run_.gap = gap;
    run_.seconds = thread_seconds() - begin_;
    reached_ = gap <= wanted_gap(settings_) && !late();
    return !reached_ && !late();
  }

  std::optional<CurseRun> follow_players(const AnyGame& game) {
    const Preset preset = run_.method == CurseMethod::paper ? Preset::paper : Preset::fast;
    const LearnConfig config =
        preset_config(game, preset, Target::cce, kMaxEpisodes - 1, run_.seed);
    follow_gap(
        game, config, [](std::uint64_t episodes) { return next_row_episode(episodes); },
        [&](const GapPoint& point) { return see(point.episodes, point.gap); }, cancel_);
    if (cancel_.requested()) return std::nullopt;
    // What of it was learning: once more, and nobody looks.
    const double again = thread_seconds();
    const auto trainer = make_trainer(ref_of(game), config.learner, run_.seed);
    trainer->play_until(run_.episodes, cancel_);
    run_.learn_seconds = thread_seconds() - again;
    if (cancel_.requested()) return std::nullopt;
    ContainerWriter tables("vlearn.tables/1");
    trainer->save(tables);
    run_.bytes = tables.bytes();
    if (run_.bytes + run_.game_bytes > settings_.max_bytes) return ended(CurseEnd::memory);
    return ended(reached_ ? CurseEnd::reached : CurseEnd::time);
  }

  std::optional<CurseRun> follow_controller(const AnyGame& game) {
    BaselineOptions options = usual_options(baseline_of(run_.method), frame_of(game));
    options.max_memory = settings_.max_bytes - run_.game_bytes;
    const BaselineMemory memory = baseline_memory(frame_of(game), options);
    run_.bytes = std::min(memory.bytes.value_or(kMost), kMost);
    try {
      check_memory(frame_of(game), options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::resource) throw;
      return ended(CurseEnd::memory);
    }
    follow_baseline(
        game, options, run_.seed, [](std::uint64_t episodes) { return next_row_episode(episodes); },
        [&](const BaselineLook& look) {
          run_.learn_seconds = look.cpu_seconds;
          return see(look.episodes, look.gap.largest);
        },
        [&] { return late() || cancel_.requested(); });
    if (cancel_.requested()) return std::nullopt;
    if (!reached_) run_.seconds = thread_seconds() - begin_;
    return ended(reached_ ? CurseEnd::reached : CurseEnd::time);
  }

  const CurseSettings& settings_;
  CurseRun run_;
  CancelToken cancel_;
  double begin_ = 0.0;
  bool reached_ = false;
};

template <class Enum, std::size_t N>
Enum named(const JsonValue& value, const std::array<std::string_view, N>& names) {
  const auto found = std::find(names.begin(), names.end(), value.string());
  if (found == names.end()) throw value.error(fmt::format("is none of {}", fmt::join(names, ", ")));
  return static_cast<Enum>(found - names.begin());
}

double at_least_zero(const JsonValue& value) {
  const double number = value.number();
  if (!(number >= 0.0)) throw value.error("is below 0");
  return number;
}

}  // namespace

std::string curse_game(CurseFamily family, std::uint64_t players, std::uint64_t seed) {
  return fmt::format("{}:players={},{}={},states={},horizon={},seed={}",
                     kCurseFamilyNames[static_cast<std::size_t>(family)], players,
                     family == CurseFamily::random ? "actions" : "routes", kActions, kStates,
                     kSteps, seed);
}

std::optional<CurseRun> run_curse(const CurseSettings& settings,
                                  CurseFamily family,
                                  CurseMethod method,
                                  std::uint64_t players,
                                  std::uint64_t seed,
                                  const CancelToken& cancel) {
  return CurseTask(settings, {.family = family, .method = method, .players = players, .seed = seed},
                   cancel)
      .go();
}

bool measure_curse(const CurseSettings& settings, CurseLog& log, const CurseHooks& hooks) {
  std::mutex mutex;
  const auto find = [&](CurseFamily family, CurseMethod method, std::uint64_t players,
                        std::uint64_t seed) -> std::optional<CurseRun> {
    const std::scoped_lock lock(mutex);
    const CurseRun* const found = log.find(family, method, players, seed);
    return found == nullptr ? std::nullopt : std::optional(*found);
  };
  const std::size_t chains = kCurseFamilyNames.size() * kCurseMethodNames.size();
  parallel_for(chains, hooks.parallel, [&](std::size_t chain) {
    const auto family = static_cast<CurseFamily>(chain / kCurseMethodNames.size());
    const auto method = static_cast<CurseMethod>(chain % kCurseMethodNames.size());
    for (std::uint64_t players = settings.first_players; players <= settings.last_players;
         ++players) {
      bool reached = false;
      for (std::uint64_t seed = 1; seed <= settings.seeds; ++seed) {
        std::optional<CurseRun> run = find(family, method, players, seed);
        if (!run) {
          run = run_curse(settings, family, method, players, seed, hooks.cancel);
          if (!run) return;
          const std::scoped_lock lock(mutex);
          log.add(*run);
          if (hooks.done) hooks.done(*run);
        }
        reached = reached || run->end == CurseEnd::reached;
      }
      if (!reached) return;
    }
  });
  return !hooks.cancel.requested();
}

double wanted_gap(const CurseSettings& settings) noexcept {
  return settings.gap_share * static_cast<double>(kSteps);
}

void write_settings(JsonWriter& json, const CurseSettings& settings) {
  json.member("version", build_info().version);
  json.member("first_players", settings.first_players);
  json.member("last_players", settings.last_players).member("seeds", settings.seeds);
  json.member("gap_share", settings.gap_share).member("max_seconds", settings.max_seconds);
  json.member("max_bytes", settings.max_bytes);
}

std::string header_line(const CurseSettings& settings) {
  JsonWriter json(JsonWriter::Layout::compact);
  json.begin_object().member("schema", "vlearn.curse-results/1");
  write_settings(json, settings);
  return json.end_object().text();
}

std::string result_line(const CurseRun& run) {
  JsonWriter json(JsonWriter::Layout::compact);
  json.begin_object();
  json.member("family", kCurseFamilyNames[static_cast<std::size_t>(run.family)]);
  json.member("method", kCurseMethodNames[static_cast<std::size_t>(run.method)]);
  json.member("players", run.players).member("seed", run.seed);
  json.member("end", kCurseEndNames[static_cast<std::size_t>(run.end)]);
  json.member("episodes", run.episodes).member("gap", run.gap);
  json.member("learn_seconds", run.learn_seconds).member("seconds", run.seconds);
  json.member("bytes", run.bytes).member("game_bytes", run.game_bytes);
  json.member("uniform_gap", run.uniform_gap);
  return json.end_object().text();
}

CurseRun parse_curse_line(std::string_view line, const std::string& source) {
  const JsonDocument document = JsonDocument::parse(line, source, kResultLimits);
  const JsonValue root = document.root();
  root.allow_keys({"family", "method", "players", "seed", "end", "episodes", "gap", "learn_seconds",
                   "seconds", "bytes", "game_bytes", "uniform_gap"});
  CurseRun run;
  run.family = named<CurseFamily>(root.at("family"), kCurseFamilyNames);
  run.method = named<CurseMethod>(root.at("method"), kCurseMethodNames);
  run.players = root.at("players").natural(kMostCursePlayers);
  run.seed = root.at("seed").natural(kMost);
  run.end = named<CurseEnd>(root.at("end"), kCurseEndNames);
  run.episodes = root.at("episodes").natural(kMost);
  run.gap = root.at("gap").number();
  run.learn_seconds = at_least_zero(root.at("learn_seconds"));
  run.seconds = at_least_zero(root.at("seconds"));
  run.bytes = root.at("bytes").natural(kMost);
  run.game_bytes = root.at("game_bytes").natural(kMost);
  run.uniform_gap = root.at("uniform_gap").number();
  return run;
}

CurseLog::CurseLog(const std::filesystem::path& folder, const CurseSettings& settings)
    : file_(folder, header_line(settings), [&](std::string_view line, const std::string& source) {
        const CurseRun run = parse_curse_line(line, source);
        if (!runs_.emplace(key_of(run), run).second) {
          throw Error(ErrorKind::input, source, "says again what a line before it says",
                      "remove one of them");
        }
      }) {}

const CurseRun* CurseLog::find(CurseFamily family,
                               CurseMethod method,
                               std::uint64_t players,
                               std::uint64_t seed) const {
  const auto found = runs_.find(Key{family, method, players, seed});
  return found == runs_.end() ? nullptr : &found->second;
}

std::vector<CurseRun> CurseLog::runs() const {
  std::vector<CurseRun> all;
  all.reserve(runs_.size());
  for (const auto& [key, run] : runs_) all.push_back(run);
  return all;
}

void CurseLog::add(const CurseRun& run) {
  file_.add(result_line(run));
  runs_.emplace(key_of(run), run);
}

void CurseLog::put_in_order() {
  std::vector<std::string> lines;
  lines.reserve(runs_.size());
  for (const auto& [key, run] : runs_) lines.push_back(result_line(run));
  file_.rewrite(lines);
}

}  // namespace vlearn
