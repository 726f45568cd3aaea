// SPDX-License-Identifier: Apache-2.0
#include "cli/output/check_picture.hpp"

#include "core/check/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dts::cli {
namespace {

constexpr int k_small = 11;                // font size
constexpr std::size_t k_most_digits = 40;  // larger maps have no room for numbers in their cells

// A cell's side: small maps are easier to read with large cells.
int side_of(std::size_t nodes) {
  return nodes <= 12 ? 34 : nodes <= k_most_digits ? 22 : nodes <= 128 ? 9 : 5;
}

std::string tooltip(const check::Pair& pair, LinkSpeed which) {
  const auto value = which == LinkSpeed::bandwidth ? pair.bandwidth : pair.latency;
  return fmt::format("{} - {}: {}",
                     pair.a,
                     pair.b,
                     value ? check::quantity(*value, which == LinkSpeed::bandwidth ? "B/s" : "s")
                           : "not measured");
}

}  // namespace

std::string shade_kind(double speed) {
  return fmt::format("s{}", std::clamp(static_cast<int>(speed * 10), 0, 9));
}

svg::Drawing link_map(const CheckReport& report, LinkSpeed which) {
  const LinkSpeeds speeds(report.facts, which);
  svg::Drawing map;
  const std::size_t n = report.facts.nodes.size();
  if (!speeds.any() || n < 2) return map;
  const int side = side_of(n);
  const bool has_words = n <= k_most_digits;
  std::map<std::string, int> index;
  int left = 0;
  for (const check::Node& node : report.facts.nodes) {
    index.emplace(node.name, static_cast<int>(index.size()));
    left = std::max(left, has_words ? svg::width_of(node.name, k_small) + 8 : 0);
  }
  const int top = has_words ? 18 : 0;
  map.width = left + side * static_cast<int>(n);
  map.height = top + side * static_cast<int>(n);
  for (const auto& [name, i] : index) {
    if (!has_words) break;
    map.words.push_back({0, top + i * side + side / 2 + 4, k_small, false, "plain", name});
    map.words.push_back(
        {left + i * side + side / 2, 12, k_small, true, "faint", std::to_string(i + 1)});
  }
  for (int i = 0; i < static_cast<int>(n); ++i)
    map.rectangles.push_back({left + i * side, top + i * side, side - 1, side - 1, "self", "", 2});
  for (std::size_t p = 0; p < report.facts.pairs.size(); ++p) {
    const check::Pair& pair = report.facts.pairs[p];
    const auto speed = speeds.of(pair);
    const check::LinkVerdict& link = report.verdict.links[p];
    const bool fit = which == LinkSpeed::bandwidth ? link.bandwidth_fit : link.latency_fit;
    const std::string kind =
        speed ? shade_kind(*speed) + (fit ? " cell" : " cell unfit") : std::string("self");
    for (const auto& [row, column] :
         {std::pair(index[pair.a], index[pair.b]), std::pair(index[pair.b], index[pair.a])}) {
      const int x = left + column * side, y = top + row * side;
      map.rectangles.push_back({x, y, side - 1, side - 1, kind, tooltip(pair, which), 2});
      if (has_words && speed && *speed < 0.95)
        map.words.push_back({x + side / 2,
                             y + side / 2 + 4,
                             k_small,
                             true,
                             fit ? "on" : "on bad",
                             fmt::format("{:.0f}{}", *speed * 100, side > 30 ? " %" : "")});
    }
  }
  return map;
}

svg::Drawing collective_bars(const CheckReport& report, const std::string& operation) {
  constexpr int k_line = 20, k_widest = 180;
  double most = 0;
  int label = 0;
  for (const check::Collective& one : report.facts.collectives)
    if (one.operation == operation) {
      most = std::max(most, one.busbw);
      label = std::max(label, svg::width_of(check::quantity(one.bytes, "B"), k_small) + 10);
    }
  svg::Drawing bars;
  for (const check::Collective& one : report.facts.collectives) {
    if (one.operation != operation) continue;
    const int y = bars.height;
    const int width = most > 0 ? static_cast<int>(one.busbw / most * k_widest) : 0;
    const std::string words = check::quantity(one.busbw, "B/s");
    bars.words.push_back({0, y + 14, k_small, false, "plain", check::quantity(one.bytes, "B")});
    bars.rectangles.push_back(
        {label,
         y + 3,
         std::max(width, 1),
         k_line - 6,
         "bar",
         fmt::format(
             "{}, algbw {}", check::quantity(one.time, "s"), check::quantity(one.algbw, "B/s")),
         2});
    bars.words.push_back({label + width + 6, y + 14, k_small, false, "faint", words});
    bars.width = std::max(bars.width, label + k_widest + 6 + svg::width_of("000.0 GB/s", k_small));
    bars.height += k_line;
  }
  return bars;
}

}  // namespace dts::cli
