// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// vlearn.game/1: what files mean, and what is said about those that mean nothing.
#include <gtest/gtest.h>

#include <string>

#include "support/expect_error.h"
#include "vlearn/game/evaluate.h"
#include "vlearn/game/game_io.h"

namespace vlearn {
namespace {

using test::error_of;

/// A file of the given members; single quotes stand for double ones.
std::string file_of(std::string members) {
  for (char& c : members) {
    if (c == '\'') c = '"';
  }
  return "{\"format\": \"vlearn.game/1\",\n" + members + "}";
}

LoadedGame game_of(const std::string& members) {
  return parse_game_json(file_of(members), "game.json");
}

std::string message_of(const std::string& members) {
  return error_of(ErrorKind::input, [&] { static_cast<void>(game_of(members)); });
}

void expect_message(const std::string& members, const std::vector<std::string>& parts) {
  const std::string message = message_of(members);
  EXPECT_EQ(message.rfind("game.json", 0), 0U) << message;
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "want '" << part << "' in: " << message;
  }
}

/// Two players, two states, two actions; rules are the test's.
std::string meadow(const std::string& rules, const std::string& more = "") {
  return "'players': ['ann', 'bob'], 'states': ['green', 'bare'], 'actions': ['graze', 'wait'],\n"
         "'horizon': 3" +
         more + ",\n'rules': [" + rules + "]";
}
constexpr const char* kStay = "{'next': {'green': 0.5, 'bare': 0.5}}";

struct Cell {
  std::vector<double> rewards;  // [player][joint]
  std::vector<std::vector<double>> rows;
};

/// Everything that a table game says about one cell, in the user's units.
Cell cell_of(const LoadedGame& loaded, std::size_t cell) {
  return std::visit(
      [&](const auto& game) -> Cell {
        using Game = std::decay_t<decltype(game)>;
        Cell result;
        if constexpr (std::is_same_v<Game, DenseGame> || std::is_same_v<Game, SparseGame>) {
          const Frame& frame = game.frame();
          const std::size_t joints = *frame.num_joint_actions(cell);
          for (const Player player : all<Player>(frame.num_players())) {
            for (std::size_t joint = 0; joint < joints; ++joint) {
              result.rewards.push_back(game.user_reward(player, cell, joint));
            }
          }
          for (std::size_t joint = 0; joint < joints; ++joint) {
            std::vector<double> row(frame.next_states()[cell], 0.0);
            if (!row.empty()) {
              game.rows().for_each(cell, joint, [&](State s, double p) { row[s.index()] = p; });
            }
            result.rows.push_back(row);
          }
        }
        return result;
      },
      loaded.game);
}

TEST(GameJson, TheFirstRuleThatSaysItWins) {
  const LoadedGame loaded =
      game_of(meadow("{'state': 'green', 'actions': ['graze', 'wait'], 'reward': [7, 1]},"
                     "{'state': 'green', 'own': 'graze', 'reward': 2},"
                     "{'actions': {'bob': 'graze'}, 'reward': {'bob': 0.5}},"
                     "{'reward': 0, 'next': 'bare', 'state': 'bare'},"
                     "{'count': {'graze': 2}, 'next': 'bare'},"
                     "{'reward': 0, 'next': {'green': '2/3', 'bare': '1/3'}, 'note': 'the rest'}"));
  const Cell green = cell_of(loaded, 0);
  // Joint actions: (g,g) (g,w) (w,g) (w,w).
  EXPECT_EQ(green.rewards, (std::vector<double>{2, 7, 0, 0, 2, 1, 2, 0}));
  const std::vector<double> mixed = {2.0 / 3.0, 1.0 / 3.0};
  EXPECT_EQ(green.rows, (std::vector<std::vector<double>>{{0, 1}, mixed, mixed, mixed}));
  const Cell bare = cell_of(loaded, 1);
  EXPECT_EQ(bare.rewards, (std::vector<double>{0, 0, 0, 0, 0.5, 0, 0.5, 0}));
  EXPECT_EQ(bare.rows, (std::vector<std::vector<double>>(4, {0, 1})));
  // Ranges are the smallest and largest reward of each.
  EXPECT_EQ(frame_of(loaded.game).range(Player(0)), (RewardRange{0, 7}));
  EXPECT_EQ(frame_of(loaded.game).range(Player(1)), (RewardRange{0, 2}));
  EXPECT_TRUE(frame_of(loaded.game).stationary());
}

TEST(GameJson, StepsMakeAGameStepDependent) {
  const LoadedGame loaded =
      game_of(meadow("{'step': [1, 3], 'reward': 1}, {'step': 2, 'reward': 0}, "
                     "{'step': 1, 'next': 'bare'}, {'next': 'green'}"));
  const Frame& frame = frame_of(loaded.game);
  EXPECT_FALSE(frame.stationary());
  EXPECT_EQ(frame.num_cells(), 6U);
  EXPECT_EQ(cell_of(loaded, 0).rows[0], (std::vector<double>{0, 1}));
  EXPECT_EQ(cell_of(loaded, 2).rows[3], (std::vector<double>{1, 0}));
  EXPECT_TRUE(cell_of(loaded, 4).rows[0].empty());  // the last step leads nowhere
  EXPECT_EQ(cell_of(loaded, 2).rewards[0], 0.0);
  EXPECT_EQ(cell_of(loaded, 4).rewards[0], 1.0);
}

TEST(GameJson, StatesMayChangeFromStepToStep) {
  const LoadedGame loaded = game_of(
      "'players': 1, 'actions': ['a', 'b'], 'horizon': 3,"
      "'states': [['start'], ['left', 'right'], 2],"
      "'rules': [{'state': 'start', 'actions': ['a'], 'next': 'left'},"
      "          {'state': 'start', 'next': 'right'},"
      "          {'state': ['left', 'right'], 'next': {'1': 0.25, '2': 0.75}},"
      "          {'state': ['left', '2'], 'reward': 1}, {'reward': 0}]");
  EXPECT_EQ(frame_of(loaded.game).num_states(Step(1)), 2U);
  EXPECT_EQ(loaded.about.names.state(Step(1), State(1)), "right");
  EXPECT_EQ(loaded.about.names.state(Step(2), State(1)), "2");
  EXPECT_EQ(cell_of(loaded, 0).rows, (std::vector<std::vector<double>>{{1, 0}, {0, 1}}));
  EXPECT_EQ(cell_of(loaded, 1).rows[1], (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(cell_of(loaded, 4).rewards, (std::vector<double>{1, 1}));
  EXPECT_EQ(law_hash_of(parse_game_json(game_to_json(loaded), "again").game),
            law_hash_of(loaded.game));
}

// One rule, and states of one name at other places in the next step's list.
TEST(GameJson, ARowIsLookedUpInTheStatesOfTheNextStep) {
  const LoadedGame loaded = game_of(
      "'players': 1, 'actions': 1, 'horizon': 3, 'states': [['a', 'b'], ['b', 'a'], ['a', 'b', "
      "'c']],"
      "'rules': [{'reward': 0, 'next': {'a': 0.25, 'b': 0.75}}]");
  EXPECT_EQ(cell_of(loaded, 0).rows[0], (std::vector<double>{0.75, 0.25}));
  EXPECT_EQ(cell_of(loaded, 2).rows[0], (std::vector<double>{0.25, 0.75, 0}));
  expect_message(
      "'players': 1, 'actions': 1, 'horizon': 2, 'states': [['a'], ['b']],"
      "'rules': [{'step': 2, 'state': 'a', 'reward': 0}]",
      {"'a' is not a state of step 2"});
  expect_message(
      "'players': 1, 'actions': 1, 'horizon': 2, 'states': 2,"
      "'rules': [{'step': 2, 'reward': 0, 'next': '1'}]",
      {"rules[0].next", "the last step leads nowhere", "leave it out"});
}

// The order in which an object lists the players does not matter, neither for what a rule matches
// nor for which keys it names.
TEST(GameJson, ObjectsOfPlayersHaveNoOrder) {
  const LoadedGame loaded =
      game_of(meadow("{'actions': {'bob': 'wait', 'ann': 'graze'}, 'reward': 1}, {'reward': 0}," +
                     std::string(kStay)));
  EXPECT_EQ(cell_of(loaded, 0).rewards, (std::vector<double>{0, 1, 0, 0, 0, 1, 0, 0}));
  expect_message(meadow("{'actions': {'bob': 'wait', 'ann': 'graze'}, 'reward': 1},"
                        "{'actions': {'ann': 'graze', 'bob': 'wait'}, 'reward': 1}"),
                 {"twice"});
}

TEST(GameJson, NumbersAsNamesAreWrittenPlainly) {
  expect_message(
      "'players': 2, 'actions': 2, 'horizon': 1,"
      "'rules': [{'actions': ['01', '1'], 'reward': 0}]",
      {"'01' is no action"});
  const LoadedGame loaded = load_game("congestion-10");
  error_of(ErrorKind::usage,
           [&] { static_cast<void>(loaded.about.names.find_player(frame_of(loaded.game), "01")); });
}

TEST(GameJson, ActionsMayDiffer) {
  const LoadedGame loaded = game_of(
      "'players': ['ann', 'bob'], 'states': ['door', 'yard'], 'horizon': 2,"
      "'actions': [{'player': 'ann', 'state': 'door', 'actions': ['knock', 'kick', 'leave']},"
      "            {'state': 'yard', 'actions': 1}, {'actions': ['open', 'hide']}],"
      "'rules': [{'actions': {'ann': ['knock', 'kick'], 'bob': 'open'}, 'reward': 3},"
      "          {'state': 'yard', 'actions': ['1', '1'], 'reward': 1},"
      "          {'reward': 0}, {'next': 'yard'}]");
  const Frame& frame = frame_of(loaded.game);
  EXPECT_EQ(frame.num_actions(Player(0), Step(0), State(0)), 3U);
  EXPECT_EQ(frame.num_actions(Player(1), Step(0), State(0)), 2U);
  EXPECT_EQ(frame.num_actions(Player(1), Step(0), State(1)), 1U);
  EXPECT_EQ(cell_of(loaded, 0).rewards, (std::vector<double>{3, 0, 3, 0, 0, 0, 3, 0, 3, 0, 0, 0}));
  EXPECT_EQ(cell_of(loaded, 1).rewards, (std::vector<double>{1, 1}));
  EXPECT_EQ(loaded.about.names.action(frame, Player(0), Step(0), State(0), Action(1U)), "kick");
  EXPECT_EQ(loaded.about.names.find_action(frame, Player(1), Step(0), State(0), "hide"),
            Action(1U));
  EXPECT_NE(error_of(ErrorKind::usage,
                     [&] {
                       static_cast<void>(loaded.about.names.find_action(frame, Player(0), Step(0),
                                                                        State(0), "kik"));
                     })
                .find("did you mean 'kick'?"),
            std::string::npos);
  EXPECT_NE(
      error_of(ErrorKind::usage,
               [&] { static_cast<void>(loaded.about.names.find_state(frame, Step(0), "dor")); })
          .find("did you mean 'door'?"),
      std::string::npos);
  const LoadedGame again = parse_game_json(game_to_json(loaded), "again");
  EXPECT_EQ(law_hash_of(again.game), law_hash_of(loaded.game));
  EXPECT_EQ(game_to_json(again), game_to_json(loaded));
}

TEST(GameJson, TerminalStatesEndTheGame) {
  const LoadedGame loaded = game_of(
      "'players': ['a'], 'states': ['on', 'over'], 'actions': ['stop', 'go'], 'horizon': 4,"
      "'terminal': ['over'],"
      "'rules': [{'actions': ['stop'], 'reward': 2, 'next': 'over'},"
      "          {'reward': 1, 'next': {'on': 0.5, 'over': 0.5}}]");
  const Frame& frame = frame_of(loaded.game);
  EXPECT_EQ(frame.num_actions(Player(0), Step(0), State(1)), 1U);
  EXPECT_EQ(frame.range(Player(0)), (RewardRange{0, 2}));  // extended by 0
  EXPECT_EQ(cell_of(loaded, 1).rewards, (std::vector<double>{0}));
  EXPECT_EQ(cell_of(loaded, 1).rows, (std::vector<std::vector<double>>{{0, 1}}));
  const std::string text = game_to_json(loaded);
  EXPECT_NE(text.find("\"terminal\": [\"over\"]"), std::string::npos) << text;
  EXPECT_EQ(law_hash_of(parse_game_json(text, "again").game), law_hash_of(loaded.game));
  expect_message(
      "'players': 1, 'states': ['on', 'over'], 'actions': 2, 'horizon': 4,"
      "'terminal': ['over'], 'rules': [{'state': 'over', 'reward': 1}]",
      {"is a terminal state", "remove it"});
  expect_message(
      "'players': 1, 'states': ['on'], 'actions': 2, 'horizon': 4,"
      "'terminal': ['on'], 'rules': []",
      {"all states are terminal"});
  expect_message(
      "'players': 1, 'states': [['s'], ['over'], ['t']], 'actions': 2, 'horizon': 3,"
      "'terminal': ['over'], 'rules': []",
      {"is over at step 2 and gone at step 3"});
}

TEST(GameJson, RangesAndKindsOfRewards) {
  const auto range = [](const std::string& more, const std::string& rules) {
    return frame_of(game_of(meadow(rules + "," + kStay, more)).game).range(Player(0));
  };
  EXPECT_EQ(range("", "{'reward': 0.5}"), (RewardRange{0, 1}));
  EXPECT_EQ(range("", "{'reward': -7}"), (RewardRange{-7, -6}));
  EXPECT_EQ(range("", "{'reward': 1e300}").low, 1e300);
  EXPECT_EQ(range(", 'range': [-1, '7/2']", "{'reward': 0.5}"), (RewardRange{-1, 3.5}));
  EXPECT_EQ(range(", 'range': [[0, 2], [0, 4]]", "{'reward': 0.5}"), (RewardRange{0, 2}));
  const LoadedGame zero_sum = game_of(
      meadow("{'own': '*', 'state': 'green', 'reward': -2}, {'reward': 3}," + std::string(kStay),
             ", 'zero_sum': true, 'noise': 'bernoulli'"));
  EXPECT_TRUE(frame_of(zero_sum.game).zero_sum());
  EXPECT_EQ(frame_of(zero_sum.game).range(Player(1)), (RewardRange{-3, 2}));
  EXPECT_EQ(frame_of(zero_sum.game).noise(), RewardNoise::bernoulli);
  EXPECT_EQ(cell_of(zero_sum, 0).rewards, (std::vector<double>{-2, -2, -2, -2, 2, 2, 2, 2}));
  EXPECT_EQ(law_hash_of(parse_game_json(game_to_json(zero_sum), "again").game),
            law_hash_of(zero_sum.game));
  expect_message(meadow("{'reward': 2}," + std::string(kStay), ", 'range': [0, 1]"),
                 {"reward of player 1[s=1, a=(1,1)]", "is 2"});
  expect_message(meadow("{'reward': [1, 2]}", ", 'zero_sum': true"), {"one number, player 1's"});
  expect_message(meadow("{'own': 'wait', 'reward': 1}", ", 'zero_sum': true"), {"zero_sum"});
  expect_message(meadow("{'reward': 2}", ", 'noise': 'loud'"), {"'loud'", "bernoulli"});
  expect_message(meadow("{'reward': 2}", ", 'range': [0]"), {"want"});
  expect_message(meadow("{'reward': 2}", ", 'range': [[0, 1]]"), {"has 1 pairs for 2 players"});
  expect_message("'players': 3, 'actions': 2, 'horizon': 1, 'zero_sum': true, 'rules': []",
                 {"wants 2 players"});
}

TEST(GameJson, ConstantSumsAreFoundInTheTables) {
  const auto frame = [](const std::string& rules, const std::string& more = "") {
    return frame_of(game_of(meadow(rules + "," + kStay, more)).game);
  };
  // As an .nfg file: two players whose rewards sum to zero, and to any other constant.
  for (const char* rules :
       {"{'actions': ['graze', '*'], 'reward': [2, -2]}, {'reward': [-1, 1]}",
        "{'actions': ['graze', '*'], 'reward': [0.1, 0.9]}, {'reward': [0.7, 0.3]}",
        "{'actions': ['graze', '*'], 'reward': [3, 7]}, {'reward': ['10/3', '20/3']}"}) {
    EXPECT_TRUE(frame(rules).constant_sum()) << rules;
    // They are kept as they were given.
    EXPECT_FALSE(frame(rules).zero_sum()) << rules;
  }
  const std::string zero = "{'actions': ['graze', '*'], 'reward': [2, -2]}, {'reward': [-1, 1]}";
  EXPECT_TRUE(frame(zero, ", 'range': [-2, 2]").constant_sum());
  // Learners see rewards in units of their ranges: these must fit together.
  EXPECT_FALSE(frame(zero, ", 'range': [[-2, 2], [-4, 4]]").constant_sum());
  EXPECT_FALSE(frame(zero, ", 'range': [-2, 5]").constant_sum());
  // Shares that sum to one in ranges of two widths; and sums that are nearly constant.
  EXPECT_FALSE(frame("{'actions': ['graze', '*'], 'reward': [2, -2]}, {'reward': [-1, 1.001]}")
                   .constant_sum());
  EXPECT_FALSE(frame("{'state': 'bare', 'actions': ['wait', 'wait'], 'reward': [0, 1e-9]}, " + zero)
                   .constant_sum());
  EXPECT_TRUE(frame("{'reward': 3}", ", 'zero_sum': true").constant_sum());
  expect_message(meadow("{'reward': 1}," + std::string(kStay),
                        ", 'zero_sum': true, 'range': [[-1, 1], [-2, 2]]"),
                 {"range: is [-1, 1] and [-2, 2]", "one width", "leave the ranges out"});
}

TEST(GameJson, ConstantSumsAreNoPartOfTheLaw) {
  // Runs of a file that was always there must still find its game.
  const LoadedGame game = game_of(meadow(
      "{'actions': ['graze', '*'], 'reward': [2, -2]}, {'reward': [-1, 1]}," + std::string(kStay)));
  ASSERT_TRUE(frame_of(game.game).constant_sum());
  EXPECT_EQ(to_hex(law_hash_of(game.game)),
            "5aa3b59f4ffaab48de3b045ec3f8f39cc7dadf2df98c04b4f8e68e23dd8a4214");
}

TEST(GameJson, NamesWhatIsUnmatchedOrSaidTwice) {
  expect_message(
      meadow("{'actions': ['graze', '*'], 'reward': 1}, {'next': 'bare'}"),
      {"rules: no rule gives the reward of 'ann' at state 'green', actions (wait, graze)"});
  expect_message(meadow("{'reward': {'ann': 1}}, {'next': 'bare'}"),
                 {"the reward of 'bob' at state 'green', actions (graze, graze)"});
  expect_message(meadow("{'reward': 1}, {'state': 'green', 'next': 'bare'}"),
                 {"no rule gives the next state at state 'bare', actions (graze, graze)"});
  expect_message(meadow("{'step': 2, 'reward': 1}, {'next': 'bare'}"),
                 {"at step 1, state 'green'"});
  // The same keys and the same profile: which one holds?
  expect_message(
      meadow("{'state': 'green', 'reward': 1},\n{'state': ['green', 'bare'], 'reward': 2}"),
      {"game.json:5: rules[1]", "specifies the reward of 'ann' at state 'green'", "twice",
       "line 4"});
  expect_message(meadow("{'next': 'bare'}, {'next': 'green'}"), {"the next state at", "twice"});
  // Other keys, but nothing left to say.
  expect_message(meadow("{'reward': 1},\n{'state': 'green', 'reward': 2}"),
                 {"game.json:5: rules[1]", "never applies", "line 4", "move it up"});
  expect_message(meadow("{'reward': 1}, {'actions': ['graze', 'wait'], 'reward': {'bob': 1}}"),
                 {"never applies"});
  expect_message(meadow("{'reward': 1}, {'count': {'graze': []}, 'next': 'bare'}"),
                 {"matches nothing"});
  // One rule is not two, and different keys are exceptions.
  static_cast<void>(
      game_of(meadow("{'actions': ['graze', '*'], 'reward': 1},"
                     "{'actions': ['*', 'graze'], 'reward': 2}, {'reward': 0}," +
                     std::string(kStay))));
}

TEST(GameJson, SuggestsNames) {
  expect_message(meadow("{'state': 'gren', 'reward': 1}"), {"'gren' is not a state", "'green'?"});
  expect_message(meadow("{'actions': ['graze', 'wiat'], 'reward': 1}"),
                 {"rules[0].actions[1]", "'wiat' is no action", "did you mean 'wait'?"});
  expect_message(meadow("{'own': 'grase', 'reward': 1}"), {"did you mean 'graze'?"});
  expect_message(meadow("{'count': {'grase': 1}, 'reward': 1}"), {"did you mean 'graze'?"});
  expect_message(meadow("{'actions': {'bobb': 'wait'}, 'reward': 1}"),
                 {"actions.bobb", "is not a player", "did you mean 'bob'?"});
  expect_message(meadow("{'reward': {'an': 1}}"), {"did you mean 'ann'?"});
  expect_message(meadow("{'next': 'bre'}"), {"did you mean 'bare'?"});
  expect_message(meadow("{'next': {'green': 0.5, 'bre': 0.5}}"), {"next.bre", "'bare'?"});
  expect_message(meadow("{'rewards': 1}"), {"rules[0].rewards", "did you mean 'reward'?"});
  expect_message(meadow("", ", 'horizn': 3"), {"did you mean 'horizon'?"});
  expect_message(meadow("", ", 'initial': 'grene'"), {"initial", "'grene' is not a state"});
}

TEST(GameJson, ChecksNumbersAndProbabilities) {
  expect_message(meadow("{'next': {'green': 0.5, 'bare': 0.4987}}"),
                 {"rules[0].next", "sums to 0.9987, want 1"});
  expect_message(meadow("{'next': {'green': 1.5, 'bare': -0.5}}"), {"next.bare", "is -0.5"});
  expect_message(meadow("{'next': {}}"), {"sums to 0"});
  expect_message(meadow("{'next': ['green']}"), {"wants the name of a state"});
  expect_message(meadow("{'next': {'green': 'half', 'bare': 0.5}}"), {"'half' is not a number"});
  expect_message(meadow("{'reward': '1/0'}"), {"is not a number"});
  expect_message(meadow("{'reward': null}"), {"wants a number"});
  expect_message(meadow("{'reward': [1]}"), {"one for each of the 2 players"});
  expect_message(meadow("{}"), {"says nothing"});
  expect_message(meadow("{'reward': 1, 'payoffs': [[1, 1], [1, 1]]}"), {"stands beside reward"});
  expect_message(meadow("{'state': 'green', 'payoffs': [[1, 1], [1]]}"),
                 {"payoffs[1]", "wants 2 entries", "'bob'"});
  expect_message(meadow("{'payoffs': [[1, 1, 1], [1, 1, 1]]}"),
                 {"has 3 entries for 'bob', who has 2 actions"});
  expect_message(meadow("{'payoffs': [1, 1]}"), {"2 levels"});
  expect_message(meadow("{'own': 'wait', 'payoffs': [[1, 1], [1, 1]]}"), {"goes without"});
  expect_message(meadow("{'own': 'wait', 'next': 'green'}"), {"own", "gives none"});
  expect_message(meadow("{'step': 4, 'reward': 1}"), {"step", "from 1 to 3"});
  expect_message(meadow("{'step': [], 'reward': 1}"), {"is empty"});
  expect_message(meadow("{'count': {'graze': 3}, 'reward': 1}"), {"from 0 to 2"});
  expect_message(meadow("{'note': 3, 'reward': 1}"), {"note", "want a string"});
  expect_message(meadow("", ", 'initial': {'green': 0.5}"), {"initial", "sums to 0.5"});
  expect_message(meadow("{'step': 1, 'reward': 1}", ", 'stationary': true"),
                 {"stationary", "a rule names a step"});
}

TEST(GameJson, ChecksNamesAndSizes) {
  const auto with = [](const std::string& members) { return members + ", 'rules': []"; };
  expect_message(with("'players': [], 'actions': 2, 'horizon': 1"), {"players", "list of names"});
  expect_message(with("'players': ['a', 'b', 'a'], 'actions': 2, 'horizon': 1"),
                 {"'a' stands twice"});
  expect_message(with("'players': ['*'], 'actions': 2, 'horizon': 1"), {"'*' is no name"});
  expect_message(with("'players': ['note'], 'actions': 2, 'horizon': 1"), {"is no name"});
  expect_message(with("'players': [''], 'actions': 2, 'horizon': 1"), {"is no name"});
  expect_message(with("'players': ['" + std::string(1'000'000, 'x') + "'], 'actions': 2"),
                 {"is no name", "..."});
  expect_message(with("'players': 2, 'actions': 2"), {"lacks the key 'horizon'"});
  expect_message(with("'players': 2, 'horizon': 1"), {"lacks the key 'actions'"});
  expect_message(with("'players': 2, 'actions': 2, 'horizon': 0"), {"horizon", "is 0"});
  expect_message(with("'players': 2, 'actions': 2, 'horizon': 1.5"), {"want an integer"});
  expect_message(with("'players': 2, 'actions': {'1': 2}, 'horizon': 1"),
                 {"player '2' has no actions"});
  expect_message(with("'players': 2, 'actions': {'3': 2, '*': 1}, 'horizon': 1"),
                 {"is not a player"});
  expect_message(with("'players': 2, 'actions': [{'player': '1', 'actions': 2}], 'horizon': 1"),
                 {"player '2' has no actions at state '1'"});
  expect_message(with("'players': 2, 'states': [1, 2], 'actions': 2, 'horizon': 3"),
                 {"has 2 lists for 3 steps"});
  expect_message("'players': 2, 'actions': 2, 'horizon': 1", {"exactly one of rules"});
  // Too large, each before memory is taken: a product beyond 64 bits among them.
  for (const char* sizes :
       {"'players': 64, 'actions': 1000000, 'horizon': 1",
        "'players': 2, 'actions': 2000, 'horizon': 1",
        "'players': 1, 'states': 1000000, 'actions': 1000000, 'horizon': 1",
        "'players': 1, 'states': 1000000, 'actions': 1, 'horizon': 1000000, 'stationary': false"}) {
    expect_message(with(sizes), {"too"});
  }
  expect_message(with("'players': 1000000000, 'actions': 2, 'horizon': 1"), {"from 1 to 1048576"});
  EXPECT_NE(error_of(ErrorKind::input,
                     [] { static_cast<void>(parse_game_json("{\"format\": \"x\"}", "f")); })
                .find("vlearn.game/1"),
            std::string::npos);
  error_of(ErrorKind::input, [] { static_cast<void>(parse_game_json("[]", "f")); });
  error_of(ErrorKind::input,
           [] { static_cast<void>(parse_game_json(file_of("'family': 'soccer'"), "f")); });
}

// Many rules that match much and add little: stopped by the count of work, not by patience.
TEST(GameJson, BoundsTheWorkOfRules) {
  std::string rules;
  for (int i = 0; i < 19; ++i) {
    std::string actions;
    for (int k = 0; k < 19; ++k) {
      actions += (k > 0 ? std::string(", ") : std::string()) + (k == i ? "'1'" : "'*'");
    }
    for (int j = 0; j < 19; ++j) {
      rules += "{'actions': [" + actions + "], 'count': {'1': " + std::to_string(j) +
               "}, 'reward': {'1': 0}},\n";
    }
  }
  rules += "{'reward': 0}";
  expect_message(
      "'players': ['1','2','3','4','5','6','7','8','9','10','11','12','13','14','15',"
      "'16','17','18','19'], 'actions': 2, 'horizon': 1, 'rules': [" +
          rules + "]",
      {"too large for JSON"});
  // Rules that match everything again and again, each about another player.
  std::string many;
  for (int mask = 0; mask < 1024; ++mask) {
    std::string actions;
    for (int k = 0; k < 10; ++k) {
      const bool named = (mask >> k & 1) != 0;
      actions += (k > 0 ? ", " : "") + std::string(named ? "['1', '2', '3']" : "'*'");
    }
    many += "{'actions': [" + actions + "], 'count': {'1': " + std::to_string(mask % 11) +
            "}, 'reward': {'" + std::to_string(mask % 10 + 1) + "': 0}},\n";
  }
  expect_message("'players': 10, 'actions': 3, 'horizon': 1, 'rules': [" + many + "{'reward': 0}]",
                 {"match too much too often"});
  // A long row, and many who go by it.
  std::string row = "'next': {";
  for (int i = 1; i <= 2000; ++i) {
    row += (i > 1 ? ", '" : "'") + std::to_string(i) + "': " + (i == 1 ? "1" : "0");
  }
  expect_message(
      "'players': 2, 'actions': 2, 'horizon': 1, 'states': 2000, 'rules': [{'reward': 0, " + row +
          "}}]",
      {"the transitions come to 16000000 probabilities"});
}

TEST(GameJson, CongestionGames) {
  const LoadedGame loaded = game_of(
      "'players': 3, 'states': ['dry', 'wet'], 'horizon': 2,"
      "'congestion': {'routes': ['bridge', 'tunnel'], 'rules': ["
      "  {'state': 'wet', 'route': 'bridge', 'reward': [0.5, 0.25, 0]},"
      "  {'route': 'bridge', 'reward': {'alone': 1, 'all': 0.5}, 'base': 0.25},"
      "  {'route': 'tunnel', 'reward': 0.75},"
      "  {'route': 'tunnel', 'state': 'dry', 'next': 'wet'},"
      "  {'next': {'dry': 0.75, 'wet': 0.25}}]}");
  ASSERT_EQ(model_of(loaded.game), "congestion");
  const CongestionOptions& tables = std::get<CongestionGame>(loaded.game).options();
  EXPECT_EQ(tables.rewards, (std::vector<double>{1, 0.75, 0.5, 0.75, 0.75, 0.75,  //
                                                 0.5, 0.25, 0, 0.75, 0.75, 0.75}));
  EXPECT_EQ(tables.base, (std::vector<double>{0.25, 0, 0.25, 0}));
  EXPECT_EQ(tables.transitions, (std::vector<double>{0.75, 0.25, 0, 1, 0.75, 0.25, 0.75, 0.25}));
  EXPECT_EQ(
      loaded.about.names.action(frame_of(loaded.game), Player(2), Step(0), State(0), Action(1U)),
      "tunnel");
  const LoadedGame again = parse_game_json(game_to_json(loaded), "again");
  EXPECT_EQ(law_hash_of(again.game), law_hash_of(loaded.game));
  EXPECT_EQ(game_to_json(again), game_to_json(loaded));

  const std::string head =
      "'players': ['a', 'b'], 'horizon': 1, 'congestion': "
      "{'routes': ['x', 'y'], 'rules': [";
  expect_message(head + "{'route': 'x', 'reward': 1}]}", {"no rule gives the reward of route 'y'"});
  expect_message(head + "{'route': 'z', 'reward': 1}]}", {"'z' is not a route"});
  expect_message(head + "{'reward': [1]}]}", {"wants 2 numbers, for 1 to 2 players"});
  expect_message(head + "{'reward': {'alone': 1}}]}", {"lacks the key 'all'"});
  expect_message(head + "{'reward': 1}, {'base': 0.75}]}", {"base", "sums to more than 1"});
  expect_message(head + "{}]}", {"says nothing"});
  expect_message(head + "{'reward': 1}, {'reward': 2}]}", {"twice"});
  // Linear in between, and exactly what is said at both ends.
  const LoadedGame linear = game_of(
      "'players': 4, 'horizon': 1, 'congestion': {'routes': ['x', 'y'],"
      "'rules': [{'reward': {'alone': 0.7, 'all': 0.1}}]}");
  EXPECT_EQ(std::get<CongestionGame>(linear.game).options().rewards[0], 0.7);
  EXPECT_EQ(std::get<CongestionGame>(linear.game).options().rewards[3], 0.1);
  // Fewer routes for some, by name.
  const LoadedGame fewer = game_of(
      "'players': ['a', 'b'], 'states': 2, 'horizon': 2, 'terminal': ['2'],"
      "'actions': {'a': ['y'], 'b': ['y', 'x']},"
      "'congestion': {'routes': ['x', 'y'], 'rules': [{'reward': [1, 0], 'next': '2'}]}");
  EXPECT_EQ(std::get<CongestionGame>(fewer.game).options().routes,
            (std::vector<std::uint32_t>{1, 1, 0, 0, 0}));
  const LoadedGame fewer_again = parse_game_json(game_to_json(fewer), "again");
  EXPECT_EQ(law_hash_of(fewer_again.game), law_hash_of(fewer.game)) << game_to_json(fewer);
  EXPECT_EQ(game_to_json(fewer_again), game_to_json(fewer));
  expect_message(
      "'players': 2, 'horizon': 1, 'actions': [{'actions': ['x', 'q']}], 'congestion':"
      "{'routes': ['x', 'y'], 'rules': [{'reward': 1}]}",
      {"action 'q' is not a route"});
}

TEST(GameJson, PolymatrixGames) {
  const std::string head =
      "'players': ['ann', 'bob', 'cyd'], 'states': ['here', 'there'], 'horizon': 2,"
      "'actions': {'cyd': 1, '*': ['left', 'right']}, 'polymatrix': {'rules': [";
  const LoadedGame loaded =
      game_of(head +
              "{'player': 'ann', 'against': 'bob', 'payoffs': [[1, 0], [0, 2]]},"
              "{'player': 'bob', 'against': 'cyd', 'payoffs': [[3], [4]]},"
              "{'player': 'ann', 'payoffs': ['1/2', 0.25]},"
              "{'player': 'ann', 'action': 'left', 'next': 'here'},"
              "{'next': {'here': 0.5, 'there': 0.5}},"
              "{'player': 'ann', 'weight': 0.5}, {'weight': 0.25}]}");
  ASSERT_EQ(model_of(loaded.game), "polymatrix");
  const PolymatrixOptions& tables = std::get<PolymatrixGame>(loaded.game).options();
  // Positions: ann left, ann right, bob left, bob right, cyd.
  EXPECT_EQ(std::vector<double>(tables.rewards.begin(), tables.rewards.begin() + 25),
            (std::vector<double>{0.5, 0,    1, 0, 0,  //
                                 0,   0.25, 0, 2, 0,  //
                                 0,   0,    0, 0, 3,  //
                                 0,   0,    0, 0, 4,  //
                                 0,   0,    0, 0, 0}));
  EXPECT_EQ(std::vector<double>(tables.transitions.begin(), tables.transitions.begin() + 4),
            (std::vector<double>{1, 0, 0.5, 0.5}));
  EXPECT_EQ(tables.weights, (std::vector<double>{0.5, 0.25, 0.25, 0.5, 0.25, 0.25}));
  EXPECT_EQ(frame_of(loaded.game).range(Player(0)), (RewardRange{0.25, 2.25}));
  EXPECT_EQ(frame_of(loaded.game).range(Player(1)), (RewardRange{3, 4}));
  const LoadedGame again = parse_game_json(game_to_json(loaded), "again");
  EXPECT_EQ(law_hash_of(again.game), law_hash_of(loaded.game)) << game_to_json(loaded);
  EXPECT_EQ(game_to_json(again), game_to_json(loaded));
  // Terminal states need no weights, and the only state no saying.
  const LoadedGame over = game_of(
      "'players': 2, 'states': ['on', 'over'], 'actions': 2, 'horizon': 3, 'terminal': ['over'],"
      "'polymatrix': {'rules': [{'player': '1', 'payoffs': [1, 0]}, {'next': 'over'},"
      "{'player': '1', 'weight': 0.75}, {'weight': 0.25}]}");
  EXPECT_EQ(std::get<PolymatrixGame>(over.game).options().weights,
            (std::vector<double>{0.75, 0.25, 0.5, 0.5}));
  EXPECT_NE(game_to_json(over).find("\"terminal\": [\"over\"]"), std::string::npos);
  EXPECT_EQ(law_hash_of(parse_game_json(game_to_json(over), "again").game), law_hash_of(over.game));
  const LoadedGame one_state = game_of(
      "'players': 2, 'actions': 2, 'horizon': 3, 'polymatrix': {'rules': ["
      "{'player': '1', 'payoffs': [1, 0]}]}");
  EXPECT_EQ(std::get<PolymatrixGame>(one_state.game).options().transitions,
            (std::vector<double>{1, 1, 1, 1}));
  expect_message(head + "{'player': 'ann', 'against': 'bob', 'payoffs': [[1, 0]]}]}",
                 {"has 1 rows", "2 actions"});
  expect_message(head + "{'player': 'ann', 'against': 'bob', 'payoffs': [[1], [2]]}]}",
                 {"row 1 has 1 numbers"});
  expect_message(head + "{'player': 'ann', 'against': 'ann', 'payoffs': [[1], [2]]}]}",
                 {"is the player itself"});
  expect_message(head + "{'player': 'ann', 'payoffs': [1, 2], 'weight': 1}]}", {"exactly one"});
  expect_message(head + "{'action': 'lft', 'next': 'here'}]}", {"did you mean 'left'?"});
  expect_message(head + "{'player': 'ann', 'weight': 1}, {'next': 'here'}]}",
                 {"no rule gives the weight of player 'bob'"});
  expect_message(head + "{'action': 'left', 'next': 'here'}]}",
                 {"no rule gives the next state of player 'ann' at state 'here', action 'right'"});
}

TEST(GameJson, KnownSolutions) {
  const std::string head =
      "'players': ['row', 'column'], 'actions': ['a', 'b'], 'horizon': 2,"
      "'states': ['s', 't'], 'rules': [{'reward': 0, 'next': 's'}], 'known': ";
  const LoadedGame loaded =
      game_of(head +
              "[{'target': 'ce', 'source': 'us', 'values': [0, '1/4'], 'policy': ["
              "{'step': 2, 'state': 't', 'mix': [{'weight': 0.5, 'play': ['a', 'b']},"
              "                                  {'weight': '1/2', 'play': {'*': 'b'}}]},"
              "{'play': {'row': {'a': 0.25, 'b': 0.75}, '*': 'a'}}]}]");
  ASSERT_EQ(loaded.about.known.size(), 1U);
  const KnownSolution& known = loaded.about.known[0];
  EXPECT_EQ(known.target, Target::ce);
  EXPECT_EQ(known.values, (std::vector<double>{0, 0.25}));
  ASSERT_EQ(known.policy.size(), 4U);
  EXPECT_EQ(known.policy[0], (std::vector<WeightedProfile>{{1.0, {0.25, 0.75, 1, 0}}}));
  EXPECT_EQ(known.policy[3],
            (std::vector<WeightedProfile>{{0.5, {1, 0, 0, 1}}, {0.5, {0, 1, 0, 1}}}));
  const LoadedGame again = parse_game_json(game_to_json(loaded), "again");
  EXPECT_EQ(again.about.known, loaded.about.known) << game_to_json(loaded);
  // A step named twice is a step; terminal states may be named or not.
  const LoadedGame twice = game_of(
      "'players': 1, 'actions': ['a', 'b'], 'horizon': 2, 'states': ['s', 'over'],"
      "'terminal': ['over'], 'rules': [{'reward': 0, 'next': 's'}], 'known': [{'target': 'optimal',"
      "'source': 'us', 'policy': [{'step': [1, 1, 2], 'play': ['b']}]}]");
  EXPECT_EQ(twice.about.known[0].policy[0], (std::vector<WeightedProfile>{{1.0, {0, 1}}}));
  EXPECT_EQ(twice.about.known[0].policy[1], (std::vector<WeightedProfile>{{1.0, {1}}}));
  const auto entry = [&](const std::string& members) {
    return head + "[{'target': 'nash', 'source': 'us', " + members + "}]";
  };
  expect_message(head + "[{'target': 'nsh', 'source': 'us'}]", {"'nsh' is not a target"});
  expect_message(head + "[{'target': 'nash'}]", {"lacks the key 'source'"});
  expect_message(entry("'values': [1]"), {"for each of 2 players"});
  expect_message(entry("'policy': [{'state': 's', 'play': ['a', 'a']}]"),
                 {"no rule says what is played at step 1, state 't'"});
  expect_message(entry("'policy': [{'play': ['a']}]"), {"for each of 2 players"});
  expect_message(entry("'policy': [{'play': {'row': 'a'}}]"), {"nothing about player 'column'"});
  expect_message(entry("'policy': [{'play': ['a', 'q']}]"), {"'q' is not an action here"});
  expect_message(entry("'policy': [{'play': ['a', {'a': 0.5}]}]"), {"sums to 0.5"});
  expect_message(entry("'policy': [{'mix': [{'weight': 2, 'play': ['a', 'a']}]}]"), {"sums to 2"});
  expect_message(entry("'policy': [{'play': ['a', 'a'], 'mix': []}]"), {"one of play and mix"});
  expect_message(entry("'policy': [{'play': ['a', 'a']}, {'play': ['b', 'b']}]"), {"twice"});
}

}  // namespace
}  // namespace vlearn
