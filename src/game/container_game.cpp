// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// Games as arrays: docs/reference/game_format.md, "Large games". Arrays are moved into the models,
// so that a game takes its own size in memory and no more.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "game_io_parts.h"
#include "json_reader.h"
#include "vlearn/core/checked.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

constexpr std::string_view kFormat = "vlearn.game/1";

std::string shape_text(std::span<const std::uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// Turns [row][column] into [column][row] in place; an entry is a block of numbers.
void transpose(std::span<double> values, std::size_t rows, std::size_t columns, std::size_t block) {
  if (rows == 1 || columns == 1) return;
  constexpr std::size_t most_held = 4096;  // of a large block one part after the other
  std::vector<double> held(std::min(block, most_held));
  for (std::size_t part = 0; part < block; part += held.size()) {
    const std::size_t size = std::min(held.size(), block - part);
    const auto entry = [&](std::size_t at) {
      return values.subspan(at * block + part, size).begin();
    };
    std::vector<bool> done(rows * columns, false);
    for (std::size_t start = 0; start < done.size(); ++start) {
      if (done[start]) continue;
      // Carry the numbers to where they belong, go on with those that were there.
      std::size_t at = start;
      std::copy_n(entry(at), size, held.begin());
      do {
        at = at % columns * rows + at / columns;
        std::swap_ranges(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(size), entry(at));
        done[at] = true;
      } while (at != start);
    }
  }
}

// ------------------------------------------------------------------------------------ reading

class GameArrays {
 public:
  explicit GameArrays(ContainerArrays arrays) : arrays_(std::move(arrays)) {}

  /// Looks at names and metadata only: called before memory is taken.
  static void check(const ContainerHeader& header) {
    constexpr std::array<std::string_view, 7> keys = {"format",   "horizon", "model", "stationary",
                                                      "zero_sum", "noise",   "commit"};
    constexpr std::array<std::string_view, 15> names = {
        "P",           "R",           "initial", "ranges",     "about",
        "num_states",  "num_actions", "rewards", "row_begins", "successors",
        "transitions", "base",        "routes",  "weights",    "probabilities"};
    if (header.metadata("format") != kFormat) {
      throw Error(ErrorKind::input, header.source(),
                  fmt::format("its metadata has the format '{}'",
                              printable(header.metadata("format").value_or(""), 50)),
                  R"(a game has "format": "vlearn.game/1")");
    }
    for (const auto& [key, value] : header.metadata()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      std::string fix = suggestion(key, keys);
      if (fix.empty()) fix = fmt::format("want one of {}", fmt::join(keys, ", "));
      throw Error(ErrorKind::input, header.source() + ": metadata '" + printable(key, 100) + "'",
                  "is not known here", std::move(fix));
    }
    for (const ArrayInfo& array : header.arrays()) {
      if (std::find(names.begin(), names.end(), array.name) != names.end()) continue;
      std::string fix = suggestion(array.name, names);
      if (fix.empty()) fix = fmt::format("want one of {}", fmt::join(names, ", "));
      throw header.error(array.name, "is not an array of a game", std::move(fix));
    }
  }

  LoadedGame read() {
    const std::string model(header().metadata("model").value_or("table"));
    options_.horizon = read_horizon();
    options_.stationary = flag("stationary", true);
    options_.zero_sum = flag("zero_sum", false);
    options_.noise = read_noise();
    if (has("initial")) options_.initial = take<double>("initial");
    LoadedGame loaded{[&]() -> AnyGame {
      if (model == "table") return has("R") ? read_regular() : read_flat();
      if (model == "congestion") return read_congestion();
      if (model == "polymatrix") return read_polymatrix();
      throw bad_metadata("model", "want table, congestion or polymatrix");
    }()};
    if (has("about")) {
      const std::vector<std::uint8_t> bytes = take<std::uint8_t>("about");
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      loaded.about =
          parse_about(text, header().source() + ": array 'about'", frame_of(loaded.game));
    }
    for (const ArrayInfo& array : header().arrays()) {
      if (std::find(taken_.begin(), taken_.end(), array.name) == taken_.end()) {
        throw header().error(array.name, "does not go with the other arrays", "leave it out");
      }
    }
    if (!header().committed()) {
      loaded.remarks.emplace_back("has no checksum, damage would not show");
    }
    return loaded;
  }

 private:
  [[nodiscard]] const ContainerHeader& header() const { return arrays_.header(); }
  [[nodiscard]] bool has(std::string_view name) const { return header().find(name) != nullptr; }

  template <class T>
  std::vector<T> take(std::string_view name) {
    taken_.emplace_back(name);
    return arrays_.take<T>(name);
  }

  /// Finite numbers only.
  std::vector<double> take_numbers(std::string_view name) {
    std::vector<double> values = take<double>(name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        throw header().error(name, fmt::format("its number {} (from 0) is {}", i, values[i]),
                             "want finite ones");
      }
    }
    return values;
  }

  [[nodiscard]] Error bad_metadata(std::string_view key, std::string want) const {
    return {ErrorKind::input, header().source() + ": metadata '" + std::string(key) + "'",
            fmt::format("is '{}'", printable(header().metadata(key).value_or(""), 50)),
            std::move(want)};
  }

  [[nodiscard]] std::size_t read_horizon() const {
    const std::string_view text = header().metadata("horizon").value_or("");
    std::size_t horizon = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, horizon);
    if (error != std::errc() || stop != end || horizon < 1 || horizon >= kMaxSteps) {
      throw bad_metadata("horizon", "want the number of steps, as text");
    }
    return horizon;
  }

  [[nodiscard]] bool flag(std::string_view key, bool fallback) const {
    const std::optional<std::string_view> text = header().metadata(key);
    if (!text) return fallback;
    if (*text != "true" && *text != "false") throw bad_metadata(key, "want true or false");
    return *text == "true";
  }

  [[nodiscard]] RewardNoise read_noise() const {
    const std::string_view text = header().metadata("noise").value_or("none");
    if (text == "none") return RewardNoise::none;
    if (text == "bernoulli") return RewardNoise::bernoulli;
    if (text == "uniform") return RewardNoise::uniform;
    throw bad_metadata("noise", "want none, bernoulli or uniform");
  }

  [[nodiscard]] std::uint32_t to_size(std::string_view array, std::uint64_t size) const {
    if (size < 1 || size > UINT32_MAX) {
      throw header().error(array,
                           fmt::format("has an axis of length {}, want 1 to {}", size, UINT32_MAX));
    }
    return static_cast<std::uint32_t>(size);
  }

  /// Ranges as given; nothing: to be found out.
  void read_ranges() {
    options_.ranges.clear();
    if (!has("ranges")) return;
    const std::vector<std::uint64_t> shape = header().find("ranges")->shape;
    if (shape.size() != 2 || (shape[0] != 1 && shape[0] != options_.num_players) || shape[1] != 2) {
      throw header().error("ranges",
                           "has shape " + shape_text(shape) + ", want [1, 2] or [players, 2]");
    }
    const std::vector<double> values = take<double>("ranges");
    for (std::size_t i = 0; i < values.size(); i += 2) {
      options_.ranges.push_back({values[i], values[i + 1]});
    }
    if (options_.zero_sum && options_.ranges.size() == 1) {
      const RewardRange first = options_.ranges.front();
      options_.ranges.push_back({-first.high, -first.low});
    }
  }

  /// R[(h,) i, s, a1, ..., am] and P[(h,) s, a1, ..., am, s'], or sparse rows.
  AnyGame read_regular() {
    const std::vector<std::uint64_t> shape = header().find("R")->shape;
    const std::size_t lead = options_.stationary ? 0 : 1;
    const std::string want = options_.stationary ? "[i, s, a1, ..., am]" : "[h, i, s, a1, ..., am]";
    const auto bad_shape = [&] {
      return header().error("R", "has shape " + shape_text(shape),
                            "want " + want + " with as many action axes as players");
    };
    if (shape.size() < lead + 3) throw bad_shape();
    const std::size_t payers = shape[lead];
    const std::size_t m = options_.zero_sum ? 2 : payers;
    if (shape.size() != lead + 2 + m || (options_.zero_sum && payers != 1)) throw bad_shape();
    if (!options_.stationary && shape[0] != options_.horizon) {
      throw header().error(
          "R", fmt::format("has {} steps, want {}, the horizon", shape[0], options_.horizon));
    }
    options_.num_players = m;
    options_.num_states = {to_size("R", shape[lead + 1])};
    std::uint64_t joint = 1;  // no overflow: the array is there
    for (std::size_t i = lead + 2; i < shape.size(); ++i) {
      options_.num_actions.push_back(to_size("R", shape[i]));
      joint *= shape[i];
    }
    read_ranges();
    if (has("P")) check_shape_of_p(shape, lead);
    std::vector<double> rewards = take_numbers("R");
    const std::size_t states = shape[lead + 1];
    const std::size_t layer = payers * states * joint;
    if (options_.ranges.empty()) {
      for (std::size_t i = 0; i < payers; ++i) {
        RewardRange range = RewardRange::empty();
        for (std::size_t at = i * states * joint; at < rewards.size(); at += layer) {
          for (std::size_t k = at; k < at + states * joint; ++k) {
            range.include(rewards[k]);
          }
        }
        options_.ranges.push_back(natural_range(range.low, range.high));
      }
      add_second_range();
    }
    for (std::size_t at = 0; at < rewards.size(); at += layer) {
      transpose(std::span(rewards).subspan(at, layer), payers, states, joint);
    }
    return build_table(std::move(rewards), "P");
  }

  void add_second_range() {
    if (!options_.zero_sum) return;
    const RewardRange first = options_.ranges.front();
    options_.ranges.push_back({-first.high, -first.low});
  }

  void check_shape_of_p(const std::vector<std::uint64_t>& shape_of_r, std::size_t lead) const {
    const std::vector<std::uint64_t>& shape = header().find("P")->shape;
    std::vector<std::uint64_t> want;
    if (lead == 1) want.push_back(options_.horizon - 1);
    want.push_back(shape_of_r[lead + 1]);
    want.insert(want.end(), shape_of_r.begin() + static_cast<std::ptrdiff_t>(lead) + 2,
                shape_of_r.end());
    want.push_back(shape_of_r[lead + 1]);
    std::vector<std::uint64_t> with_last = want;
    if (lead == 1) ++with_last[0];
    if (shape != want && shape != with_last) {
      throw header().error("P", "has shape " + shape_text(shape), "want " + shape_text(want));
    }
  }

  AnyGame build_table(std::vector<double> rewards, std::string_view dense) {
    Frame frame(options_);
    if (!has("row_begins") && !has(dense)) {
      throw header().error(dense, "is missing", "give it, or sparse rows");
    }
    if (has("row_begins")) {
      SparseRows::Tables tables{take<std::uint64_t>("row_begins"),
                                take<std::uint32_t>("successors"), take<double>("probabilities")};
      return SparseGame(std::move(frame), std::move(rewards), std::move(tables));
    }
    std::vector<double> rows = take<double>(dense);
    if (dense == "P" && !options_.stationary) {
      // The last step leads nowhere, whatever the file says about it.
      const std::uint64_t steps = header().find(dense)->shape[0];
      if (steps == options_.horizon) rows.resize(rows.size() / steps * (steps - 1));
    }
    return DenseGame(std::move(frame), std::move(rewards), std::move(rows));
  }

  /// num_states and num_actions.
  void read_sizes() {
    options_.num_states = take<std::uint32_t>("num_states");
    const std::vector<std::uint64_t> shape = header().at("num_actions", ElementType::u32).shape;
    if (shape.empty() || shape.size() > 2) {
      throw header().error("num_actions", "has shape " + shape_text(shape),
                           "want [players] or [cells, players]");
    }
    options_.num_players = shape.back();
    options_.num_actions = take<std::uint32_t>("num_actions");
    check_cells();
    read_ranges();
  }

  /// Every cell has a reward: before memory is taken for as many as a file declares, it must be
  /// large enough to have them.
  void check_cells() const {
    const std::uint64_t rewards = header().at("rewards", ElementType::f64).bytes / sizeof(double);
    const std::uint64_t layers = options_.stationary ? 1 : options_.horizon;
    std::uint64_t cells = 0;  // no overflow: 32 bits each, and the array is there
    for (const std::uint32_t count : options_.num_states) cells += count;
    const bool for_all = options_.num_states.size() == 1;
    const auto all = for_all ? checked_multiply(cells, layers) : std::optional(cells);
    if (!all || *all > rewards) {
      throw header().error("num_states",
                           fmt::format("declares {} states for {} steps, there are {} rewards",
                                       cells, layers, rewards),
                           "every state of a step needs its own");
    }
  }

  /// A frame for sizes only, while ranges are not known.
  [[nodiscard]] Frame sizes() const {
    FrameOptions options = options_;
    options.ranges = {{}};
    options.zero_sum = false;
    return Frame(std::move(options));
  }

  AnyGame read_flat() {
    if (!has("rewards")) throw header().error("R", "is missing", "give it, or flat tables");
    read_sizes();
    std::vector<double> rewards = take_numbers("rewards");
    if (options_.ranges.empty()) {
      const Frame frame = sizes();
      const JointIndex joints(frame);
      const std::size_t payers = options_.zero_sum ? 1 : options_.num_players;
      if (checked_multiply(joints.size(), payers) != rewards.size()) {
        throw header().error(
            "rewards", fmt::format("has {} numbers, want {} joint actions times {}", rewards.size(),
                                   joints.size(), payers));
      }
      std::vector<RewardRange> ranges(payers, RewardRange::empty());
      std::size_t at = 0;
      for (std::size_t cell = 0; cell < frame.num_cells(); ++cell) {
        for (RewardRange& range : ranges) {
          for (std::size_t joint = 0; joint < joints.count(cell); ++joint, ++at) {
            range.include(rewards[at]);
          }
        }
      }
      for (const RewardRange& range : ranges) {
        options_.ranges.push_back(natural_range(range.low, range.high));
      }
      add_second_range();
    }
    return build_table(std::move(rewards), "transitions");
  }

  AnyGame read_congestion() {
    read_sizes();
    CongestionOptions tables;
    const std::vector<std::uint64_t> shape = header().at("base", ElementType::f64).shape;
    if (shape.size() != 2) {
      throw header().error("base", "has shape " + shape_text(shape), "want [cells, routes]");
    }
    tables.num_routes = shape[1];
    tables.rewards = take_numbers("rewards");
    tables.base = take_numbers("base");
    tables.transitions = take<double>("transitions");
    tables.routes = take<std::uint32_t>("routes");
    if (options_.ranges.empty()) {
      if (tables.rewards.empty()) throw header().error("rewards", "is empty");
      const auto [low, high] = std::minmax_element(tables.rewards.begin(), tables.rewards.end());
      options_.ranges = {natural_range(*low, *high)};
    }
    return CongestionGame(Frame(options_), std::move(tables));
  }

  AnyGame read_polymatrix() {
    read_sizes();
    PolymatrixOptions tables{take_numbers("rewards"), take_numbers("weights"),
                             take<double>("transitions")};
    if (options_.ranges.empty()) {
      throw header().error("ranges", "is missing", "a polymatrix game in arrays states its ranges");
    }
    return PolymatrixGame(Frame(options_), std::move(tables));
  }

  ContainerArrays arrays_;
  FrameOptions options_;
  std::vector<std::string> taken_;
};

