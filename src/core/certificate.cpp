// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/certificate.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "vlearn/core/json.h"
#include "vlearn/core/random.h"

namespace vlearn {
namespace {

constexpr std::string_view kSchema = "vlearn.certificate/1";
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kMaxActions = UINT16_MAX;

/// At most `upper` and, where it is known, at least `lower`.
struct Bounds {
  double upper = 0.0;
  std::optional<double> lower = std::nullopt;
};

std::string_view kind_of(const Bounds& bounds) {
  if (!bounds.lower) return "upper";
  return *bounds.lower == bounds.upper ? "exact" : "interval";
}

template <class Enum, std::size_t kSize>
std::string_view name_in(const std::array<std::string_view, kSize>& names, Enum choice) {
  return names.at(static_cast<std::size_t>(choice));
}

template <class Enum, std::size_t kSize>
Enum choice_in(const std::array<std::string_view, kSize>& names, const JsonValue& value) {
  const auto* const found = std::find(names.begin(), names.end(), value.string());
  if (found == names.end()) {
    std::string known;
    for (const std::string_view name : names)
      known += (known.empty() ? "" : ", ") + std::string(name);
    throw value.error("is not known here", "want one of " + known);
  }
  return static_cast<Enum>(found - names.begin());
}

void write_numbers(JsonWriter& json, const Bounds& bounds) {
  if (bounds.lower) json.member("lower", *bounds.lower);
  json.member("upper", bounds.upper).end_object();
}

void write_bounds(JsonWriter& json, std::string_view key, const Bounds& bounds) {
  json.key(key).on_one_line().begin_object();
  write_numbers(json, bounds);
}

void write_with_kind(JsonWriter& json, std::string_view key, const Bounds& bounds) {
  json.key(key).on_one_line().begin_object().member("kind", kind_of(bounds));
  write_numbers(json, bounds);
}

void write_player(JsonWriter& json, std::uint64_t number, const PlayerCertificate& player) {
  json.begin_object().member("player", number).member("name", player.name);
  write_with_kind(json, "value", {player.value_upper, player.value_lower});
  write_with_kind(json, "deviation", {player.deviation_upper, player.deviation_lower});
  json.member("rounding", player.rounding);
  write_bounds(json, "gap", {player.gap_upper, player.gap_lower});
  if (player.value_estimate && player.deviation_estimate) {
    json.key("estimate").on_one_line().begin_object();
    json.member("value", *player.value_estimate).member("deviation", *player.deviation_estimate);
    const double difference = *player.deviation_estimate - *player.value_estimate;
    json.member("gap", player.gap_estimate.value_or(difference)).end_object();
  }
  if (!player.witness.empty()) {
    json.key("witness").on_one_line().begin_array();
    for (const std::uint32_t action : player.witness) json.value(std::uint64_t{action} + 1);
    json.end_array();
  }
  json.end_object();
}

Bounds read_numbers(const JsonValue& value) {
  Bounds bounds{value.at("upper").number()};
  if (const auto lower = value.find("lower")) {
    bounds.lower = lower->number();
    if (!(*bounds.lower <= bounds.upper)) throw lower->error("is larger than the upper bound");
  }
  return bounds;
}

Bounds read_bounds(const JsonValue& value) {
  value.allow_keys({"lower", "upper"});
  return read_numbers(value);
}

Bounds read_with_kind(const JsonValue& value) {
  value.allow_keys({"kind", "lower", "upper"});
  const Bounds bounds = read_numbers(value);
  if (value.at("kind").string() != kind_of(bounds)) {
    throw value.at("kind").error("does not fit the numbers",
                                 "want '" + std::string(kind_of(bounds)) + "'");
  }
  return bounds;
}

std::string read_hash(const JsonValue& value) {
  const std::string_view digits = value.string();
  const bool hex =
      digits.size() == kHashDigits && std::all_of(digits.begin(), digits.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
      });
  if (!hex) throw value.error("is no SHA-256", "want 64 digits, 0 to 9 and a to f");
  return std::string(digits);
}

std::vector<std::uint32_t> read_witness(const JsonValue& value) {
  std::vector<std::uint32_t> witness;
  for (const JsonValue item : value.items()) {
    const std::uint64_t action = item.natural(kMaxActions);
    if (action == 0) throw item.error("counts from 1");
    witness.push_back(static_cast<std::uint32_t>(action - 1));
  }
  if (witness.empty()) throw value.error("is empty", "leave it out");
  return witness;
}

void read_estimate(const JsonValue& value, PlayerCertificate& player) {
  value.allow_keys({"value", "deviation", "gap"});
  player.value_estimate = value.at("value").number();
  player.deviation_estimate = value.at("deviation").number();
  player.gap_estimate = value.at("gap").number();
  // The two may have lost digits that the difference has.
  const double difference = *player.deviation_estimate - *player.value_estimate;
  const double size = std::abs(*player.deviation_estimate) + std::abs(*player.value_estimate) +
                      std::abs(player.value_lower) + std::abs(player.value_upper);
  if (!(std::abs(*player.gap_estimate - difference) <= 1e-9 * size)) {
    throw value.at("gap").error("is not the difference of the two");
  }
}

PlayerCertificate read_player(const JsonValue& value, std::uint64_t number, bool sampled) {
  value.allow_keys(
      {"player", "name", "value", "deviation", "rounding", "gap", "estimate", "witness"});
  if (value.at("player").natural(kMaxPlayers) != number) {
    throw value.at("player").error("is out of order", "want all players from 1 on");
  }
  PlayerCertificate player;
  player.name = std::string(value.at("name").string());
  const Bounds worth = read_with_kind(value.at("value"));
  if (!worth.lower) throw value.at("value").error("lacks the key 'lower'", "add it");
  player.value_lower = *worth.lower;
  player.value_upper = worth.upper;
  const Bounds deviation = read_with_kind(value.at("deviation"));
  player.deviation_upper = deviation.upper;
  player.deviation_lower = deviation.lower;
  player.rounding = value.at("rounding").number();
  if (!(player.rounding >= 0.0)) throw value.at("rounding").error("is negative");
  const Bounds gap = read_bounds(value.at("gap"));
  player.gap_upper = gap.upper;
  player.gap_lower = gap.lower;
  if (gap.lower && !deviation.lower) {
    throw value.at("gap").at("lower").error("needs a lower bound of the deviation");
  }
  const auto estimate = value.find("estimate");
  if (estimate.has_value() != sampled) {
    throw value.error("does not fit 'method'", "players have an 'estimate' where it is sampled");
  }
  if (estimate) {
    read_estimate(*estimate, player);
    const bool exact =
        worth.lower == worth.upper || (deviation.lower && deviation.lower == deviation.upper);
    if (exact) throw value.error("is exact, but the method is sampled");
  }
  if (const auto witness = value.find("witness")) {
    if (!deviation.lower) throw witness->error("needs a lower bound of the deviation");
    player.witness = read_witness(*witness);
  }
  return player;
}

void read_start(const JsonValue& root, Certificate& certificate) {
  const auto start = root.find("start");
  const bool nested = certificate.output == CertifiedOutput::nested;
  if (nested && !start)
    throw root.at("output").error("needs a 'start'", "the nested output has one");
  if (!start) return;
  if (certificate.output == CertifiedOutput::table) {
    throw start->error("has no place with a table");
  }
  start->allow_keys({"rule", "episode"});
  certificate.start = choice_in<CertifiedStart>(kCertifiedStartNames, start->at("rule"));
  if (!nested && certificate.start != CertifiedStart::best) {
    throw start->at("rule").error("is of the nested output", "want best, or no 'start'");
  }
  const auto episode = start->find("episode");
  if ((certificate.start == CertifiedStart::uniform) == episode.has_value()) {
    throw start->error("does not fit its rule",
                       "'last' and 'best' have an episode, 'uniform' none");
  }
  if (!episode) {
    if (certificate.episodes == 0) throw start->error("draws from no episodes");
    return;
  }
  const std::uint64_t after = certificate.episodes + 1;
  certificate.start_episode = episode->natural(after);
  const bool last = certificate.start == CertifiedStart::last;
  if (certificate.start_episode < (last ? after : 1)) {
    throw episode->error("is not one that the rule has",
                         last ? "want one more than all" : "counts from 1");
  }
}

UncertainMethod read_method(const JsonValue& value) {
  UncertainMethod method;
  const JsonValue name = value.at("name");
  const auto* const found = std::find(kMethodNames.begin(), kMethodNames.end(), name.string());
  if (found == kMethodNames.end()) throw name.error("is not known here", "want sampled or data");
  method.name = static_cast<MethodName>(found - kMethodNames.begin());
  method.confidence = value.at("confidence").number();
  if (!(method.confidence > 0.0 && method.confidence < 1.0)) {
    throw value.at("confidence").error("is not between 0 and 1");
  }
  if (method.name == MethodName::data) {
    value.allow_keys({"name", "confidence"});
    return method;
  }
  value.allow_keys({"name", "confidence", "samples", "seed"});
  method.samples = value.at("samples").natural(kMaxEpisodes - 1);
  if (method.samples < 2) throw value.at("samples").error("is too few", "want 2 at least");
  method.seed = value.at("seed").natural(UINT64_MAX);
  return method;
}

void read_policies(const JsonValue& root, Certificate& certificate) {
  const auto policies = root.find("policy_hashes");
  const auto stream = root.find("stream_hash");
  if (policies.has_value() == stream.has_value()) {
    throw root.error("does not say which policy it is about",
                     "want either 'policy_hashes' or 'stream_hash'");
  }
  if (stream) {
    certificate.stream_hash = read_hash(*stream);
    return;
  }
  for (const JsonValue hash : policies->items())
    certificate.policy_hashes.push_back(read_hash(hash));
  if (certificate.policy_hashes.size() != certificate.players.size()) {
    throw policies->error("are not one for each player");
  }
}

Certificate certificate_in(const JsonDocument& document) {
  const JsonValue root = document.root();
  root.allow_keys({"schema", "version", "game", "game_hash", "target", "output", "weights", "taper",
                   "episodes", "start", "method", "policy_hashes", "stream_hash", "gap", "sum",
                   "players"});
  if (root.at("schema").string() != kSchema) {
    throw root.at("schema").error("is not one that this version reads",
                                  "want " + std::string(kSchema));
  }
  Certificate certificate;
  certificate.version = std::string(root.at("version").string());
  certificate.game = std::string(root.at("game").string());
  certificate.game_hash = read_hash(root.at("game_hash"));
  certificate.target = choice_in<Target>(kTargetNames, root.at("target"));
  certificate.output = choice_in<CertifiedOutput>(kCertifiedOutputNames, root.at("output"));
  if (certificate.output != CertifiedOutput::table) {
    certificate.weights = root.at("weights").natural(kMaxSteps - 1);
    if (certificate.weights == 0) throw root.at("weights").error("counts from 1");
    if (const auto taper = root.find("taper")) {
      if (certificate.output == CertifiedOutput::nested) {
        throw taper->error("has no place with the output nested");
      }
      certificate.taper = taper->boolean();
      if (certificate.taper && certificate.weights + 1 >= kMaxSteps) {
        throw taper->error("has no place with such weights");
      }
    }
    certificate.episodes = root.at("episodes").natural(kMaxEpisodes - 1);
  } else {
    for (const char* key : {"weights", "taper", "episodes", "stream_hash"}) {
      if (const auto value = root.find(key)) throw value->error("has no place with a table");
    }
  }
  read_start(root, certificate);
  if (const auto method = root.find("method")) {
    certificate.method = read_method(*method);
    if (is_sampled(certificate) &&
        (certificate.output == CertifiedOutput::nested ||
         certificate.output == CertifiedOutput::table || root.find("stream_hash"))) {
      throw method->error("is for the outputs markov and marginals of policy files");
    }
    if (is_sampled(certificate) && root.find("start")) {
      throw root.at("start").error("has no place here", "what is sampled draws from all visits");
    }
    if (!is_sampled(certificate) && certificate.output != CertifiedOutput::nested) {
      throw method->error("is for the output nested");
    }
  }
  for (const JsonValue player : root.at("players").items()) {
    certificate.players.push_back(
        read_player(player, certificate.players.size() + 1, is_sampled(certificate)));
  }
  if (certificate.players.empty()) throw root.at("players").error("is empty");
  read_policies(root, certificate);
  const Bounds gap = read_bounds(root.at("gap"));
  const Bounds sum = read_bounds(root.at("sum"));
  certificate.gap_upper = gap.upper;
  certificate.gap_lower = gap.lower;
  certificate.sum_upper = sum.upper;
  certificate.sum_lower = sum.lower;
  return certificate;
}

}  // namespace

