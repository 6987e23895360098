// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/policy/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "vlearn/core/hash.h"
#include "vlearn/core/json.h"
#include "vlearn/core/random.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

constexpr std::uint64_t kMaxHeader = std::uint64_t{1} << 24U;
// Pairs in it: each is an array with two numbers, and readers take 2^21 values of JSON in all.
constexpr std::size_t kMaxRepeats = 650'000;
constexpr std::size_t kManyActions = 256;  // more than a byte counts
constexpr std::string_view kFormat = "vlearn.policy/1";

// What a rule can add to its state and have there; beyond, replays would overflow. Losses are in
// [0, 1] and chances 2^-40 at least (kLeastChance); there are fewer than 2^56 visits.
constexpr float kMostScore = 0x1p41F;
constexpr float kMostMean = 2.0F;
constexpr double kLeastState = -2.0;  // means may be 0, and rounded
constexpr double kMostState = 0x1p100;

bool is_increment(const Increment& increment, bool with_means) {
  const float least = with_means ? -kMostScore : 0.0F;  // without means losses only grow
  return increment.score >= least && increment.score <= kMostScore &&
         std::abs(increment.mean) <= kMostMean;
}
bool is_state(double number) { return number >= kLeastState && number <= kMostState; }

/// Before each segment.
struct SegmentHeader {
  std::uint64_t first_episode = 0;
  std::uint64_t episodes = 0;
  std::uint64_t runs = 0;
  std::uint64_t snapshot_numbers = 0;
  std::uint64_t checksum = 0;  // XXH3 of the four numbers before, and XXH3 of the payload
};

std::uint64_t checksum_of(const SegmentHeader& header, std::span<const std::byte> payload) {
  const std::array<std::uint64_t, 5> parts = {header.first_episode, header.episodes, header.runs,
                                              header.snapshot_numbers, xxh3(payload)};
  return xxh3(std::as_bytes(std::span(parts)));
}

/// Where the arrays of a payload lie, one after the other, the widest first.
struct Layout {
  std::uint64_t directory;
  std::uint64_t scores;
  std::uint64_t means;
  std::uint64_t episode_offsets;
  std::uint64_t actions;
  std::uint64_t end;

  Layout(const SegmentHeader& header, std::uint64_t visits, bool with_means, bool wide_actions)
      : directory(8 * header.snapshot_numbers),
        scores(directory + 8 * header.runs),
        means(scores + 4 * visits),
        episode_offsets(means + (with_means ? 4 * visits : 0)),
        actions(episode_offsets + 2 * visits),
        end((actions + (wide_actions ? 2 : 1) * visits + 7) / 8 * 8) {}
};

template <class T>
std::span<const T> view(std::span<const std::byte> bytes,
                        std::uint64_t begin,
                        std::uint64_t count) {
  return {reinterpret_cast<const T*>(bytes.data() + begin), static_cast<std::size_t>(count)};
}

template <class T>
void put(std::span<std::byte> bytes, std::uint64_t place, T value) {
  std::memcpy(bytes.data() + place, &value, sizeof(T));
}

std::size_t most_actions(const Seat& seat) {
  return *std::max_element(seat.num_actions.begin(), seat.num_actions.end());
}

/// [value, how often] pairs: numbers of states and actions mostly repeat.
/// Returns how many there are.
std::size_t write_repeats(JsonWriter& json,
                          std::string_view key,
                          std::span<const std::uint32_t> numbers) {
  json.key(key).begin_array();
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < numbers.size(); ++pairs) {
    std::size_t end = i;
    while (end < numbers.size() && numbers[end] == numbers[i]) ++end;
    json.begin_array().value(std::uint64_t{numbers[i]}).value(std::uint64_t{end - i}).end_array();
    i = end;
  }
  json.end_array();
  return pairs;
}

