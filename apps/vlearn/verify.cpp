// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn verify: is a certificate true? Every number of it is derived again by code of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "game_text.h"
#include "interrupt.h"
#include "progress.h"
#include "vlearn/core/certificate.h"
#include "vlearn/core/error.h"
#include "vlearn/core/json.h"
#include "vlearn/core/text.h"
#include "vlearn/core/version.h"
#include "vlearn/run/certify_run.h"
#include "vlearn/run/replay_run.h"
#include "vlearn/run/stored_policies.h"
#include "vlearn/verify/verify.h"

namespace vlearn::app {
namespace {

constexpr std::size_t kShownPlayers = 8;

struct Options {
  std::string game;
  std::vector<std::string> files;  // the last is the certificate
  std::size_t threads = 0;
  bool replay = false;
  bool as_json = false;
};

/// A folder that is gone when nobody needs it any more.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code failure;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(failure);
    std::string path = (parent / "vlearn-XXXXXX").string();
    if (failure || mkdtemp(path.data()) == nullptr) {
      throw Error(ErrorKind::usage, path, "cannot be made", "set TMPDIR to a folder with room");
    }
    path_ = path;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ScratchFolder(ScratchFolder&&) = delete;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// Of a run folder each player's file, else the files themselves.
std::vector<std::filesystem::path> policies_in(const std::vector<std::string>& words,
                                               std::size_t num_players,
                                               CertifiedOutput output) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& word : words) {
    if (!std::filesystem::is_directory(word)) {
      paths.emplace_back(word);
      continue;
    }
    const auto files = policy_paths(word, num_players, output);
    paths.insert(paths.end(), files.begin(), files.end());
  }
  return paths;
}

void write_interval(JsonWriter& json, std::string_view key, const Interval& interval) {
  json.key(key).on_one_line().begin_array().value(interval.low).value(interval.high).end_array();
}