// ------------------------------------------------------------------------------------ writing

/// The arrays of one file; they live until it is written.
class GameArraysWriter {
 public:
  explicit GameArraysWriter(const LoadedGame& loaded)
      : loaded_(loaded), frame_(frame_of(loaded.game)), writer_(std::string(kFormat)) {}

  void write(const std::filesystem::path& path) {
    writer_.metadata("horizon", std::to_string(frame_.horizon()));
    writer_.metadata("stationary", frame_.stationary() ? "true" : "false");
    if (frame_.zero_sum()) writer_.metadata("zero_sum", "true");
    if (frame_.noise() == RewardNoise::bernoulli) writer_.metadata("noise", "bernoulli");
    if (frame_.noise() == RewardNoise::uniform) writer_.metadata("noise", "uniform");
    std::visit([&](const auto& game) { add_law(game); }, loaded_.game);
    writer_.add("initial", {frame_.initial().size()}, frame_.initial());
    for (const Player player : all<Player>(frame_.num_players())) {
      ranges_.push_back(frame_.range(player).low);
      ranges_.push_back(frame_.range(player).high);
    }
    writer_.add("ranges", {frame_.num_players(), 2}, ranges_);
    if (!(loaded_.about == GameAbout())) {
      const std::string text = about_to_json(loaded_.about, frame_);
      about_.assign(text.begin(), text.end());
      writer_.add("about", {about_.size()}, about_);
    }
    writer_.write(path);
  }