std::vector<std::uint32_t> read_repeats(const JsonValue& value,
                                        std::uint64_t most_numbers,
                                        std::uint64_t largest) {
  std::vector<std::uint32_t> numbers;
  for (const JsonValue pair : value.items()) {
    if (pair.size() != 2) throw pair.error("want a number and how often it comes");
    const std::uint64_t number = pair.at(0).natural(largest);
    const std::uint64_t count = pair.at(1).natural(most_numbers - numbers.size());
    if (number == 0 || count == 0) throw pair.error("want numbers from 1 on");
    numbers.insert(numbers.end(), count, static_cast<std::uint32_t>(number));
  }
  if (numbers.empty()) throw value.error("is empty");
  return numbers;
}

}  // namespace

std::uint64_t segment_episodes(std::size_t num_players,
                               std::size_t horizon,
                               std::uint64_t snapshot_bytes) noexcept {
  const std::uint64_t bytes = (12 + snapshot_bytes) * num_players * horizon;
  const std::uint64_t most =
      std::clamp<std::uint64_t>((std::uint64_t{1} << 26U) / bytes, 1, kMaxSegmentEpisodes);
  return std::bit_floor(most);
}

std::string encode_header(const PolicyHeader& header) {
  const Seat& seat = header.seat;
  JsonWriter json(JsonWriter::Layout::compact);
  json.begin_object().member("format", kFormat).member("player", header.player.number());
  json.member("players", std::uint64_t{seat.num_players});
  json.member("target", name_of(header.target)).member("rule", header.rule);
  json.member("control_variate", header.control_variate);
  json.member("rule_parameter", header.rule_parameter).member("weights", header.weights);
  if (header.taper) json.member("taper", true);
  json.member("segment_episodes", header.segment_episodes);
  json.member("game_hash", header.game_hash).member("config_hash", header.config_hash);
  json.member("max_actions", std::uint64_t{seat.max_actions});
  std::vector<std::uint32_t> states;
  for (std::size_t h = 0; h < seat.horizon; ++h) {
    states.push_back(static_cast<std::uint32_t>(seat.first_cell[h + 1] - seat.first_cell[h]));
  }
  const std::size_t repeats =
      write_repeats(json, "states", states) + write_repeats(json, "actions", seat.num_actions);
  std::string text = json.end_object().text();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (seat.num_cells() > kMaxPolicyCells || repeats > kMaxRepeats || text.size() > kMaxHeader) {
    throw Error(ErrorKind::resource, "policy file",
                "the game has too many states, or too many that differ in their actions",
                "train without a history");
  }
  std::string bytes(8, '\0');
  const std::uint64_t size = text.size();
  std::memcpy(bytes.data(), &size, 8);
  bytes += text;
  const std::uint64_t checksum = xxh3(std::as_bytes(std::span(bytes)));
  bytes.resize(bytes.size() + 8);
  std::memcpy(bytes.data() + bytes.size() - 8, &checksum, 8);
  return bytes;
}

VisitLog::VisitLog(std::span<const Seat> seats, std::uint64_t segment_episodes, bool with_means)
    : horizon_(seats.front().horizon),
      num_cells_(seats.front().num_cells()),
      cells_(segment_episodes * horizon_) {
  for (const Seat& seat : seats) {
    Column& column = columns_.emplace_back();
    column.actions.resize(cells_.size());
    column.scores.resize(cells_.size());
    if (with_means) column.means.resize(cells_.size());
    column.wide_actions = most_actions(seat) > kManyActions;
  }
}

void VisitLog::add_snapshot(std::size_t player, std::span<const double> numbers) {
  Column& column = columns_[player];
  column.snapshots.push_back(
      {static_cast<std::uint32_t>(size_ - 1), column.numbers.size(), numbers.size()});
  column.numbers.insert(column.numbers.end(), numbers.begin(), numbers.end());
}

void VisitLog::sort() {
  std::vector<std::uint32_t> next(num_cells_ + 1, 0);
  for (std::size_t i = 0; i < size_; ++i) ++next[cells_[i] + 1];
  for (std::size_t cell = 0; cell < num_cells_; ++cell) next[cell + 1] += next[cell];
  order_.resize(size_);
  for (std::size_t i = 0; i < size_; ++i) order_[next[cells_[i]]++] = static_cast<std::uint32_t>(i);
}

void VisitLog::clear() noexcept {
  size_ = 0;
  for (Column& column : columns_) {
    column.snapshots.clear();
    column.numbers.clear();
  }
}

