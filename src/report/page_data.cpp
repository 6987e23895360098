// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
//
// What the script draws from. Numbers have five digits and chances are in 1/10000: nobody sees
// more, and pages stay small. Names are visible() already; the script shows them as text only.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "page_parts.h"
#include "vlearn/core/text.h"

namespace vlearn {
namespace {

/// Compact JSON whose strings end no element of the page.
class Data {
 public:
  Data& open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
    return *this;
  }
  Data& close(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
  }
  Data& key(std::string_view name) {
    separate();
    text_ += '"';
    text_ += name;
    text_ += "\":";
    first_ = true;
    return *this;
  }
  Data& number(double value) {
    separate();
    if (!std::isfinite(value)) {
      text_ += "null";
      return *this;
    }
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                   std::chars_format::general, 5)
                         .ptr;
    text_.append(digits.data(), end);
    return *this;
  }
  Data& number(const std::optional<double>& value) { return value ? number(*value) : null(); }
  Data& natural(std::uint64_t value) {
    separate();
    text_ += std::to_string(value);
    return *this;
  }
  Data& chance(double value) {
    return natural(
        value > 0.0 ? static_cast<std::uint64_t>(std::lround(std::min(value, 1.0) * 10000.0)) : 0);
  }
  Data& null() {
    separate();
    text_ += "null";
    return *this;
  }
  Data& flag(bool value) {
    separate();
    text_ += value ? "true" : "false";
    return *this;
  }
  Data& string(std::string_view value) {
    separate();
    text_ += '"';
    for (const char c : visible(value)) {  // has no control characters left
      switch (c) {
        case '"':
        case '\\':
          text_ += '\\';
          text_ += c;
          break;
        case '<':
        case '>':
        case '&': text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c)); break;
        default: text_ += c;
      }
    }
    text_ += '"';
    return *this;
  }
  Data& chances(const std::vector<double>& values) {
    open('[');
    for (const double value : values) chance(value);
    return close(']');
  }

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  void separate() {
    if (!first_) text_ += ',';
    first_ = false;
  }
  std::string text_;
  bool first_ = true;
};

template <class Of>
void column(Data& data,
            std::string_view key,
            std::span<const CurvePoint> curve,
            const std::vector<std::size_t>& kept,
            const Of& of) {
  data.key(key).open('[');
  for (const std::size_t i : kept) of(curve[i]);
  data.close(']');
}

bool any_of(std::span<const CurvePoint> curve, std::optional<double> CurvePoint::*member) {
  for (const CurvePoint& point : curve) {
    if (point.*member) return true;
  }
  return false;
}

void add_curve(Data& data, const RunView& run) {
  const std::span<const CurvePoint> curve = run.curve;
  const std::vector<std::size_t> kept = kept_points(curve);
  data.key("curve").open('{');
  column(data, "x", curve, kept, [&](const CurvePoint& p) { data.natural(p.episode); });
  if (any_of(curve, &CurvePoint::gap_upper)) {
    column(data, "upper", curve, kept, [&](const CurvePoint& p) { data.number(p.gap_upper); });
    data.key("upperLabel").string(gap_label(run));
  }
  const bool exact = exact_curve(curve);
  if (!exact && any_of(curve, &CurvePoint::gap_lower)) {
    column(data, "lower", curve, kept, [&](const CurvePoint& p) { data.number(p.gap_lower); });
  }
  if (any_of(curve, &CurvePoint::data_bound)) {
    column(data, "bound", curve, kept, [&](const CurvePoint& p) { data.number(p.data_bound); });
    data.key("boundLabel").string(bound_label(run));
  }
  if (const std::optional<double> guide = guide_of(curve)) data.key("guide").number(*guide);
  data.key("series").open('[');
  for (std::size_t j = 0; j < std::min<std::size_t>(run.series.size(), 12); ++j) {
    data.open('{').key("name").string(run.series[j]);
    column(data, "y", curve, kept, [&](const CurvePoint& p) {
      data.number(j < p.values.size() ? std::optional<double>(p.values[j]) : std::nullopt);
    });
    data.close('}');
  }
  data.close(']').close('}');
}

/// Lists of names that many cells share are written once.
class NameLists {
 public:
  std::size_t place(const std::vector<std::string>& names) {
    const auto [at, is_new] = places_.try_emplace(names, lists_.size());
    if (is_new) lists_.push_back(&at->first);
    return at->second;
  }
  void write(Data& data) const {
    data.key("lists").open('[');
    for (const std::vector<std::string>* names : lists_) {
      data.open('[');
      for (const std::string& name : *names) data.string(name);
      data.close(']');
    }
    data.close(']');
  }

 private:
  std::map<std::vector<std::string>, std::size_t> places_;
  std::vector<const std::vector<std::string>*> lists_;
};

void add_player_cell(Data& data, const PlayerCell& cell, NameLists& lists) {
  data.open('{').key("a").natural(lists.place(cell.actions));
  data.key("avg").chances(cell.averaged);
  if (!cell.last.empty()) data.key("last").chances(cell.last);
  if (!cell.played.empty()) data.key("played").chances(cell.played);
  if (cell.value) data.key("v").number(*cell.value);
  if (cell.deviation) data.key("d").number(*cell.deviation);
  // The difference from the full numbers: five digits of each would leave few of it.
  if (cell.value && cell.deviation) data.key("g").number(*cell.deviation - *cell.value);
  if (cell.share) data.key("share").number(*cell.share);
  if (!cell.witness.empty()) {
    data.key("w").open('[');
    for (const std::uint32_t action : cell.witness) data.natural(action);
    data.close(']');
  }
  data.close('}');
}

