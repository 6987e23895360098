// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn policy show | table: what the output policy of a run does at one (step, state), and on
// average everywhere.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "executed_output.h"
#include "game_text.h"
#include "vlearn/core/container.h"
#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"
#include "vlearn/core/version.h"
#include "vlearn/policy/average.h"
#include "vlearn/run/joint_play.h"
#include "vlearn/run/run_folder.h"
#include "vlearn/run/stored_policies.h"
#include "vlearn/run/trainer.h"

namespace vlearn::app {
namespace {

constexpr std::size_t kShownActions = 20;
constexpr std::size_t kShownColumns = 8;  // of policies that stand in one line
constexpr std::size_t kShownVisits = 5;
constexpr std::size_t kShownNames = 10;

struct Options {
  std::string what;
  std::string player;
  std::string step = "1";
  std::string state;
  std::string episode;
  std::string to;
  bool as_json = false;
};

/// A run, or one policy file without its game.
struct Source {
  std::optional<StoredRun> run = std::nullopt;
  std::optional<LoadedGame> game = std::nullopt;
  std::filesystem::path path;
};

Source open_source(const Options& options) {
  if (!std::filesystem::is_directory(options.what)) return {.path = options.what};
  StoredRun run = read_run(options.what);
  LoadedGame game = load_game_of(run);
  return {std::move(run), std::move(game), options.what};
}

/// "3: up, down, stay", "12: 1, 2, ... 12".
std::string list_of(const std::vector<std::string>& names) {
  std::string text = fmt::format("{}: ", names.size());
  const std::size_t shown = names.size() <= kShownNames ? names.size() : kShownNames - 1;
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", printable(names[i], 50));
  }
  if (shown < names.size()) text += fmt::format(", ..., {}", printable(names.back(), 50));
  return text;
}

/// The place of a word among names, or else the number that it is, counted from 1. Throws Error
/// (usage) that says what there is.
std::size_t find(const char* option,
                 const std::string& word,
                 const std::string& kind,
                 const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::size_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, failure] = std::from_chars(word.data(), end, number);
  if (failure == std::errc() && stop == end && number >= 1 && number <= names.size()) {
    return number - 1;
  }
  throw Error(ErrorKind::usage, option, fmt::format("'{}' is no {}", printable(word, 100), kind),
              fmt::format("there are {}", list_of(names)));
}