void VisitLog::save(ContainerWriter& writer) const {
  using std::span;
  std::vector<span<const std::uint16_t>> actions;
  std::vector<span<const float>> scores;
  std::vector<span<const float>> means;
  std::vector<span<const double>> numbers;
  std::vector<std::uint64_t> snapshots;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const Column& column = columns_[j];
    actions.push_back(span(column.actions).first(size_));
    scores.push_back(span(column.scores).first(size_));
    if (!column.means.empty()) means.push_back(span(column.means).first(size_));
    for (const Snapshot& snapshot : column.snapshots) {
      snapshots.insert(snapshots.end(), {j, snapshot.position, snapshot.size});
    }
    numbers.emplace_back(column.numbers);
  }
  writer.add("log.cells", {size_}, span<const std::uint32_t>(cells_).first(size_));
  writer.add_parts("log.actions", actions).add_parts("log.scores", scores);
  writer.add_parts("log.means", means).add_parts("log.snapshot_numbers", numbers);
  writer.own("log.snapshots", std::move(snapshots));
}

void VisitLog::load(ContainerArrays& arrays, std::span<const Seat> seats) {
  const auto refuse = [&](const char* array, const char* problem) -> Error {
    return arrays.header().error(array, problem, "the checkpoint is damaged or of another run");
  };
  const auto cells = arrays.take<std::uint32_t>("log.cells");
  const std::vector<std::size_t>& first_cell = seats.front().first_cell;
  if (cells.size() > cells_.size() || cells.size() % horizon_ != 0) {
    throw refuse("log.cells", "has an impossible size");
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t h = i % horizon_;
    if (cells[i] < first_cell[h] || cells[i] >= first_cell[h + 1]) {
      throw refuse("log.cells", "has a state that its step does not have");
    }
  }
  clear();
  size_ = cells.size();
  std::copy(cells.begin(), cells.end(), cells_.begin());
  // Each player's part to its place; where there are no means, there are none in the file.
  const auto share_out = [&]<class T>(const char* name, std::vector<T> Column::*member) {
    const std::vector<T> all = arrays.take<T>(name);
    const bool kept = !(columns_.front().*member).empty();
    if (all.size() != (kept ? columns_.size() * size_ : 0)) {
      throw refuse(name, "has another size than the visits");
    }
    for (std::size_t j = 0; kept && j < columns_.size(); ++j) {
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(j * size_), size_,
                  (columns_[j].*member).begin());
    }
  };
  share_out("log.actions", &Column::actions);
  share_out("log.scores", &Column::scores);
  share_out("log.means", &Column::means);
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    for (std::size_t i = 0; i < size_; ++i) {
      const Column& column = columns_[j];
      if (column.actions[i] >= seats[j].num_actions[cells_[i]]) {
        throw refuse("log.actions", "has an action that its player does not have");
      }
      const float mean = column.means.empty() ? 0.0F : column.means[i];
      if (!is_increment({column.scores[i], mean}, !column.means.empty())) {
        throw refuse("log.scores", "has an increment that no rule adds");
      }
    }
  }
  const auto snapshots = arrays.take<std::uint64_t>("log.snapshots");  // player, position, size
  const auto numbers = arrays.take<double>("log.snapshot_numbers");
  if (snapshots.size() % 3 != 0) throw refuse("log.snapshots", "has an impossible size");
  if (!std::all_of(numbers.begin(), numbers.end(), is_state)) {
    throw refuse("log.snapshot_numbers", "has one that no rule leaves");
  }
  std::span<const double> rest = numbers;
  for (std::size_t i = 0; i < snapshots.size(); i += 3) {
    const std::uint64_t player = snapshots[i];
    const std::uint64_t position = snapshots[i + 1];
    const std::uint64_t size = snapshots[i + 2];
    if (player >= columns_.size() || position >= size_ || size > rest.size()) {
      throw refuse("log.snapshots", "has one that belongs to no visit");
    }
    Column& column = columns_[player];
    column.snapshots.push_back({static_cast<std::uint32_t>(position), column.numbers.size(), size});
    const std::span<const double> own = rest.first(size);
    column.numbers.insert(column.numbers.end(), own.begin(), own.end());
    rest = rest.subspan(size);
  }
  if (!rest.empty()) throw refuse("log.snapshot_numbers", "has more than its snapshots");
}

