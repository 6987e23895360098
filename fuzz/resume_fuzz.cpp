// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What `vlearn learn --resume` reads beside the config: one file of a run that was killed is
// replaced by the input, and the run goes on. What was written before the checkpoint stays, and
// what comes after it is as if the run had never stopped; a file that is shorter than the newest
// checkpoint says leads to the one before, and else to an error that is not the program's own.
//
// The first byte chooses the file; the rest is its bytes. The two hashes of a checkpoint would stop
// nearly every change, so the right ones are put in the place of its last 32 bytes and of what it
// says of the config.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz_target.h"
#include "scratch_folder.h"
#include "vlearn/core/error.h"
#include "vlearn/core/file.h"
#include "vlearn/core/hash.h"
#include "vlearn/game/game_io.h"
#include "vlearn/run/run_folder.h"

namespace {

using namespace vlearn;

constexpr std::uint64_t kEpisodes = 40;
constexpr std::uint64_t kStride = 15;  // checkpoints after 15 and 30

constexpr const char* kNewest = "checkpoint.safetensors";
constexpr const char* kOlder = "checkpoint-old.safetensors";
constexpr const char* kTiming = "timing.jsonl";
/// Those that grow, and are cut where a run goes on.
constexpr std::array<const char*, 4> kGrowing = {
    "metrics.jsonl", "metrics.csv", "policy/player-1.policy", "policy/player-2.policy"};
constexpr std::array<const char*, 7> kChanged = {kNewest,     kOlder,      kTiming,    kGrowing[0],
                                                 kGrowing[1], kGrowing[2], kGrowing[3]};

using Files = std::map<std::string, std::string>;

Files read_files(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).string()] =
        FileBytes::read(entry.path(), std::uint64_t{1} << 24U).text();
  }
  return files;
}

void write_files(const std::filesystem::path& folder, const Files& files) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "policy");
  for (const auto& [name, text] : files) write_file(folder / name, text);
}

/// A small run that is certified while it is learned.
class Learning {
 public:
  Learning() {
    config_.learner = preset_options(Preset::practical, Target::cce);
    config_.episodes = kEpisodes;
    config_.certify = true;
  }

  /// What is told of checkpoints that are not used.
  std::string told = {};
  /// Sees the folder when a row or a checkpoint was written.
  std::function<void(std::uint64_t episodes, bool is_checkpoint)> look = {};

  [[nodiscard]] std::string config_hash() const {
    const std::string config = config_to_json(title_, config_);
    return to_hex(sha256(std::as_bytes(std::span(config))));
  }

  void run(const std::filesystem::path& path, RunFolder::Existing existing) {
    const Frame& frame = frame_of(game_);
    const auto trainer = make_trainer(ref_of(game_), config_.learner, config_.seed);
    RunCertifier certifier(game_, config_.learner.target, frame.horizon(), config_.output,
                           RunCertifier::Stream::not_hashed);
    trainer->watch(
        [&](Step h, State s, const Profile& profile) { certifier.visit(h, s, profile); });
    const RunState state{*trainer, &certifier};
    RunFolder folder(path, config_to_json(title_, config_), frame.num_players(), existing);
    folder.open(state, title_, config_, [&](const std::string& message) { told += message; });
    LearnHooks hooks;
    hooks.certifier = &certifier;
    hooks.row = [&](const MetricsRow& row) {
      folder.add(row, 0.5);
      if (look) look(row.episode, false);
    };
    hooks.checkpoint_episodes = kStride;
    hooks.checkpoint = [&] {
      folder.save_checkpoint(state);
      if (look) look(trainer->episodes(), true);
    };
    const LearnResult result = learn(*trainer, frame, config_, hooks);
    folder.finish_history(state);
    folder.finish("{}\n", *trainer, frame, config_, std::nullopt, result.stopped);
  }

 private:
  AnyGame game_ = make_game("random:players=2,states=2,actions=2,horizon=2,seed=1");
  RunTitle title_{"game", "practical", to_hex(law_hash_of(game_))};
  LearnConfig config_;
};