std::vector<std::string> numbers_to(std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = 1; i <= count; ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

/// K, or 0 for --episode 1: visits of so many episodes count. Where nothing was said, those that an
/// execution of the run may draw at its first step.
std::uint64_t episodes_before(const Options& options,
                              const Source& source,
                              std::uint64_t episodes) {
  if (options.episode.empty() && source.run && source.run->config.history) {
    const StartRule start = executed_output(*source.run, *source.game, {}).rule;
    if (start.kind == StartRule::Kind::at) return start.episode - 1;
  }
  if (options.episode.empty() || options.episode == "last") return episodes;
  const std::uint64_t k = parse_count("--episode", options.episode);
  if (k > episodes + 1) {
    throw Error(ErrorKind::usage, "--episode",
                fmt::format("is {}, and the policy has {}", k, episodes),
                fmt::format("want 1 to {}, or last", episodes + 1));
  }
  return k - 1;
}

/// Words for what stands in a file.
class Words {
 public:
  Words(const Source& source, const PolicyHeader& header) : source_(source), header_(header) {}

  [[nodiscard]] std::size_t num_players() const {
    // A file may count an opponent without a choice, whom the game does not have.
    return source_.game ? frame_of(source_.game->game).num_players() : header_.seat.num_players;
  }
  [[nodiscard]] std::string player() const {
    return source_.game ? names().player(header_.player) : std::to_string(header_.player.number());
  }
  [[nodiscard]] std::string state(Step h, State s) const {
    return source_.game ? names().state(h, s) : std::to_string(s.number());
  }
  [[nodiscard]] std::string action(Step h, State s, Action action) const {
    if (!source_.game) return std::to_string(action.number());
    return names().action(frame_of(source_.game->game), header_.player, h, s, action);
  }
  [[nodiscard]] std::vector<std::string> states(Step h) const {
    const Seat& seat = header_.seat;
    std::vector<std::string> names;
    const std::size_t count = seat.first_cell[h.index() + 1] - seat.first_cell[h.index()];
    for (const State s : all<State>(count)) names.push_back(state(h, s));
    return names;
  }

 private:
  [[nodiscard]] const GameNames& names() const { return source_.game->about.names; }

  const Source& source_;
  const PolicyHeader& header_;
};

/// What --state means, and a remark where it leaves a choice.
struct ChosenState {
  State s;
  std::string remark;
};

/// The likeliest first state, by the law of the game, or where there is no game by how often each
/// has come.
ChosenState first_state(const Source& source, const PolicyFile& file, const Words& words) {
  const Seat& seat = file.header().seat;
  std::vector<double> chances;
  for (const State s : all<State>(seat.first_cell[1])) {
    const auto visits = file.visits_before(seat.cell(Step(), s), file.episodes());
    chances.push_back(source.game ? frame_of(source.game->game).initial()[s.index()]
                                  : static_cast<double>(visits));
  }
  std::vector<std::string> possible;
  for (const State s : all<State>(chances.size())) {
    if (chances[s.index()] > 0.0) possible.push_back(words.state(Step(), s));
  }
  const State s(std::max_element(chances.begin(), chances.end()) - chances.begin());
  if (possible.empty() && chances.size() > 1) {
    throw Error(ErrorKind::usage, "--state", "no first state was ever seen",
                fmt::format("choose one of {}", list_of(words.states(Step()))));
  }
  if (possible.size() < 2) return {s, {}};
  return {s, fmt::format("the likeliest of the first states, of which there are {}",
                         list_of(possible))};
}

ChosenState choose_state(const Options& options,
                         const Source& source,
                         const PolicyFile& file,
                         Step h) {
  const Words words(source, file.header());
  const std::vector<std::string> names = words.states(h);
  const bool start = options.state.empty() || options.state == "start";
  if (start && std::find(names.begin(), names.end(), "start") == names.end()) {
    if (h == Step()) return first_state(source, file, words);
    if (options.state.empty() && names.size() == 1) return {State(0), {}};
    throw Error(ErrorKind::usage, "--state",
                fmt::format("episodes do not begin at step {}", h.number()),
                fmt::format("choose one of {}", list_of(names)));
  }
  return {State(find("--state", start ? "start" : options.state,
                     fmt::format("state of step {}", h.number()), names)),
          {}};
}

/// The cell that was asked for.
struct Shown {
  const PolicyFile& file;
  Words words;
  std::filesystem::path path;
  std::optional<std::uint64_t> seed;  ///< of a run
  Step h;
  ChosenState state;
  std::size_t cell;
  std::uint64_t episodes;  ///< whose visits count
  CellAverage average;
};

/// The last visits.
template <class See>
void for_each_top(const Shown& shown, const See& see) {
  const OutputWeights alpha = shown.file.header().markov_weights();
  const std::uint64_t n = shown.average.visits;
  ReplayMemory memory;
  std::vector<double> policy(shown.average.averaged.size());
  for (std::uint64_t i = n; i > 0 && i + kShownVisits > n; --i) {
    shown.file.policy(shown.cell, i, policy, memory);
    see(i, alpha.weight(n, i), policy);
  }
}

void print_json(const Shown& shown) {
  const PolicyHeader& header = shown.file.header();
  const OutputWeights alpha = header.markov_weights();
  const CellAverage& average = shown.average;
  const std::uint64_t n = average.visits;
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.policy-show/1");
  json.member("version", build_info().version);
  if (shown.seed) json.member("seed", *shown.seed);
  json.member("game_hash", header.game_hash).member("config_hash", header.config_hash);
  json.member("target", name_of(header.target)).member("rule", header.rule);
  json.member("control_variate", header.control_variate).member("weights", header.weights);
  if (header.taper) json.member("taper", true);
  json.member("episodes", shown.file.episodes()).member("episode", shown.episodes + 1);
  json.member("player", header.player.number()).member("player_name", shown.words.player());
  json.member("step", shown.h.number()).member("state", shown.state.s.number());
  json.member("state_name", shown.words.state(shown.h, shown.state.s)).member("visits", n);
  if (n > 0) {
    json.key("mixture").begin_object().member("last_weight", alpha.weight(n, n));
    json.member("half", recent_visits(alpha, n, 0.5));
    json.member("ninety_percent", recent_visits(alpha, n, 0.9));
    json.member("ninety_nine_percent", recent_visits(alpha, n, 0.99));
    json.member("effective_visits", effective_visits(alpha, n)).end_object();
  }
  json.key("actions").begin_array();
  for (const Action action : all<Action>(average.averaged.size())) {
    json.on_one_line().begin_object().member("action", action.number());
    json.member("name", shown.words.action(shown.h, shown.state.s, action));
    json.member("averaged", average.averaged[action.index()]);
    json.member("last", average.last[action.index()]);
    if (n > 0) json.member("played", average.played[action.index()]);
    json.end_object();
  }
  json.end_array().key("top_visits").begin_array();
  for_each_top(shown, [&](std::uint64_t i, double weight, const std::vector<double>& policy) {
    json.on_one_line().begin_object().member("visit", i);
    json.member("episode", shown.file.episode_of(shown.cell, i) + 1).member("weight", weight);
    json.member("action", shown.file.logged(shown.cell, i).action.number());
    json.key("policy").begin_array();
    for (const double p : policy) json.value(p);
    json.end_array().end_object();
  });
  print(json.end_array().end_object().text() + "\n");
}

/// "'mud' (3)", or "3" where it has no name.
std::string named(const std::string& name, std::uint64_t number) {
  if (name == std::to_string(number)) return name;
  return fmt::format("'{}' ({})", printable(name, 60), number);
}

void print_text(const Shown& shown) {
  const PolicyHeader& header = shown.file.header();
  const OutputWeights alpha = header.markov_weights();
  const CellAverage& average = shown.average;
  const std::uint64_t n = average.visits;
  const bool last = shown.episodes == shown.file.episodes();
  std::string text = fmt::format(
      "file      {}\n"
      "player    {} of {}, target {}, rule {}{}\n"
      "place     step {} of {}, state {}\n{}"
      "visits    {} in {}{} episodes\n",
      printable(shown.path.string(), 200), named(shown.words.player(), header.player.number()),
      shown.words.num_players(), name_of(header.target), printable(header.rule, 100),
      header.control_variate ? " with control variates" : "", shown.h.number(), header.seat.horizon,
      named(shown.words.state(shown.h, shown.state.s), shown.state.s.number()),
      shown.state.remark.empty() ? "" : fmt::format("          ({})\n", shown.state.remark), n,
      last ? "" : "the first ", shown.episodes);
  if (n == 0) {
    text += "policy    never visited: uniform to the end of the episode\n";
  } else {
    text += fmt::format(
        "mixture   visit i of {0} is drawn with probability alpha_{0}^i, c = {1}{7}\n"
        "          the last one with {2:.4g}; one half rests on the last {3}, 90 % on the last "
        "{4},\n"
        "          99 % on the last {5}; as concentrated as {6:.6g} equal ones\n",
        n, header.weights, alpha.weight(n, n), recent_visits(alpha, n, 0.5),
        recent_visits(alpha, n, 0.9), recent_visits(alpha, n, 0.99), effective_visits(alpha, n),
        header.taper ? fmt::format(",\n          times a taper in proportion to {} - i", n + 1)
                     : "");
  }
  text += fmt::format("\n{:<20}{:>10}{:>10}{}\n", "action", "averaged", "last",
                      n > 0 ? "    played" : "");
  const std::size_t actions = average.averaged.size();
  for (const Action action : all<Action>(std::min(actions, kShownActions))) {
    const std::size_t a = action.index();
    text += fmt::format("{:<20}{:>10.6f}{:>10.6f}{}\n",
                        printable(shown.words.action(shown.h, shown.state.s, action), 18),
                        average.averaged[a], average.last[a],
                        n > 0 ? fmt::format("{:>10.6f}", average.played[a]) : "");
  }
  if (actions > kShownActions) {
    text += fmt::format("... and {} more (--json has all)\n", actions - kShownActions);
  }
  if (n > 0) {
    text += fmt::format("\n{:>12}{:>12}{:>12}   {}\n", "visit", "episode", "weight", "policy");
  }
  for_each_top(shown, [&](std::uint64_t i, double weight, const std::vector<double>& policy) {
    const auto end = policy.begin() + static_cast<std::ptrdiff_t>(std::min(actions, kShownColumns));
    text += fmt::format("{:>12}{:>12}{:>12.4g}   {:.4f}{}\n", i,
                        shown.file.episode_of(shown.cell, i) + 1, weight,
                        fmt::join(policy.begin(), end, " "), actions > kShownColumns ? " ..." : "");
  });
  print(text);
}

PolicyFile open_player(const Options& options, const Source& source) {
  if (source.game) {
    std::vector<std::string> names;
    for (const Player player : all<Player>(frame_of(source.game->game).num_players())) {
      names.push_back(source.game->about.names.player(player));
    }
    const std::string word = options.player.empty() ? "1" : options.player;
    return open_policy(*source.run, frame_of(source.game->game),
                       Player(find("--player", word, "player", names)));
  }
  PolicyFile file = PolicyFile::open(source.path, make_replayer);
  const std::uint64_t whose = file.header().player.number();
  if (!options.player.empty() && options.player != std::to_string(whose)) {
    throw Error(ErrorKind::usage, "--player", fmt::format("the file is player {}'s", whose),
                "give the run folder, or that player's file");
  }
  return file;
}

ExitCode show(const Options& options) {
  const Source source = open_source(options);
  const PolicyFile file = open_player(options, source);
  const PolicyHeader& header = file.header();
  const Step h(find("--step", options.step, "step", numbers_to(header.seat.horizon)));
  ChosenState state = choose_state(options, source, file, h);
  const std::size_t cell = header.seat.cell(h, state.s);
  const std::uint64_t episodes = episodes_before(options, source, file.episodes());
  ReplayMemory memory;
  const Shown shown{file,
                    Words(source, header),
                    source.run ? policy_path(source.path, header.player) : source.path,
                    source.run ? std::optional(source.run->config.seed) : std::nullopt,
                    h,
                    std::move(state),
                    cell,
                    episodes,
                    average_of(file, cell, file.visits_before(cell, episodes), memory)};
  options.as_json ? print_json(shown) : print_text(shown);
  return ExitCode::good;
}

ExitCode write_table(const Options& options) {
  const Source source = open_source(options);
  if (!source.run) {
    throw Error(ErrorKind::usage, printable(options.what, 200), "is no run folder",
                "'vlearn policy show' reads a single policy file");
  }
  const Frame& frame = frame_of(source.game->game);
  std::vector<PolicyFile> files;
  for (const Player player : all<Player>(frame.num_players())) {
    files.push_back(open_policy(*source.run, frame, player));
  }
  const std::uint64_t episodes = episodes_before(options, source, files.front().episodes());
  const AverageTable table = table_of(files, episodes);
  const PolicyHeader& header = files.front().header();
  const std::vector<std::uint64_t>& shape = table.shape;
  ContainerWriter writer("vlearn.policy-table/1");
  writer.metadata("version", std::string(build_info().version));
  writer.metadata("seed", std::to_string(source.run->config.seed));
  writer.metadata("game_hash", header.game_hash).metadata("config_hash", header.config_hash);
  writer.metadata("episode", std::to_string(episodes + 1));
  writer.metadata("weights", std::to_string(header.weights));
  if (header.taper) writer.metadata("taper", "true");
  writer.add("averaged_policy", shape, table.averaged).add("last_policy", shape, table.last);
  writer.add("visits", {shape[1], shape[2]}, table.visits);
  writer.write(options.to);
  if (options.as_json) {
    JsonWriter json;
    json.begin_object()
        .member("schema", "vlearn.policy-table/1")
        .member("file", as_utf8(options.to));
    json.member("episode", episodes + 1).key("shape").on_one_line().begin_array();
    for (const std::uint64_t size : shape) json.value(size);
    print(json.end_array().end_object().text() + "\n");
  } else {
    print(
        fmt::format("{}: averaged_policy and last_policy of {} players, {} steps, {} states, {} "
                    "actions, and visits\n",
                    printable(options.to, 200), shape[0], shape[1], shape[2], shape[3]));
  }
  return ExitCode::good;
}

}  // namespace