std::vector<std::byte> VisitLog::encode(std::size_t player, std::uint64_t first_episode) const {
  const Column& column = columns_[player];
  SegmentHeader header{first_episode, episodes(), 0, column.numbers.size(), 0};
  for (std::size_t i = 0; i < size_; ++i) {
    if (i == 0 || cells_[order_[i]] != cells_[order_[i - 1]]) ++header.runs;
  }
  const Layout layout(header, size_, !column.means.empty(), column.wide_actions);
  std::vector<std::byte> bytes(sizeof(SegmentHeader) + layout.end);
  const std::span<std::byte> payload = std::span(bytes).subspan(sizeof(SegmentHeader));

  // Snapshots in the order of cells; of one cell they come in the order of play already.
  std::vector<const Snapshot*> snapshots;
  snapshots.reserve(column.snapshots.size());
  for (const Snapshot& snapshot : column.snapshots) snapshots.push_back(&snapshot);
  std::stable_sort(snapshots.begin(), snapshots.end(), [&](const Snapshot* a, const Snapshot* b) {
    return cells_[a->position] < cells_[b->position];
  });
  std::uint64_t place = 0;
  for (const Snapshot* snapshot : snapshots) {
    std::memcpy(payload.data() + place, column.numbers.data() + snapshot->begin,
                8 * snapshot->size);
    place += 8 * snapshot->size;
  }
  std::uint64_t run = layout.directory;
  for (std::size_t i = 0; i < size_;) {
    const std::uint32_t cell = cells_[order_[i]];
    std::size_t end = i;
    while (end < size_ && cells_[order_[end]] == cell) ++end;
    put(payload, run, cell);
    put(payload, run + 4, static_cast<std::uint32_t>(end - i));
    run += 8;
    i = end;
  }
  for (std::size_t i = 0; i < size_; ++i) {
    const std::uint32_t from = order_[i];
    put(payload, layout.scores + 4 * i, column.scores[from]);
    if (!column.means.empty()) put(payload, layout.means + 4 * i, column.means[from]);
    put(payload, layout.episode_offsets + 2 * i, static_cast<std::uint16_t>(from / horizon_));
    if (column.wide_actions) {
      put(payload, layout.actions + 2 * i, column.actions[from]);
    } else {
      put(payload, layout.actions + i, static_cast<std::uint8_t>(column.actions[from]));
    }
  }
  header.checksum = checksum_of(header, payload);
  put(std::span(bytes), 0, header);
  return bytes;
}

PolicyFile::PolicyFile(FileBytes bytes, std::string source)
    : bytes_(std::move(bytes)), source_(std::move(source)) {}

Error PolicyFile::error(std::string problem) const {
  return {ErrorKind::input, source_, std::move(problem),
          "the file is damaged or not a policy file"};
}

PolicyFile PolicyFile::open(const std::filesystem::path& path, const MakeReplayer& make_replayer) {
  return parse(FileBytes::map(path, kMaxPolicyBytes), path.string(), make_replayer);
}

PolicyHeader PolicyFile::read_header(const std::filesystem::path& path) {
  PolicyFile file(FileBytes::map(path, kMaxPolicyBytes), path.string());
  static_cast<void>(file.take_header());
  return std::move(file.header_);
}

PolicyFile PolicyFile::parse(FileBytes bytes,
                             const std::string& source,
                             const MakeReplayer& make_replayer) {
  PolicyFile file(std::move(bytes), source);
  const std::size_t begin = file.take_header();
  try {
    file.replayer_ = make_replayer(file.header_);
  } catch (const Error& error) {
    // It knows keys of the header, and not whose they are.
    throw Error(error.kind(), source + ": " + error.place(), error.problem(), error.fix());
  }
  file.read_segments(begin);
  return file;
}

