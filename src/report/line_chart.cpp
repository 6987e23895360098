// Copyright the vlearn authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "figures.h"
#include "html.h"
#include "svg.h"
#include "svg_frame.h"
#include "vlearn/core/log.h"

namespace vlearn {
namespace {

constexpr double kWidth = 760.0;
constexpr double kHeight = 330.0;
constexpr double kLeft = 66.0;
constexpr double kTop = 12.0;
constexpr double kPlotWidth = kWidth - kLeft - 14.0;
constexpr double kPlotHeight = kHeight - kTop - 46.0;
constexpr double kLeastMove = 2.0;  // pixels from one drawn point to the next
/// Larger numbers are not shown, and on a logarithmic axis none below its inverse: sums and ratios
/// of the others are finite.
constexpr double kLargest = 1e150;
/// Numbers that differ by a smaller share of their size are shown as one: between them there are
/// too few doubles for the marks of an axis.
constexpr double kLeastShare = 1e-9;

/// One axis: numbers to [0, 1].
class Axis {
 public:
  explicit Axis(bool logarithmic) : log_(logarithmic) {}

  [[nodiscard]] bool can_show(double x) const {
    return std::abs(x) <= kLargest && (!log_ || x >= 1.0 / kLargest);
  }
  void include(double x) {
    if (!can_show(x)) return;
    low_ = empty_ ? x : std::min(low_, x);
    high_ = empty_ ? x : std::max(high_, x);
    empty_ = false;
  }
  /// Some room at both ends, the more where there is but one number.
  void widen(double share) {
    if (log_) {
      const double ratio = high_ / low_;
      const bool one = ratio <= 1.0 + kLeastShare;
      const double factor = one ? 3.0 : 1.0 + share * std::min(log(ratio), 4.0);
      if (share > 0.0 || one) {
        low_ /= factor;
        high_ *= factor;
      }
      return;
    }
    const double size = std::max(std::abs(low_), std::abs(high_));
    const bool one = high_ - low_ <= kLeastShare * size;
    const double room = one ? std::max(size * 0.1, 1e-3) : share * (high_ - low_);
    low_ -= room;
    high_ += room;
  }
  /// After this numbers have their places.
  void settle() { span_ = log_ ? log(high_ / low_) : high_ - low_; }
  [[nodiscard]] double at(double x) const { return (log_ ? log(x / low_) : x - low_) / span_; }
  [[nodiscard]] bool empty() const { return empty_; }

  [[nodiscard]] std::vector<double> ticks() const { return log_ ? log_ticks() : even_ticks(); }

 private:
  [[nodiscard]] std::vector<double> log_ticks() const {
    const double decades = log(high_ / low_) / log(10.0);
    std::vector<double> found;
    const int every = decades > 14.0 ? 4 : decades > 7.0 ? 2 : 1;
    const std::vector<double> within = decades < 1.0
                                           ? std::vector<double>{1.0, 1.5, 2.0, 3.0, 5.0, 7.0}
                                       : decades < 2.5 ? std::vector<double>{1.0, 2.0, 5.0}
                                                       : std::vector<double>{1.0};
    for (int exponent = -300; exponent <= 300; ++exponent) {
      if (exponent % every != 0) continue;
      const double power = std::pow(10.0, exponent);
      for (const double factor : within) {
        const double tick = factor * power;
        if (tick >= low_ * 0.999999 && tick <= high_ * 1.000001) found.push_back(tick);
      }
    }
    return found;
  }
  [[nodiscard]] std::vector<double> even_ticks() const {
    const double raw = (high_ - low_) / 5.0;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    double step = 10.0 * power;
    for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
      if (factor * power >= raw) {
        step = factor * power;
        break;
      }
    }
    std::vector<double> found;
    for (double i = std::ceil(low_ / step); i * step <= high_; i += 1.0) {
      found.push_back(i == 0.0 ? 0.0 : i * step);
    }
    return found;
  }

  bool log_;
  bool empty_ = true;
  double low_ = 0.0;
  double high_ = 1.0;
  double span_ = 1.0;
};

/// Points as a path; those that would fall onto the last one are left out.
class Path {
 public:
  void add(double x, double y, bool last) {
    if (!text_.empty() && !last && std::abs(x - x_) < kLeastMove) return;
    text_ += fmt::format("{}{:.1f} {:.1f}", text_.empty() ? 'M' : 'L', x, y);
    x_ = x;
    y_ = y;
  }
  [[nodiscard]] std::string text() const { return text_; }
  /// The last point.
  [[nodiscard]] double x() const { return x_; }
  [[nodiscard]] double y() const { return y_; }

