// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include "vlearn/core/certificate.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/expect_error.h"

namespace vlearn {
namespace {

using test::error_of;

const std::string kDigits(64, 'a');

Certificate nested() {
  Certificate certificate;
  certificate.version = "0.1.0";
  certificate.game = "random:players=2";
  certificate.game_hash = kDigits;
  certificate.target = Target::cce;
  certificate.output = CertifiedOutput::nested;
  certificate.weights = 3;
  certificate.episodes = 1000;
  certificate.start = CertifiedStart::best;
  certificate.start_episode = 512;
  certificate.policy_hashes = {std::string(64, '0'), std::string(64, '9')};
  certificate.players = {{.name = "ann",
                          .value_lower = 0.1,
                          .value_upper = 0.1,
                          .deviation_upper = 0.25,
                          .deviation_lower = 0.125,
                          .rounding = 1e-9,
                          .gap_upper = 0.150000002,
                          .gap_lower = 0.024999998,
                          .witness = {0, 2, 1}},
                         {.name = "b\xC3\xA9"
                                  "a \"2\"",
                          .value_lower = -1.0 / 3.0,
                          .value_upper = 5e-324,
                          .deviation_upper = 1e17,
                          .rounding = 0.0,
                          .gap_upper = 1e17,
                          .witness = {}}};
  certificate.gap_upper = 1e17;
  certificate.gap_lower = 0.024999998;
  certificate.sum_upper = 2e17;
  certificate.sum_lower = -0.5;
  return certificate;
}

void expect_same(const Certificate& a, const Certificate& b) {
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.game, b.game);
  EXPECT_EQ(a.game_hash, b.game_hash);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.output, b.output);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.episodes, b.episodes);
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.start_episode, b.start_episode);
  EXPECT_EQ(a.policy_hashes, b.policy_hashes);
  EXPECT_EQ(a.stream_hash, b.stream_hash);
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.gap_upper, b.gap_upper);
  EXPECT_EQ(a.gap_lower, b.gap_lower);
  EXPECT_EQ(a.sum_upper, b.sum_upper);
  EXPECT_EQ(a.sum_lower, b.sum_lower);
  ASSERT_EQ(a.players.size(), b.players.size());
  for (std::size_t j = 0; j < a.players.size(); ++j) {
    EXPECT_EQ(a.players[j].name, b.players[j].name);
    EXPECT_EQ(a.players[j].value_lower, b.players[j].value_lower);
    EXPECT_EQ(a.players[j].value_upper, b.players[j].value_upper);
    EXPECT_EQ(a.players[j].deviation_upper, b.players[j].deviation_upper);
    EXPECT_EQ(a.players[j].deviation_lower, b.players[j].deviation_lower);
    EXPECT_EQ(a.players[j].rounding, b.players[j].rounding);
    EXPECT_EQ(a.players[j].gap_upper, b.players[j].gap_upper);
    EXPECT_EQ(a.players[j].gap_lower, b.players[j].gap_lower);
    EXPECT_EQ(a.players[j].witness, b.players[j].witness);
    EXPECT_EQ(a.players[j].value_estimate, b.players[j].value_estimate);
    EXPECT_EQ(a.players[j].deviation_estimate, b.players[j].deviation_estimate);
  }
}

Certificate there_and_back(const Certificate& certificate) {
  const std::string text = to_json(certificate);
  const Certificate read = certificate_from_json(text, "c.json");
  EXPECT_EQ(to_json(read), text);
  return read;
}

TEST(Certificate, IsReadAsItWasWritten) {
  Certificate certificate = nested();
  expect_same(certificate, there_and_back(certificate));

  certificate.start = CertifiedStart::last;
  certificate.start_episode = 1001;
  expect_same(certificate, there_and_back(certificate));

  certificate.start = CertifiedStart::uniform;
  certificate.start_episode = 0;
  expect_same(certificate, there_and_back(certificate));

  certificate.target = Target::nash;
  certificate.output = CertifiedOutput::marginals;
  certificate.start = CertifiedStart::last;
  certificate.policy_hashes.clear();
  certificate.stream_hash = kDigits;
  expect_same(certificate, there_and_back(certificate));

  // A Markov output may draw from the visits before an episode.
  certificate.start = CertifiedStart::best;
  certificate.start_episode = 1001;
  expect_same(certificate, there_and_back(certificate));
  EXPECT_TRUE(has_start(certificate));

  certificate = nested();
  certificate.method = {MethodName::data, 0.99};
  expect_same(certificate, there_and_back(certificate));
}