std::size_t PolicyFile::take_header() {
  const std::span<const std::byte> bytes = bytes_.bytes();
  std::uint64_t size = 0;
  if (bytes.size() < 16) throw error("is too short for a header");
  std::memcpy(&size, bytes.data(), 8);
  if (size > kMaxHeader || size % 8 != 0 || size > bytes.size() - 16) {
    throw error("has a header of impossible length");
  }
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + 8 + size, 8);
  if (checksum != xxh3(bytes.first(8 + size))) throw error("has a header with a wrong checksum");
  const JsonDocument document =
      JsonDocument::parse(bytes_.text().substr(8, size), source_, {.max_bytes = kMaxHeader});
  const JsonValue root = document.root();
  root.allow_keys({"format", "player", "players", "target", "rule", "control_variate",
                   "rule_parameter", "weights", "taper", "segment_episodes", "game_hash",
                   "config_hash", "max_actions", "states", "actions"});
  if (root.at("format").string() != kFormat) {
    throw root.at("format").error("is not one that this version reads", std::string(kFormat));
  }
  Seat& seat = header_.seat;
  seat.num_players = root.at("players").natural(kMaxPlayers);
  const std::uint64_t player = root.at("player").natural(seat.num_players);
  if (player == 0) throw root.at("player").error("counts from 1");
  header_.player = Player::from_number(player);
  const std::optional<Target> target = target_named(root.at("target").string());
  if (!target) throw root.at("target").error("is no target");
  header_.target = *target;
  header_.rule = std::string(root.at("rule").string());
  header_.control_variate = root.at("control_variate").boolean();
  header_.rule_parameter = root.at("rule_parameter").number();
  if (!(header_.rule_parameter >= 0.0 && header_.rule_parameter <= 1e6)) {
    throw root.at("rule_parameter").error("is impossible");
  }
  header_.weights = root.at("weights").natural(kMaxSteps - 1);
  if (header_.weights == 0) throw root.at("weights").error("counts from 1");
  if (const auto taper = root.find("taper")) {
    header_.taper = taper->boolean();
    if (header_.taper && header_.weights + 1 >= kMaxSteps) {
      throw taper->error("has no place with such weights");
    }
  }
  header_.segment_episodes = root.at("segment_episodes").natural(kMaxSegmentEpisodes);
  if (header_.segment_episodes == 0) throw root.at("segment_episodes").error("counts from 1");
  header_.game_hash = std::string(root.at("game_hash").string());
  header_.config_hash = std::string(root.at("config_hash").string());
  seat.max_actions = root.at("max_actions").natural(UINT16_MAX);
  // Every cell costs memory here, however small the file is.
  const std::vector<std::uint32_t> states =
      read_repeats(root.at("states"), kMaxSteps - 1, kMaxPolicyCells);
  seat.horizon = states.size();
  seat.first_cell = {0};
  for (const std::uint32_t count : states) {
    seat.first_cell.push_back(seat.first_cell.back() + count);
    seat.max_states = std::max<std::size_t>(seat.max_states, count);
    if (seat.num_cells() > kMaxPolicyCells) throw root.at("states").error("are too many");
  }
  seat.num_actions = read_repeats(root.at("actions"), seat.num_cells(), seat.max_actions);
  if (seat.num_actions.size() != seat.num_cells()) {
    throw root.at("actions").error("are not one number for each state of each step");
  }
  return 16 + static_cast<std::size_t>(size);
}

void PolicyFile::read_segments(std::size_t begin) {
  if (replayer_->snapshot_size(most_actions(header_.seat)) > kMaxSnapshotNumbers) {
    throw error("has more actions than its rule can be replayed with");
  }
  std::span<const std::byte> rest = bytes_.bytes().subspan(begin);
  while (!rest.empty()) read_segment(rest);
}