 private:
  std::string text_;
  double x_ = 0.0;
  double y_ = 0.0;
};

struct Axes {
  Axis x{true};
  Axis y{false};
  [[nodiscard]] double px(double value) const { return x.at(value) * kPlotWidth; }
  [[nodiscard]] double py(double value) const { return (1.0 - y.at(value)) * kPlotHeight; }
  [[nodiscard]] bool can_show(double a, double b) const { return x.can_show(a) && y.can_show(b); }
};

void draw_axes(Html& html, const Axes& axes, const LineChart& chart) {
  html.open("g", {{"class", "axes"}});
  const auto line = [&](double x1, double y1, double x2, double y2) {
    html.raw(fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", x1, y1, x2, y2));
  };
  for (const double tick : axes.x.ticks()) {
    const double x = kLeft + axes.px(tick);
    line(x, kTop, x, kTop + kPlotHeight);
    picture_text(html, x, kTop + kPlotHeight + 16.0, tick_label(tick), "label muted middle");
  }
  for (const double tick : axes.y.ticks()) {
    const double y = kTop + axes.py(tick);
    line(kLeft, y, kLeft + kPlotWidth, y);
    picture_text(html, kLeft - 7.0, y + 4.0, tick_label(tick), "label muted end");
  }
  picture_text(html, kLeft + kPlotWidth / 2.0, kHeight - 6.0, chart.x_label, "label middle");
  html.element(
      "text", chart.y_label,
      {{"class", "label middle"},
       {"transform", fmt::format("translate(13 {:.0f}) rotate(-90)", kTop + kPlotHeight / 2.0)}});
  html.close();
}

void draw_band(Html& html, const Axes& axes, const ChartBand& band) {
  Path path;
  const std::size_t n = band.x.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (axes.can_show(band.x[i], band.high[i])) {
      path.add(axes.px(band.x[i]), axes.py(band.high[i]), i + 1 == n);
    }
  }
  Path lower;
  for (std::size_t i = n; i-- > 0;) {
    if (axes.can_show(band.x[i], band.low[i])) {
      lower.add(axes.px(band.x[i]), axes.py(band.low[i]), i == 0);
    }
  }
  std::string text = lower.text();
  if (path.text().empty() || text.empty()) return;
  text.front() = 'L';
  html.single("path", {{"class", band.style}, {"d", path.text() + text + "Z"}});
}

void draw_line(Html& html, const Axes& axes, const ChartLine& line) {
  Path path;
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const auto& [x, y] = line.points[i];
    if (axes.can_show(x, y)) path.add(axes.px(x), axes.py(y), i + 1 == line.points.size());
  }
  if (path.text().find('L') == std::string::npos && !path.text().empty()) {  // a single point
    html.single("circle", {{"class", line.style},
                           {"cx", fmt::format("{:.1f}", path.x())},
                           {"cy", fmt::format("{:.1f}", path.y())},
                           {"r", "3"}});
    return;
  }
  if (!path.text().empty()) html.single("path", {{"class", line.style}, {"d", path.text()}});
}

Axes axes_of(const LineChart& chart) {
  Axes axes;
  axes.y = Axis(chart.log_y);
  for (const ChartLine& line : chart.lines) {
    if (line.style.find("guide") != std::string::npos) continue;
    for (const auto& [x, y] : line.points) {
      if (!axes.can_show(x, y)) continue;
      axes.x.include(x);
      axes.y.include(y);
    }
  }
  for (const ChartBand& band : chart.bands) {
    for (std::size_t i = 0; i < band.x.size(); ++i) {
      axes.y.include(band.low[i]);
      axes.y.include(band.high[i]);
    }
  }
  return axes;
}

}  // namespace

std::string line_chart(const LineChart& chart) {
  Axes axes = axes_of(chart);
  if (axes.x.empty() || axes.y.empty()) return {};
  axes.x.widen(0.0);
  axes.y.widen(0.06);
  axes.x.settle();
  axes.y.settle();
  Html html;
  open_picture(html, chart.name, kWidth, kHeight);
  draw_axes(html, axes, chart);
  // An inner picture cuts off what leaves the plot.
  html.open("svg", {{"x", fmt::format("{:.0f}", kLeft)},
                    {"y", fmt::format("{:.0f}", kTop)},
                    {"width", fmt::format("{:.0f}", kPlotWidth)},
                    {"height", fmt::format("{:.0f}", kPlotHeight)}});
  for (const ChartBand& band : chart.bands) draw_band(html, axes, band);
  for (const ChartLine& line : chart.lines) draw_line(html, axes, line);
  html.close().close();
  html.open("ul", {{"class", "legend"}});
  for (const ChartLine& line : chart.lines) {
    if (line.label.empty()) continue;
    html.raw("<li><svg width=\"22\" height=\"10\" aria-hidden=\"true\">")
        .single("path", {{"class", line.style}, {"d", "M1 5L21 5"}})
        .raw("</svg>")
        .name(line.label)
        .raw("</li>\n");
  }
  html.close();
  return html.str();
}

}  // namespace vlearn
