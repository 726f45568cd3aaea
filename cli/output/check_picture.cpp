// SPDX-License-Identifier: Apache-2.0
#include "cli/output/check_picture.hpp"

#include "core/check/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

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

// The layout of a map of links: lengths in pixels, and whether there is room for text.
struct Grid {
  int left = 0;
  int top = 0;
  int side = 0;
  bool has_words = false;
};

struct LinkCell {
  std::string kind;
  std::string tooltip;
  std::string words;
  std::string kind_of_words;
};

// The name with the number of the corresponding column.
std::string row_name(int index, const std::string& name) {
  return fmt::format("{} {}", index + 1, name);
}

void add_names(svg::Drawing& map, const Grid& grid, const std::map<std::string, int>& index) {
  for (const auto& [name, i] : index) {
    const int middle = i * grid.side + grid.side / 2;
    map.words.push_back({0, grid.top + middle + 4, k_small, false, "plain", row_name(i, name)});
    map.words.push_back({grid.left + middle, 12, k_small, true, "faint", std::to_string(i + 1)});
  }
}

LinkCell cell_of(const check::Pair& pair,
                 const check::LinkVerdict& link,
                 LinkSpeed which,
                 std::optional<double> speed,
                 const Grid& grid) {
  const bool fit = which == LinkSpeed::bandwidth ? link.bandwidth_fit : link.latency_fit;
  LinkCell cell{"self", tooltip(pair, which), "", fit ? "on" : "on bad"};
  if (!speed) return cell;
  cell.kind = shade_kind(*speed) + (fit ? " cell" : " cell unfit");
  if (grid.has_words && *speed < 0.95)
    cell.words = fmt::format("{:.0f}{}", *speed * 100, grid.side > 30 ? " %" : "");
  return cell;
}

void add_cell(svg::Drawing& map, const Grid& grid, int row, int column, const LinkCell& cell) {
  const int x = grid.left + column * grid.side, y = grid.top + row * grid.side;
  map.rectangles.push_back({x, y, grid.side - 1, grid.side - 1, cell.kind, cell.tooltip, 2});
  if (cell.words.empty()) return;
  map.words.push_back(
      {x + grid.side / 2, y + grid.side / 2 + 4, k_small, true, cell.kind_of_words, cell.words});
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
  Grid grid;
  grid.side = side_of(n);
  grid.has_words = n <= k_most_digits;
  grid.top = grid.has_words ? 18 : 0;
  std::map<std::string, int> index;
  for (const check::Node& node : report.facts.nodes) {
    const auto i = static_cast<int>(index.size());
    index.emplace(node.name, i);
    if (grid.has_words)
      grid.left = std::max(grid.left, svg::width_of(row_name(i, node.name), k_small) + 8);
  }
  map.width = grid.left + grid.side * static_cast<int>(n);
  map.height = grid.top + grid.side * static_cast<int>(n);
  if (grid.has_words) add_names(map, grid, index);
  for (int i = 0; i < static_cast<int>(n); ++i)
    add_cell(map, grid, i, i, {"self", "", "", "plain"});
  for (std::size_t p = 0; p < report.facts.pairs.size(); ++p) {
    const check::Pair& pair = report.facts.pairs[p];
    const LinkCell cell = cell_of(pair, report.verdict.links[p], which, speeds.of(pair), grid);
    add_cell(map, grid, index[pair.a], index[pair.b], cell);
    add_cell(map, grid, index[pair.b], index[pair.a], cell);
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