TEST(Certificate, AMarkovOutputStartsFromTheBestOrSaysNothing) {
  Certificate certificate = nested();
  certificate.output = CertifiedOutput::markov;
  const std::string good = to_json(certificate);
  const auto refuse = [](const std::string& text) {
    return error_of(ErrorKind::input,
                    [&] { static_cast<void>(certificate_from_json(text, "c.json")); });
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_NE(refuse(with("\"best\"", "\"last\"")).find("start.rule: is of the nested output"),
            std::string::npos);
  EXPECT_NE(refuse(with("\"best\", \"episode\": 512", "\"uniform\""))
                .find("start.rule: is of the nested output"),
            std::string::npos);
  std::string table = with("\"markov\"", "\"table\"");
  for (const char* line : {"  \"weights\": ", "  \"episodes\": "}) {
    const std::size_t begin = table.find(line);
    table.erase(begin, table.find('\n', begin) + 1 - begin);
  }
  EXPECT_NE(refuse(table).find("start: has no place with a table"), std::string::npos);
  EXPECT_NE(refuse(with("\"episodes\": 1000", "\"episodes\": 510")).find("start.episode: is 512"),
            std::string::npos);
  certificate.start = CertifiedStart::last;
  EXPECT_FALSE(has_start(certificate));
  EXPECT_EQ(to_json(certificate).find("start"), std::string::npos);
}

/// One whose bounds hold with a confidence only.
Certificate sampled() {
  Certificate certificate = nested();
  certificate.output = CertifiedOutput::markov;
  certificate.start = CertifiedStart::last;
  certificate.start_episode = 0;
  certificate.method = {MethodName::sampled, 0.99, 2000, UINT64_MAX};
  for (PlayerCertificate& player : certificate.players) {
    player.value_upper = player.value_lower + 0.25;
    player.value_estimate = player.value_lower + 0.125;
    player.deviation_estimate = 0.2;
  }
  return certificate;
}

TEST(Certificate, SaysHowItWasSampled) {
  const Certificate certificate = sampled();
  expect_same(certificate, there_and_back(certificate));
  const std::string text = to_json(certificate);
  EXPECT_NE(text.find(R"("method": {"name": "sampled", "confidence": 0.99, "samples": 2000, )"
                      R"("seed": 18446744073709551615},)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("estimate": {"value": 0.225, "deviation": 0.2, "gap": -0.0)"),
            std::string::npos);
  // Where rewards are far from 0, the difference has digits that the two have lost.
  Certificate far = certificate;
  for (PlayerCertificate& player : far.players) {
    player.value_estimate = 1e15;
    player.deviation_estimate = 1e15;
    player.gap_estimate = 0.03125;
  }
  EXPECT_EQ(there_and_back(far).players[1].gap_estimate, 0.03125);
  // Without it nothing is said of any of that.
  for (const char* word : {"method", "estimate", "confidence"}) {
    EXPECT_EQ(to_json(nested()).find(word), std::string::npos);
  }
}

TEST(Certificate, RefusesWhatCannotBeSampled) {
  const auto refuse = [](const std::string& from, const std::string& to) {
    std::string text = to_json(sampled());
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    text.replace(place, from.size(), to);
    return error_of(ErrorKind::input,
                    [&] { static_cast<void>(certificate_from_json(text, "c.json")); });
  };
  struct Damage {
    std::string from;
    std::string to;
    std::string says;
  };
  const std::vector<Damage> damages = {
      {"\"name\": \"sampled\"", "\"name\": \"guessed\"", "method.name: is not known here"},
      {"\"confidence\": 0.99", "\"confidence\": 1.0", "confidence: is not between 0 and 1"},
      {"\"confidence\": 0.99", "\"confidence\": 0", "confidence: is not between 0 and 1"},
      {"\"samples\": 2000", "\"samples\": 1", "samples: is too few"},
      {"\"seed\": 18446744073709551615", "\"seed\": -1", "seed: is -1"},
      {", \"seed\": 18446744073709551615", "", "lacks the key 'seed'"},
      {"\"method\"", "\"methods\"", "methods: is not a key"},
      {"\"estimate\"", "\"estimates\"", "estimates: is not a key"},
      {"\"deviation\": 0.2, ", "\"deviation\": 0.25, ", "gap: is not the difference"},
      {"\"kind\": \"interval\", \"lower\": 0.1, \"upper\": 0.35",
       "\"kind\": \"exact\", \"lower\": 0.1, \"upper\": 0.1",
       "is exact, but the method is sampled"},
      {"\"output\": \"markov\",", "\"output\": \"nested\", \"start\": {\"rule\": \"uniform\"},",
       "method: is for the outputs"},
  };
  for (const Damage& damage : damages) {
    EXPECT_NE(refuse(damage.from, damage.to).find(damage.says), std::string::npos)
        << damage.to << ": " << refuse(damage.from, damage.to);
  }
  // An estimate without its method, and a method without estimates.
  Certificate certificate = sampled();
  certificate.method.reset();
  EXPECT_NE(
      error_of(ErrorKind::input,
               [&] { static_cast<void>(certificate_from_json(to_json(certificate), "c.json")); })
          .find("does not fit 'method'"),
      std::string::npos);
}

TEST(Certificate, SaysOfWhichKindItsNumbersAre) {
  Certificate certificate = nested();
  certificate.players[1].deviation_lower = certificate.players[1].deviation_upper;
  const std::string text = to_json(certificate);
  EXPECT_NE(text.find(R"("value": {"kind": "exact", "lower": 0.1, "upper": 0.1})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"("deviation": {"kind": "interval", "lower": 0.125, "upper": 0.25})"),
            std::string::npos);
  EXPECT_NE(text.find(R"("value": {"kind": "interval", "lower": -0.3)"), std::string::npos);
  EXPECT_NE(text.find(R"("deviation": {"kind": "exact", "lower": 1e)"), std::string::npos);
  EXPECT_NE(to_json(nested()).find(R"("deviation": {"kind": "upper", "upper": 1e)"),
            std::string::npos);
  EXPECT_NE(text.find("\"witness\": [1, 3, 2]"), std::string::npos);
}

/// Each damage is a text that stands in the file, and what stands there instead.
TEST(Certificate, RefusesWhatIsDamaged) {
  const std::string good = to_json(nested());
  struct Damage {
    std::string from;
    std::string to;
    std::string says;
  };
  const std::vector<Damage> damages = {
      {"certificate/1", "certificate/2", "schema: is not one that this version reads"},
      {"\"version\"", "\"versions\"", "versions: is not a key"},
      {"\"game\": \"random:players=2\"", "\"game\": 3", "game: is an integer, want a string"},
      {"\"game_hash\": \"a", "\"game_hash\": \"A", "game_hash: is no SHA-256"},
      {"\"game_hash\": \"a", "\"game_hash\": \"", "game_hash: is no SHA-256"},
      {"\"cce\"", "\"nce\"", "target: is not known here"},
      {"\"nested\"", "\"nestled\"", "output: is not known here"},
      {"\"start\": {\"rule\": \"best\", \"episode\": 512},", "", "output: needs a 'start'"},
      {"\"weights\": 3", "\"weights\": 0", "weights: counts from 1"},
      {"\"weights\": 3", "\"weights\": 1048576", "weights: is 1048576, want"},
      {"\"weights\": 3", "\"weights\": 3.0", "weights: is a number, want an integer"},
      {"\"episodes\": 1000", "\"episodes\": -1", "episodes: is -1"},
      {"\"episodes\": 1000", "\"episodes\": 72057594037927936", "episodes: is 7205"},
      {"\"episodes\": 1000", "\"episodes\": 510", "start.episode: is 512"},
      {"\"best\"", "\"worst\"", "start.rule: is not known here"},
      {"\"best\"", "\"last\"", "start.episode: is not one that the rule has"},
      {"\"best\"", "\"uniform\"", "start: does not fit its rule"},
      {", \"episode\": 512", "", "start: does not fit its rule"},
      {"\"episode\": 512", "\"episode\": 0", "start.episode: is not one that the rule has"},
      {"\"policy_hashes\"", "\"hashes\"", "hashes: is not a key"},
      {"\"policy_hashes\": [", "\"stream_hash\": \"\", \"policy_hashes\": [",
       "does not say which policy"},
      {"\"policy_hashes\": [", "\"policy_hashes\": [\"" + kDigits + "\", ",
       "are not one for each player"},
      {"9\"\n", "x\"\n", "policy_hashes[1]: is no SHA-256"},
      {"\"gap\": {\"lower\": 0.024999998, \"upper\": 1e", "\"gap\": {\"lower\": 3, \"upper\": -1e",
       "gap.lower: is larger than the upper bound"},
      {"\"sum\": {\"lower\"", "\"sum\": {\"low\"", "sum.low: is not a key"},
      {"\"player\": 1", "\"player\": 2", "players[0].player: is out of order"},
      {"\"name\": \"ann\"", "\"name\": null", "players[0].name: is null"},
      {"\"kind\": \"exact\", \"lower\": 0.1,", "\"kind\": \"exact\", \"lower\": 0.0,",
       "value.kind: does not fit"},
      {"\"kind\": \"exact\", \"lower\": 0.1,", "\"kind\": \"exact\", \"lower\": 0.2,",
       "value.lower: is larger"},
      {"\"kind\": \"exact\", \"lower\": 0.1,", "\"kind\": \"upper\",",
       "value: lacks the key 'lower'"},
      {"\"kind\": \"interval\", \"lower\": 0.125", "\"kind\": \"exact\", \"lower\": 0.125",
       "deviation.kind: does not fit"},
      {"\"kind\": \"interval\", \"lower\": 0.125,", "\"kind\": \"upper\",",
       "players[0].gap.lower: needs a lower bound"},
      {"\"rounding\": 1e-", "\"rounding\": -1e-", "players[0].rounding: is negative"},
      {"\"rounding\": 1e-09", "\"rounding\": 1e999", "c.json:"},
      {"[1, 3, 2]", "[1, 0, 2]", "players[0].witness[1]: counts from 1"},
      {"[1, 3, 2]", "[1, 65536, 2]", "players[0].witness[1]: is 65536"},
      {"[1, 3, 2]", "[]", "players[0].witness: is empty"},
      {"\"gap\"", "\"method\": \"data\", \"gap\"", "method: is a string"},
      {"\"gap\"", "\"confidence\": 0.9, \"gap\"", "confidence: is not a key"},
      {"\"gap\"", "\"method\": {\"name\": \"data\"}, \"gap\"", "lacks the key 'confidence'"},
      {"\"gap\"", "\"method\": {\"name\": \"data\", \"confidence\": 1}, \"gap\"",
       "confidence: is not between 0 and 1"},
      {"\"gap\"", "\"method\": {\"name\": \"data\", \"confidence\": 0.9, \"seed\": 1}, \"gap\"",
       "method.seed: is not a key"},
      {"\"gap\": {\"upper\": 1e", "\"witness\": [1], \"gap\": {\"upper\": 1e",
       "players[1].witness: needs a lower bound"},
  };
  for (const Damage& damage : damages) {
    std::string bad = good;
    const std::size_t place = bad.find(damage.from);
    ASSERT_NE(place, std::string::npos) << damage.from << " in " << bad;
    bad.replace(place, damage.from.size(), damage.to);
    const std::string says = error_of(
        ErrorKind::input, [&] { static_cast<void>(certificate_from_json(bad, "c.json")); });
    EXPECT_NE(says.find(damage.says), std::string::npos) << damage.to << ": " << says;
  }
}

TEST(Certificate, RefusesWhatIsNone) {
  for (const char* text : {"", "[]", "{}", "{\"schema\": \"vlearn.certificate/1\"}"}) {
    error_of(ErrorKind::input, [&] { static_cast<void>(certificate_from_json(text, "c.json")); });
  }
  error_of(ErrorKind::input, [] { static_cast<void>(read_certificate("/nowhere/c.json")); });
}

}  // namespace
}  // namespace vlearn
