// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/verify/policy_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

// The limits of docs/reference/policy_format.md.
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 42U;
constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 24U;
constexpr std::uint64_t kMostSegmentEpisodes = 65536;
constexpr std::uint64_t kMostCells = std::uint64_t{1} << 25U;
constexpr std::uint64_t kMostSnapshotNumbers = std::uint64_t{1} << 24U;
constexpr double kMostParameter = 1e6;
constexpr std::uint32_t kOneByte = 256;  // actions that one byte can tell apart
constexpr float kMostScore = 0x1p41F;
constexpr float kMostMean = 2.0F;
constexpr double kLeastState = -2.0;
constexpr double kMostState = 0x1p100;

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t place) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + place, sizeof(word));
  return word;
}

/// The bytes of a payload from its front to its back.
class Cutter {
 public:
  explicit Cutter(std::span<const std::byte> bytes) : rest_(bytes) {}

  /// The next `count` numbers; nothing when there are fewer bytes.
  template <class T>
  std::optional<std::span<const T>> take(std::uint64_t count) {
    if (count > rest_.size() / sizeof(T)) return std::nullopt;
    const auto size = static_cast<std::size_t>(count) * sizeof(T);
    const auto* const begin = reinterpret_cast<const T*>(rest_.data());
    rest_ = rest_.subspan(size);
    return std::span(begin, static_cast<std::size_t>(count));
  }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

/// A list of [number, how often], each number from 1 to `largest`, `most` in all.
std::vector<std::uint32_t> repeated(const JsonValue& list,
                                    std::uint64_t most,
                                    std::uint64_t largest) {
  std::vector<std::uint32_t> numbers;
  for (const JsonValue pair : list.items()) {
    if (!pair.is_array() || pair.size() != 2) throw pair.error("want [number, how often]");
    const std::uint64_t number = pair.at(0).natural(largest);
    const std::uint64_t times = pair.at(1).natural(most - numbers.size());
    if (number == 0 || times == 0) throw pair.error("want numbers from 1 on");
    numbers.resize(numbers.size() + times, static_cast<std::uint32_t>(number));
  }
  if (numbers.empty()) throw list.error("is empty");
  return numbers;
}

std::uint64_t positive(const JsonValue& value, std::uint64_t largest) {
  const std::uint64_t number = value.natural(largest);
  if (number == 0) throw value.error("counts from 1");
  return number;
}

}  // namespace

PolicyLog::PolicyLog(FileBytes bytes, std::string source)
    : bytes_(std::move(bytes)), source_(std::move(source)), hash_(to_hex(sha256(bytes_.bytes()))) {}

Error PolicyLog::error(std::string problem) const {
  return {ErrorKind::input, source_, std::move(problem)};
}

PolicyLog PolicyLog::read(const std::filesystem::path& path) {
  return parse(FileBytes::map(path, kMostFileBytes), path.string());
}

PolicyLog PolicyLog::parse(FileBytes bytes, const std::string& source) {
  PolicyLog log(std::move(bytes), source);
  std::span<const std::byte> rest = log.bytes_.bytes().subspan(log.read_header());
  while (!rest.empty()) log.read_segment(rest);
  log.visits_ = {};
  return log;
}