 private:
  template <class Rows>
  void add_law(const TabularGame<Rows>& game) {
    writer_.metadata("model", "table");
    const std::size_t payers = frame_.zero_sum() ? 1 : frame_.num_players();
    const bool regular = is_regular();
    if (regular) {
      std::vector<std::uint64_t> shape = {payers, frame_.num_states(Step(0))};
      if (!frame_.stationary()) shape.insert(shape.begin(), frame_.horizon());
      rewards_.assign(game.rewards().begin(), game.rewards().end());
      const std::span<const std::uint32_t> begins = frame_.begins_of_cell(0);
      for (std::size_t i = 0; i < frame_.num_players(); ++i) {
        shape.push_back(begins[i + 1] - begins[i]);
        actions_.push_back(begins[i + 1] - begins[i]);
      }
      const std::size_t states = frame_.num_states(Step(0));
      const std::size_t layer = rewards_.size() / frame_.num_layers();
      for (std::size_t at = 0; at < rewards_.size(); at += layer) {
        transpose(std::span(rewards_).subspan(at, layer), states, payers,
                  layer / (states * payers));
      }
      writer_.add("R", std::move(shape), rewards_);
    } else {
      add_sizes();
      writer_.add("rewards", {game.rewards().size()}, game.rewards());
    }
    add_rows(game.rows().tables(), regular);
  }