void PolicyFile::read_segment(std::span<const std::byte>& rest) {
  const auto refuse = [&](const char* problem) -> Error {
    return error(fmt::format("segment {}: {}", segments_.size() + 1, problem));
  };
  if (!segments_.empty() && segments_.back().episodes != header_.segment_episodes) {
    throw refuse("follows one that is shorter than the others");
  }
  SegmentHeader header;
  if (rest.size() < sizeof(header)) throw refuse("is cut off");
  std::memcpy(&header, rest.data(), sizeof(header));
  rest = rest.subspan(sizeof(header));
  const Seat& seat = header_.seat;
  if (header.first_episode != episodes_ || header.episodes == 0 ||
      header.episodes > header_.segment_episodes) {
    throw refuse("does not begin where the one before ends, or has an impossible length");
  }
  // Products fit: at most 2^16 episodes, 2^20 steps; numbers and runs are bounded by the file.
  const std::uint64_t visits = header.episodes * seat.horizon;
  if (header.runs > visits || header.snapshot_numbers > rest.size() / 8 || visits > rest.size()) {
    throw refuse("is cut off");
  }
  const bool wide = most_actions(seat) > kManyActions;
  const Layout layout(header, visits, header_.control_variate, wide);
  if (layout.end > rest.size()) throw refuse("is cut off");
  const std::span<const std::byte> payload = rest.first(layout.end);
  rest = rest.subspan(layout.end);
  if (checksum_of(header, payload) != header.checksum) throw refuse("has a wrong checksum");

  Segment segment;
  segment.first_episode = header.first_episode;
  segment.episodes = header.episodes;
  segment.snapshots = view<double>(payload, 0, header.snapshot_numbers);
  segment.scores = view<float>(payload, layout.scores, visits);
  if (header_.control_variate) segment.means = view<float>(payload, layout.means, visits);
  segment.episode_offsets = view<std::uint16_t>(payload, layout.episode_offsets, visits);
  segment.actions = view<std::uint8_t>(payload, layout.actions, visits * (wide ? 2 : 1));

  const std::span<const std::uint32_t> directory =
      view<std::uint32_t>(payload, layout.directory, 2 * header.runs);
  std::vector<bool> seen(visits, false);  // [step][episode]
  std::uint64_t begin = 0;
  std::uint64_t snapshots_begin = 0;
  std::size_t step = 0;
  for (std::uint64_t r = 0; r < header.runs; ++r) {
    const std::uint32_t cell = directory[2 * r];
    const std::uint32_t count = directory[2 * r + 1];
    if (cell >= seat.num_cells() || (r > 0 && cell <= directory[2 * r - 2]) || count == 0 ||
        count > visits - begin) {
      throw refuse("has a wrong directory");
    }
    while (cell >= seat.first_cell[step + 1]) ++step;
    const std::size_t n = seat.num_actions[cell];
    std::vector<Run>& runs = runs_[cell];
    const std::uint64_t before = runs.empty() ? 0 : runs.back().visits_before + runs.back().count;
    for (std::uint64_t i = begin; i < begin + count; ++i) {
      const std::uint64_t offset = segment.episode_offsets[i];
      if (offset >= header.episodes || seen[step * header.episodes + offset] ||
          (i > begin && offset <= segment.episode_offsets[i - 1])) {
        throw refuse("has an episode twice or out of order");
      }
      seen[step * header.episodes + offset] = true;
      std::uint32_t action = segment.actions[wide ? 2 * i : i];
      if (wide) action |= static_cast<std::uint32_t>(segment.actions[2 * i + 1]) << 8U;
      if (action >= n) throw refuse("has an action that its player does not have");
      const float mean = segment.means.empty() ? 0.0F : segment.means[i];
      if (!is_increment({segment.scores[i], mean}, !segment.means.empty())) {
        throw refuse("has an increment that no rule adds");
      }
    }
    runs.push_back(
        {before, begin, snapshots_begin, static_cast<std::uint32_t>(segments_.size()), count});
    const std::uint64_t interval = replayer_->snapshot_interval(n);
    snapshots_begin +=
        ((before + count) / interval - before / interval) * replayer_->snapshot_size(n);
    begin += count;
    if (snapshots_begin > header.snapshot_numbers) throw refuse("lacks snapshots");
  }
  if (begin != visits || snapshots_begin != header.snapshot_numbers) {
    throw refuse("has visits or snapshots that its directory does not name");
  }
  if (!std::all_of(segment.snapshots.begin(), segment.snapshots.end(), is_state)) {
    throw refuse("has a snapshot that no rule leaves");
  }
  episodes_ += header.episodes;
  segments_.push_back(segment);
}

