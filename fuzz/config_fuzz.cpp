// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// config.json: what is read can be written and reads back as itself, its command can be told, and
// what it wants can be learned or is refused as the user's mistake.
#include <string>
#include <string_view>

#include "command_line.h"
#include "fuzz_target.h"
#include "run_files.h"
#include "vlearn/core/error.h"
#include "vlearn/game/any_game.h"
#include "vlearn/run/trainer.h"

namespace {

using namespace vlearn;

const AnyGame& game() {
  static const AnyGame made =
      make_game("random:players=2,states=2,actions=2,horizon=2,kind=zero-sum,seed=1");
  return made;
}

/// A page shows its members and its command.
void show(const ConfigFile& config) {
  try {
    static_cast<void>(group_of(members_of(config.document)));
    static_cast<void>(command_of(config, game(), "game"));
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input, "a bad value is the writer's mistake");
    fuzz::promise(error.place().starts_with("run/config.json"), "an error names the file");
  }
}

void learn(const LearnConfig& config) {
  try {
    const auto trainer = make_trainer(ref_of(game()), config.learner, config.seed);
    trainer->play_until(2, {});
    fuzz::promise(trainer->episodes() == 2, "what is accepted can be learned");
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::usage, "a choice that does not fit is the user's");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::optional<ConfigFile> config;
  try {
    config.emplace(parse_config(text, "run"));
  } catch (const Error& error) {
    fuzz::promise(error.kind() == ErrorKind::input || error.kind() == ErrorKind::resource,
                  "a bad file is its writer's mistake");
    fuzz::promise(error.place().starts_with("run/config.json"), "an error names the file");
    return 0;
  }
  show(*config);
  if (config->kind != RunView::Kind::learned) return 0;
  const std::string once = config_to_json(config->run.title, config->run.config);
  const StoredRun again = parse_run(once, "written");
  fuzz::promise(config_to_json(again.title, again.config) == once,
                "a written config reads back as itself");
  learn(config->run.config);
  return 0;
}