  void add_rows(const std::vector<double>& probabilities, bool regular) {
    if (!regular) {
      writer_.add("transitions", {probabilities.size()}, probabilities);
      return;
    }
    const std::uint64_t states = frame_.num_states(Step(0));
    std::vector<std::uint64_t> shape = {states};
    if (!frame_.stationary()) shape.insert(shape.begin(), frame_.horizon() - 1);
    shape.insert(shape.end(), actions_.begin(), actions_.end());
    shape.push_back(states);
    writer_.add("P", std::move(shape), probabilities);
  }

  void add_rows(const SparseRows::Tables& tables, bool /*regular*/) {
    writer_.add("row_begins", {tables.begins.size()}, tables.begins);
    writer_.add("successors", {tables.successors.size()}, tables.successors);
    writer_.add("probabilities", {tables.probabilities.size()}, tables.probabilities);
  }

  void add_law(const CongestionGame& game) {
    writer_.metadata("model", "congestion");
    add_sizes();
    const CongestionOptions& tables = game.options();
    writer_.add("rewards", {frame_.num_cells(), game.num_routes(), frame_.num_players()},
                tables.rewards);
    writer_.add("base", {frame_.num_cells(), game.num_routes()}, tables.base);
    writer_.add("transitions", {tables.transitions.size()}, tables.transitions);
    writer_.add("routes", {tables.routes.size()}, tables.routes);
  }