std::span<const PolicyFile::Run> PolicyFile::runs(std::size_t cell) const noexcept {
  const auto found = runs_.find(static_cast<std::uint32_t>(cell));
  if (found == runs_.end()) return {};
  return found->second;
}

const PolicyFile::Run& PolicyFile::run_of(std::span<const Run> runs, std::uint64_t visit) noexcept {
  // The last run with fewer than `visit` visits before it.
  const auto after = std::partition_point(
      runs.begin(), runs.end(), [&](const Run& run) { return run.visits_before < visit; });
  return *std::prev(after);
}

std::uint64_t PolicyFile::visits_before(std::size_t cell, std::uint64_t episode) const noexcept {
  const std::span<const Run> all = runs(cell);
  const auto after = std::partition_point(all.begin(), all.end(), [&](const Run& run) {
    return segments_[run.segment].first_episode < episode;
  });
  if (after == all.begin()) return 0;
  const Run& run = *std::prev(after);
  const Segment& segment = segments_[run.segment];
  const std::span<const std::uint16_t> offsets =
      segment.episode_offsets.subspan(run.begin, run.count);
  const std::uint64_t offset = episode - segment.first_episode;
  const auto end = std::partition_point(offsets.begin(), offsets.end(),
                                        [&](std::uint16_t other) { return other < offset; });
  return run.visits_before + static_cast<std::uint64_t>(end - offsets.begin());
}

std::uint64_t PolicyFile::episode_of(std::size_t cell, std::uint64_t visit) const noexcept {
  const Run& run = run_of(runs(cell), visit);
  const Segment& segment = segments_[run.segment];
  return segment.first_episode + segment.episode_offsets[run.begin + visit - 1 - run.visits_before];
}

LoggedVisit PolicyFile::logged(std::size_t cell, std::uint64_t visit) const noexcept {
  const Run& run = run_of(runs(cell), visit);
  return logged_at(segments_[run.segment], run.begin + visit - 1 - run.visits_before);
}

LoggedVisit PolicyFile::logged_at(const Segment& segment, std::uint64_t i) noexcept {
  std::uint32_t action = 0;
  if (segment.actions.size() == segment.scores.size()) {
    action = segment.actions[i];
  } else {
    action = segment.actions[2 * i] | static_cast<std::uint32_t>(segment.actions[2 * i + 1]) << 8U;
  }
  return {Action(action), {segment.scores[i], segment.means.empty() ? 0.0F : segment.means[i]}};
}

void PolicyFile::policy(std::size_t cell,
                        std::uint64_t visit,
                        std::span<double> policy,
                        ReplayMemory& memory) const {
  // The state before the visit: a snapshot after `done` visits, and at least one visit replayed
  // after it.
  const std::size_t n = policy.size();
  const std::uint64_t interval = replayer_->snapshot_interval(n);
  const std::uint64_t done = visit < 2 ? 0 : (visit - 2) / interval * interval;
  std::span<const double> snapshot;
  const std::span<const Run> all = runs(cell);
  if (done > 0) {
    const Run& run = run_of(all, done);
    const std::size_t size = replayer_->snapshot_size(n);
    const std::uint64_t number = done / interval - run.visits_before / interval - 1;
    snapshot = segments_[run.segment].snapshots.subspan(run.snapshots_begin + number * size, size);
  }
  memory.visits.clear();
  if (done + 1 < visit) {
    // From run to run: a lookup for each visit would cost more than its replay.
    const Run* run = &run_of(all, done + 1);
    for (std::uint64_t i = done; i + 1 < visit; ++run) {
      const Segment& segment = segments_[run->segment];
      const std::uint64_t end = std::min(visit - 1, run->visits_before + run->count);
      for (; i < end; ++i) {
        memory.visits.push_back(logged_at(segment, run->begin + i - run->visits_before));
      }
    }
  }
  replayer_->policy(done, snapshot, memory.visits, policy, memory);
}

}  // namespace vlearn