std::string as_json(const Certificate& certificate, const Verdict& verdict) {
  JsonWriter json;
  json.begin_object().member("schema", "vlearn.verify/1").member("version", build_info().version);
  json.member("accepted", verdict.accepted).key("refuted");
  verdict.accepted ? json.null() : json.value(verdict.refuted);
  json.member("game_hash", certificate.game_hash).key("policy_hashes").begin_array();
  for (const std::string& hash : certificate.policy_hashes) json.value(hash);
  json.end_array();
  if (certificate.stream_hash) json.member("stream_hash", *certificate.stream_hash);
  json.member("numbers", verdict.rationals ? "rationals" : "intervals");
  json.key("derived").begin_array();
  for (std::size_t j = 0; j < verdict.players.size(); ++j) {
    const VerifiedPlayer& player = verdict.players[j];
    json.begin_object().member("player", std::uint64_t{j + 1});
    write_interval(json, "value_lower", player.value_lower);
    write_interval(json, "value_upper", player.value_upper);
    write_interval(json, "deviation_upper", player.deviation_upper);
    if (player.deviation_lower) write_interval(json, "deviation_lower", *player.deviation_lower);
    json.end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

std::string bounds(double upper, const std::optional<double>& lower) {
  if (lower == upper) return fmt::format("{:.6g}", upper);
  if (lower) return fmt::format("{:.6g} to {:.6g}", *lower, upper);
  return fmt::format("at most {:.6g}", upper);
}

std::string as_text(const Certificate& certificate, const Verdict& verdict) {
  if (!verdict.accepted) return "refuted: " + printable(verdict.refuted) + "\n";
  std::string text =
      fmt::format("accepted: gap {}, target {}, output {}{}; derived again in {}\n",
                  bounds(certificate.gap_upper, certificate.gap_lower), name_of(certificate.target),
                  kCertifiedOutputNames[static_cast<std::size_t>(certificate.output)],
                  certificate.output == CertifiedOutput::table
                      ? ""
                      : fmt::format(" of {} episodes", certificate.episodes),
                  verdict.rationals ? "exact rationals" : "outward-rounded intervals");
  text += fmt::format("{:<20}{:>26}{:>26}{:>28}\n", "player", "value", "deviation", "gap");
  const std::size_t players = certificate.players.size();
  for (std::size_t j = 0; j < std::min(players, kShownPlayers); ++j) {
    const PlayerCertificate& own = certificate.players[j];
    text += fmt::format("{:<20}{:>26}{:>26}{:>28}\n", printable(own.name, 18),
                        bounds(own.value_upper, own.value_lower),
                        bounds(own.deviation_upper, own.deviation_lower),
                        bounds(own.gap_upper, own.gap_lower));
  }
  if (players > kShownPlayers) {
    text += fmt::format("... and {} more (--json has all)\n", players - kShownPlayers);
  }
  return text;
}

ExitCode report(const Options& options, const Certificate& certificate, const Verdict& verdict) {
  print(options.as_json ? as_json(certificate, verdict) : as_text(certificate, verdict));
  return verdict.accepted ? ExitCode::good : ExitCode::gap;
}

/// A certificate of more episodes than were played is not worth playing for.
void check_episodes(const StoredRun& run, const Certificate& certificate) {
  const std::filesystem::path file = run.path / "result.json";
  const JsonDocument result = JsonDocument::read(file);
  if (result.root().at("episodes").natural(UINT64_MAX) != certificate.episodes) {
    throw Error(ErrorKind::input, file.string(), "is of other episodes than the certificate");
  }
}

/// Plays the run again, for the policies that it did not keep, and verifies with them.
ExitCode replay(const Options& options, const LoadedGame& loaded, const Certificate& certificate) {
  if (options.files.size() != 2) {
    throw Error(ErrorKind::usage, "--replay", "wants a run and its certificate");
  }
  if (!certificate.stream_hash) {
    throw Error(ErrorKind::usage, "--replay", "is for certificates of runs without a history",
                "leave it out: the policies are there");
  }
  const StoredRun run = read_run(options.files.front());
  if (run.title.game_hash != to_hex(law_hash_of(loaded.game))) {
    throw Error(ErrorKind::input, options.files.front(), "is a run of another game");
  }
  check_episodes(run, certificate);
  const ScratchFolder scratch;
  const CancelToken cancel = stop_on_signals();
  const std::filesystem::path again = scratch.path() / "run";
  Progress progress({.work = "playing the run again"});
  const std::string hash = replay_run(run, loaded, certificate.episodes, again, cancel);
  progress.end();
  if (cancel.requested()) return interrupted();
  if (hash != *certificate.stream_hash) {
    if (run.version != build_info().version) {
      throw Error(ErrorKind::input, options.files.front(),
                  fmt::format("was played by version {}, and this is {}, which may draw other bits",
                              printable(run.version, 40), build_info().version),
                  "verify it with the version that played it");
    }
    Verdict verdict;
    verdict.refuted =
        fmt::format("stream_hash: stated {}, derived {}", *certificate.stream_hash, hash);
    return report(options, certificate, verdict);
  }
  const auto paths = policy_paths(again, frame_of(loaded.game).num_players(), certificate.output);
  Certificate with_files = certificate;
  with_files.stream_hash.reset();
  with_files.policy_hashes = certificate_title(run.title, loaded, paths).policy_hashes;
  try {
    return report(options, certificate,
                  verify(loaded.game, paths, with_files,
                         {.parallel = {.threads = options.threads, .cancel = cancel},
                          .certificate = options.files.back()}));
  } catch (const Cancelled&) {
    return interrupted();
  }
}

ExitCode run(const Options& options) {
  if (options.files.size() < 2) {
    throw Error(ErrorKind::usage, "verify", "wants a run or policy files, and a certificate",
                "vlearn verify GAME RUN CERTIFICATE");
  }
  const Certificate certificate = read_certificate(options.files.back());
  const LoadedGame loaded = load(options.game);
  if (certificate.stream_hash && !options.replay) {
    throw Error(ErrorKind::usage, options.files.back(), "is of a run that kept no policies",
                "play it again to have them: vlearn verify --replay GAME RUN CERTIFICATE");
  }
  if (options.replay) return replay(options, loaded, certificate);
  const std::vector<std::filesystem::path> policies =
      policies_in({options.files.begin(), options.files.end() - 1},
                  frame_of(loaded.game).num_players(), certificate.output);
  const CancelToken cancel = stop_on_signals();
  Progress progress({.work = "verifying"});
  const Verdict verdict = verify(loaded.game, policies, certificate,
                                 {.parallel = {.threads = options.threads, .cancel = cancel},
                                  .certificate = options.files.back()});
  progress.end();
  return report(options, certificate, verdict);
}

}  // namespace

void add_verify(CLI::App& app, Task& task) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("verify", "Check a certificate, number by number");
  command->footer(
      "Examples:\n"
      "  vlearn verify soccer runs/soccer-1 runs/soccer-1/certificate.json\n"
      "  vlearn verify game.json player-1.policy player-2.policy certificate.json --json\n\n"
      "Reads the game and the policy files, replays what was played, and derives every number of "
      "the certificate\nagain, with code that shares nothing with what made it but the game, the "
      "file "
      "formats and `core`.\n\nExit code 0: all of it is true. 4: the message names the first "
      "number "
      "that is not. 2: it holds with a confidence\nonly (certify --method sampled), so it cannot "
      "be "
      "derived again; the message has the command that repeats it.\n\n" +
      what_game_is());
  command->add_option("game", options->game, "GAME")->required();
  command
      ->add_option("files", options->files,
                   "RUN, or the policy files of all players; then the certificate")
      ->required();
  command->add_option("--threads", options->threads, "0 (default): one per core")
      ->check(CLI::Range(std::size_t{0}, kMaxThreads));
  command->add_flag("--replay", options->replay,
                    "Of a run without a history: play it again from its seed to have the policies");
  command->add_flag("--json", options->as_json, "One JSON object");
  command->callback([options, &task] { task = [options] { return run(*options); }; });
}

}  // namespace vlearn::app