std::size_t PolicyLog::read_header() {
  const std::span<const std::byte> bytes = bytes_.bytes();
  if (bytes.size() < 16) throw error("is too short for a policy file");
  const std::uint64_t size = word_at(bytes, 0);
  if (size > kMostHeaderBytes || size % 8 != 0 || size > bytes.size() - 16) {
    throw error("is no policy file: its header has an impossible length");
  }
  const std::size_t end = 8 + static_cast<std::size_t>(size);
  if (word_at(bytes, end) != xxh3(bytes.first(end))) {
    throw error("has a header with a wrong checksum");
  }
  const JsonDocument document =
      JsonDocument::parse(bytes_.text().substr(8, size), source_, {.max_bytes = kMostHeaderBytes});
  const JsonValue root = document.root();
  root.allow_keys({"format", "player", "players", "target", "rule", "control_variate",
                   "rule_parameter", "weights", "taper", "segment_episodes", "game_hash",
                   "config_hash", "max_actions", "states", "actions"});
  if (root.at("format").string() != "vlearn.policy/1") {
    throw root.at("format").error("is not one that this version reads");
  }
  num_players_ = positive(root.at("players"), kMaxPlayers);
  player_ = Player::from_number(positive(root.at("player"), num_players_));
  const std::optional<Target> target = target_named(root.at("target").string());
  if (!target) throw root.at("target").error("is no target");
  target_ = *target;
  weights_ = positive(root.at("weights"), kMaxSteps - 1);
  if (const auto taper = root.find("taper")) tapered_ = taper->boolean();
  if (tapered_ && weights_ + 1 >= kMaxSteps) throw error("has a taper and too large weights");
  segment_episodes_ = positive(root.at("segment_episodes"), kMostSegmentEpisodes);
  static_cast<void>(root.at("game_hash").string());
  static_cast<void>(root.at("config_hash").string());
  const std::uint64_t max_actions = positive(root.at("max_actions"), UINT16_MAX);
  for (const std::uint32_t states : repeated(root.at("states"), kMaxSteps - 1, kMostCells)) {
    first_cell_.push_back(first_cell_.back() + states);
    if (first_cell_.back() > kMostCells) throw root.at("states").error("are too many");
  }
  num_actions_ = repeated(root.at("actions"), first_cell_.back(), max_actions);
  if (num_actions_.size() != first_cell_.back()) {
    throw root.at("actions").error("are not one number for each state of each step");
  }
  control_variate_ = root.at("control_variate").boolean();
  const double parameter = root.at("rule_parameter").number();
  if (!(parameter >= 0.0 && parameter <= kMostParameter)) {
    throw root.at("rule_parameter").error("is impossible");
  }
  rule_ = ReplayedRule::make({.name = root.at("rule").string(),
                              .control_variate = control_variate_,
                              .horizon = first_cell_.size() - 1,
                              .parameter = parameter});
  if (!rule_) {
    throw root.at("rule").error(
        control_variate_ ? "is not known" : "is not known, or needs control variates",
        "the file may be of a later version");
  }
  const std::uint32_t most = *std::max_element(num_actions_.begin(), num_actions_.end());
  if (rule_->snapshot_size(most) > kMostSnapshotNumbers) {
    throw root.at("actions").error("are more than the rule can be replayed with");
  }
  wide_ = most > kOneByte;
  return end + 8;
}

void PolicyLog::read_segment(std::span<const std::byte>& rest) {
  const auto refuse = [&](const char* problem) {
    return error(fmt::format("segment {}: {}", segments_.size() + 1, problem));
  };
  if (!segments_.empty() && segments_.back().episodes != segment_episodes_) {
    throw refuse("follows one that is not full");
  }
  if (rest.size() < 40) throw refuse("is cut off");
  std::array<std::uint64_t, 5> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = word_at(rest, 8 * i);
  const auto [first, episodes, num_runs, numbers, checksum] = words;
  if (first != episodes_ || episodes == 0 || episodes > segment_episodes_) {
    throw refuse("does not follow the one before, or has an impossible length");
  }
  const std::uint64_t visits = episodes * (first_cell_.size() - 1);
  Segment segment;
  segment.first_episode = first;
  segment.episodes = episodes;
  segment.runs_begin = runs_.size();
  Cutter cutter(rest.subspan(40));
  const auto take = [&]<class T>(std::span<const T>& part, std::uint64_t count) {
    const std::optional<std::span<const T>> taken = cutter.take<T>(count);
    if (!taken) throw refuse("is cut off");
    part = *taken;
  };
  if (num_runs > visits) throw refuse("has more runs than visits");
  take(segment.snapshots, numbers);
  take(segment.directory, 2 * num_runs);
  take(segment.scores, visits);
  if (control_variate_) take(segment.means, visits);
  take(segment.episode_offsets, visits);
  take(segment.actions, wide_ ? 2 * visits : visits);
  const std::size_t size = rest.size() - 40 - cutter.rest().size();
  std::span<const std::uint8_t> padding;
  take(padding, (8 - size % 8) % 8);
  const std::span<const std::byte> payload = rest.subspan(40, size + padding.size());
  words[4] = xxh3(payload);
  if (xxh3(std::as_bytes(std::span(words))) != checksum) throw refuse("has a wrong checksum");
  rest = cutter.rest();
  read_runs(segment);
  segments_.push_back(segment);
  episodes_ += episodes;
}