  void add_law(const PolymatrixGame& game) {
    writer_.metadata("model", "polymatrix");
    add_sizes();
    const PolymatrixOptions& tables = game.options();
    writer_.add("rewards", {tables.rewards.size()}, tables.rewards);
    writer_.add("weights", {frame_.num_cells(), frame_.num_players()}, tables.weights);
    writer_.add("transitions", {tables.transitions.size()}, tables.transitions);
  }

  void add_law(const CallbackGame& /*game*/) {
    throw Error(ErrorKind::usage, "game", "a game that a program computes has no tables to write");
  }

  /// Whether all steps have as many states and all cells the same actions.
  [[nodiscard]] bool is_regular() const {
    constexpr std::size_t other_axes = 3;
    if (frame_.num_players() + other_axes > kMaxArrayRank) return false;
    for (const Step h : all<Step>(frame_.num_layers())) {
      if (frame_.num_states(h) != frame_.num_states(Step(0))) return false;
    }
    const std::span<const std::uint32_t> first = frame_.begins_of_cell(0);
    for (std::size_t cell = 1; cell < frame_.num_cells(); ++cell) {
      const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
      if (!std::equal(first.begin(), first.end(), begins.begin())) return false;
    }
    return true;
  }

  void add_sizes() {
    for (const Step h : all<Step>(frame_.num_layers())) {
      states_.push_back(static_cast<std::uint32_t>(frame_.num_states(h)));
    }
    for (std::size_t cell = 0; cell < frame_.num_cells(); ++cell) {
      const std::span<const std::uint32_t> begins = frame_.begins_of_cell(cell);
      for (std::size_t i = 0; i < frame_.num_players(); ++i) {
        actions_.push_back(begins[i + 1] - begins[i]);
      }
    }
    writer_.add("num_states", {states_.size()}, states_);
    writer_.add("num_actions", {frame_.num_cells(), frame_.num_players()}, actions_);
  }

  const LoadedGame& loaded_;
  const Frame& frame_;
  ContainerWriter writer_;
  std::vector<double> rewards_;
  std::vector<double> ranges_;
  std::vector<std::uint32_t> states_;
  std::vector<std::uint32_t> actions_;
  std::vector<std::uint8_t> about_;
};

}  // namespace

void check_game_header(const ContainerHeader& header) { GameArrays::check(header); }

LoadedGame game_from_arrays(ContainerArrays arrays) {
  const std::string source = arrays.header().source();
  try {
    return GameArrays(std::move(arrays)).read();
  } catch (const Error& error) {
    // What the models say about sizes and sums does not know the file.
    if (error.place().starts_with(source)) throw;
    throw Error(ErrorKind::input, source + ": " + error.place(), error.problem(), error.fix());
  }
}

void write_container_game(const std::filesystem::path& path, const LoadedGame& game) {
  GameArraysWriter(game).write(path);
}

}  // namespace vlearn