std::string to_json(const Certificate& certificate) {
  JsonWriter json;
  json.begin_object().member("schema", kSchema).member("version", certificate.version);
  json.member("game", certificate.game).member("game_hash", certificate.game_hash);
  json.member("target", name_of(certificate.target));
  json.member("output", name_in(kCertifiedOutputNames, certificate.output));
  if (certificate.output != CertifiedOutput::table) {
    json.member("weights", certificate.weights);
    if (certificate.taper) json.member("taper", true);
    json.member("episodes", certificate.episodes);
  }
  if (has_start(certificate)) {
    json.key("start").on_one_line().begin_object();
    json.member("rule", name_in(kCertifiedStartNames, certificate.start));
    if (certificate.start != CertifiedStart::uniform)
      json.member("episode", certificate.start_episode);
    json.end_object();
  }
  if (certificate.method) {
    json.key("method").on_one_line().begin_object();
    json.member("name", name_of(certificate.method->name));
    json.member("confidence", certificate.method->confidence);
    if (is_sampled(certificate)) {
      json.member("samples", certificate.method->samples).member("seed", certificate.method->seed);
    }
    json.end_object();
  }
  if (certificate.stream_hash) {
    json.member("stream_hash", *certificate.stream_hash);
  } else {
    json.key("policy_hashes").begin_array();
    for (const std::string& hash : certificate.policy_hashes) json.value(hash);
    json.end_array();
  }
  write_bounds(json, "gap", {certificate.gap_upper, certificate.gap_lower});
  write_bounds(json, "sum", {certificate.sum_upper, certificate.sum_lower});
  json.key("players").begin_array();
  std::uint64_t number = 0;
  for (const PlayerCertificate& player : certificate.players) write_player(json, ++number, player);
  return json.end_array().end_object().text() + "\n";
}

Certificate certificate_from_json(std::string_view text, const std::string& source) {
  return certificate_in(JsonDocument::parse(text, source));
}

Certificate read_certificate(const std::filesystem::path& path) {
  return certificate_in(JsonDocument::read(path));
}

}  // namespace vlearn