/// The run whose files are changed.
struct Killed {
  std::filesystem::path folder = fuzz::scratch_folder() / "run";
  Files at_kill;  // after the last row, before anything that ends a run
  Files at_end;
  std::map<std::string, std::size_t> newest;  // bytes that belong to the newest checkpoint
  std::map<std::string, std::size_t> older;

  Killed() {
    Learning learning;
    learning.look = [&](std::uint64_t episodes, bool is_checkpoint) {
      const Files files = read_files(folder);
      if (!is_checkpoint && episodes == kEpisodes) at_kill = files;
      if (!is_checkpoint) return;
      auto& sizes = episodes == kStride ? older : newest;
      for (const char* name : kGrowing) sizes[name] = files.at(name).size();
    };
    learning.run(folder, RunFolder::Existing::refuse);
    at_end = read_files(folder);
  }
};

std::string with_right_hashes(std::string text, const std::string& config_hash) {
  constexpr std::size_t commit_bytes = sizeof(Sha256Digest);
  constexpr std::string_view key = "\"config_hash\":\"";
  if (text.size() < commit_bytes) return text;
  if (const std::size_t at = text.find(key); at != std::string::npos) {
    const std::size_t begin = at + key.size();
    const std::size_t room = std::min(config_hash.size(), text.size() - begin);
    text.replace(begin, room, config_hash.substr(0, room));
  }
  const auto bytes = std::as_writable_bytes(std::span(text));
  const Sha256Digest commit = sha256(bytes.first(text.size() - commit_bytes));
  std::copy(commit.begin(), commit.end(), bytes.end() - commit_bytes);
  return text;
}

bool is_growing(const std::string& name) {
  return std::find(kGrowing.begin(), kGrowing.end(), name) != kGrowing.end();
}

/// How a growing file of so many bytes is gone on with: after so many; nothing: it cannot be.
std::optional<std::size_t> bytes_kept(const Killed& killed,
                                      const std::string& name,
                                      std::size_t size) {
  if (size >= killed.newest.at(name)) return killed.newest.at(name);
  if (size >= killed.older.at(name)) return killed.older.at(name);
  return std::nullopt;
}

/// All files but one, and but those that are never the same.
void expect_end(const Killed& killed, const Files& files, const std::string& changed) {
  fuzz::promise(files.size() == killed.at_end.size(), "the same files are there");
  for (const auto& [name, text] : killed.at_end) {
    if (name == changed || name == kTiming) continue;
    fuzz::promise(files.at(name) == text, "a run goes on as if it had never stopped");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  static const Killed killed;
  const std::string name = kChanged[data[0] % kChanged.size()];
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool is_checkpoint = name == kNewest || name == kOlder;
  Learning learning;
  if (is_checkpoint) text = with_right_hashes(text, learning.config_hash());
  Files files = killed.at_kill;
  files[name] = text;
  if (name == kOlder) files.erase(kNewest);  // else nobody reads it
  write_files(killed.folder, files);
  const std::optional<std::size_t> kept =
      is_growing(name) ? bytes_kept(killed, name, text.size()) : std::nullopt;
  try {
    learning.run(killed.folder, RunFolder::Existing::resume);
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad file is its writer's mistake");
    fuzz::promise(name == kOlder || (is_growing(name) && !kept), "who can go on does");
    return 0;
  }
  const Files end = read_files(killed.folder);
  if (is_growing(name)) {
    fuzz::promise(kept.has_value(), "what is missing is missed");
    const std::size_t cut = kept.value_or(0);
    fuzz::promise(end.at(name) == text.substr(0, cut) + killed.at_end.at(name).substr(cut),
                  "what a checkpoint has stays, and the rest is written again");
  }
  if (name == kTiming) {
    const std::size_t whole = text.rfind('\n') + 1;
    fuzz::promise(end.at(name).starts_with(text.substr(0, whole)), "whole lines stay");
  }
  // A checkpoint that was changed and taken all the same is another run.
  if (!is_checkpoint || !learning.told.empty()) expect_end(killed, end, name);
  return 0;
}