void add_policy(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("policy", "Look at the output policy of a run");
  command->footer(
      "Examples:\n"
      "  vlearn policy show runs/soccer-1 --player 2 --step 3 --state 5\n"
      "  vlearn policy table runs/soccer-1 -o policy.safetensors");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* about, const char* footer,
                       ExitCode (*run)(const Options&)) {
    CLI::App* part = command->add_subcommand(name, about);
    part->footer(footer);
    part->add_option("--episode", options->episode,
                     "As of before this episode, as 'play --start' counts, or last; default: where "
                     "executions of the run start");
    part->add_flag("--json", options->as_json, "One JSON object");
    part->callback([options, run, &task] { task = [options, run] { return run(*options); }; });
    return part;
  };
  CLI::App* part = add("show", "What a player does at one (step, state)",
                       "Examples:\n"
                       "  vlearn policy show runs/rps-1\n"
                       "  vlearn policy show runs/soccer-1 --player 2 --step 3 --state 5\n\n"
                       "The output policy is a mixture: a visit is drawn, and the policy of that "
                       "visit is played.\n"
                       "  averaged   the policies of all visits, by their weights\n"
                       "  last       the policy of the last visit\n"
                       "  played     by weight, how often the action was played at the visits",
                       show);
  part->add_option("what", options->what, "RUN, or a policy file (then there are only numbers)")
      ->required();
  part->add_option("--player", options->player, "Number or name; default 1, of a file its own");
  part->add_option("--step", options->step, "From 1 on; default 1");
  part->add_option("--state", options->state,
                   "Name or number; default start: the likeliest first state");
  part = add("table", "Averaged policies of all players everywhere, for NumPy",
             "Examples:\n"
             "  vlearn policy table runs/soccer-1 -o policy.safetensors\n"
             "  vlearn policy table runs/soccer-1 --episode 1000 -o early.safetensors",
             write_table);
  part->add_option("RUN", options->what, "A run folder")->required();
  part->add_option("-o,--out", options->to, "The file to write, .safetensors")->required();
}

}  // namespace vlearn::app