void add_cell(Data& data, const CellView& cell, NameLists& lists) {
  data.open('{').key("h").natural(cell.h.value()).key("s").natural(cell.s.value());
  data.key("name").string(cell.name).key("visits").natural(cell.visits);
  data.key("counted").natural(cell.counted);
  if (cell.reach) data.key("reach").number(*cell.reach);
  data.key("parts").number(cell.effective_parts).key("players").open('[');
  for (const PlayerCell& player : cell.players) add_player_cell(data, player, lists);
  data.close(']').key("mix").open('[');
  for (const MixturePart& part : cell.mixture) {
    data.open('{').key("n").natural(part.visit).key("k").natural(part.episode);
    data.key("w").number(part.weight).key("p").open('[');
    for (const std::vector<double>& policy : part.policies) data.chances(policy);
    data.close(']').close('}');
  }
  data.close(']').key("pairs").open('[');
  for (const PairCell& pair : cell.pairs) {
    data.open('{').key("i").natural(pair.first.value()).key("j").natural(pair.second.value());
    data.key("bits").number(pair.information).key("c").chances(pair.chances).close('}');
  }
  data.close(']').close('}');
}

void add_board(Data& data, const RunView& run) {
  const Board& board = *run.game.board;
  data.key("board").open('{');
  data.key("rows").natural(static_cast<std::uint64_t>(std::max(board.rows, 0)));
  data.key("columns").natural(static_cast<std::uint64_t>(std::max(board.columns, 0)));
  data.key("marks").open('[');
  for (const BoardMark& mark : board.marks) {
    data.open('[').number(mark.square.row).number(mark.square.column).string(mark.label).close(']');
  }
  data.close(']').key("at").open('{');
  std::vector<bool> done(board.positions.size(), false);
  for (const CellView& cell : run.cells) {
    const std::size_t s = cell.s.index();
    if (s >= done.size() || done[s]) continue;
    done[s] = true;
    const BoardPosition& position = board.positions[s];
    data.key(std::to_string(s)).open('{').key("p").open('[');
    for (const Square& square : position.players) {
      data.open('[').number(square.row).number(square.column).close(']');
    }
    data.close(']');
    if (position.ball) data.key("ball").natural(position.ball->value());
    data.close('}');
  }
  data.close('}').close('}');
}

}  // namespace

std::string page_data(const RunView& run) {
  Data data;
  data.open('{').key("target").string(name_of(run.target));
  data.key("xLabel").string(x_label({&run, 1})).key("correlates").flag(run.correlates);
  data.key("shown").open('[');
  for (const Player player : run.shown_players) {
    data.open('[').natural(player.value()).string(player_name(run, player.index()));
    data.number(player_gap(run, player.index())).close(']');
  }
  data.close(']');
  add_curve(data, run);
  NameLists lists;
  data.key("cells").open('[');
  for (const CellView& cell : run.cells) add_cell(data, cell, lists);
  data.close(']');
  lists.write(data);
  if (run.game.board) add_board(data, run);
  data.close('}');
  return data.text();
}

std::string page_data(std::span<const RunView> runs, const std::vector<NamedGroup>& groups) {
  Data data;
  data.open('{').key("xLabel").string(x_label(runs)).key("groups").open('[');
  std::map<std::vector<std::uint64_t>, std::size_t> places;  // episodes, which most runs share
  std::vector<const std::vector<std::uint64_t>*> lists;
  const auto place = [&](const std::vector<std::uint64_t>& episodes) {
    const auto [at, is_new] = places.try_emplace(episodes, lists.size());
    if (is_new) lists.push_back(&at->first);
    return at->second;
  };
  for (const NamedGroup& named : groups) {
    data.open('{').key("name").string(named.label).key("runs").open('[');
    for (const std::size_t i : named.group.runs) {
      std::vector<std::uint64_t> episodes;
      data.open('{').key("seed").natural(runs[i].seed).key("y").open('[');
      for (const std::size_t at : kept_points(runs[i].curve)) {
        const CurvePoint& point = runs[i].curve[at];
        if (!point.gap_upper || point.episode == 0) continue;
        episodes.push_back(point.episode);
        data.number(*point.gap_upper);
      }
      data.close(']').key("x").natural(place(episodes)).close('}');
    }
    data.close(']');
    if (named.group.runs.size() > 1 && !named.group.episodes.empty()) {
      data.key("x").natural(place(named.group.episodes));
      for (const auto& [key, member] : {std::pair{"mid", &MeanInterval::mean},
                                        {"low", &MeanInterval::low},
                                        {"high", &MeanInterval::high}}) {
        data.key(key).open('[');
        for (const MeanInterval& gap : named.group.gaps) data.number(gap.*member);
        data.close(']');
      }
    }
    data.close('}');
  }
  data.close(']').key("xs").open('[');
  for (const std::vector<std::uint64_t>* episodes : lists) {
    data.open('[');
    for (const std::uint64_t episode : *episodes) data.natural(episode);
    data.close(']');
  }
  data.close(']').close('}');
  return data.text();
}

}  // namespace vlearn