void PolicyLog::read_runs(const Segment& segment) {
  const auto refuse = [&](const char* problem) {
    return error(fmt::format("segment {}: {}", segments_.size() + 1, problem));
  };
  const std::uint64_t visits = segment.scores.size();
  std::vector<bool> seen(visits, false);  // [step][episode]
  Run run;
  run.segment = static_cast<std::uint32_t>(segments_.size());
  std::size_t step = 0;
  for (std::size_t r = 0; r < segment.directory.size(); r += 2) {
    const std::uint32_t cell = segment.directory[r];
    run.count = segment.directory[r + 1];
    if (cell >= num_actions_.size() || (r > 0 && cell <= run.cell) || run.count == 0 ||
        run.count > visits - run.begin) {
      throw refuse("has a wrong directory");
    }
    run.cell = cell;
    while (cell >= first_cell_[step + 1]) ++step;
    for (std::uint64_t i = run.begin; i < run.begin + run.count; ++i) {
      const std::uint16_t offset = segment.episode_offsets[i];
      const std::uint64_t mark = step * segment.episodes + offset;
      if (offset >= segment.episodes || seen[mark] ||
          (i > run.begin && offset <= segment.episode_offsets[i - 1])) {
        throw refuse("has an episode twice or out of order");
      }
      seen[mark] = true;
      const ReplayedRule::Logged visit = logged(segment, i);
      if (visit.action >= num_actions_[cell]) {
        throw refuse("has an action that its player does not have");
      }
      const double least = control_variate_ ? -static_cast<double>(kMostScore) : 0.0;
      if (!(visit.score >= least && visit.score <= static_cast<double>(kMostScore)) ||
          !(std::abs(visit.mean) <= static_cast<double>(kMostMean))) {
        throw refuse("has an increment that no rule adds");
      }
    }
    runs_.push_back(run);
    const std::uint64_t interval = rule_->snapshot_interval(num_actions_[cell]);
    std::uint64_t& total = visits_[cell];
    const std::uint64_t snapshots = (total + run.count) / interval - total / interval;
    total += run.count;
    run.snapshots_begin += snapshots * rule_->snapshot_size(num_actions_[cell]);
    run.begin += run.count;
    if (run.snapshots_begin > segment.snapshots.size()) throw refuse("lacks snapshots");
  }
  if (run.begin != visits || run.snapshots_begin != segment.snapshots.size()) {
    throw refuse("has visits or snapshots that its directory does not name");
  }
  for (const double number : segment.snapshots) {
    if (!(number >= kLeastState && number <= kMostState)) {
      throw refuse("has a snapshot that no rule leaves");
    }
  }
}

ReplayedRule::Logged PolicyLog::logged(const Segment& segment, std::uint64_t place) const noexcept {
  std::size_t action = segment.actions[wide_ ? 2 * place : place];
  if (wide_) action += std::size_t{256} * segment.actions[2 * place + 1];
  return {action, static_cast<double>(segment.scores[place]),
          control_variate_ ? static_cast<double>(segment.means[place]) : 0.0};
}

}  // namespace vlearn
