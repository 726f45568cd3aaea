// SPDX-License-Identifier: Apache-2.0
// A node and its ranks for a terminal.
#include "cli/output/topo_picture.hpp"
#include "cli/output/topo_report.hpp"
#include "cli/output/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace dts::cli {
namespace {

using Tone = Style::Tone;
using Cells = std::vector<std::string>;

// Columns of CPUs, GPUs, adapters and paths, in the order in which they are narrowed.
constexpr std::array<std::size_t, 5> k_lists{2, 1, 4, 6, 3};
constexpr std::size_t k_column_gap = 2;

// Column widths of a table; lists are narrowed so that a line fits if possible.
std::vector<std::size_t> widths_of(const std::vector<Cells>& rows, std::size_t columns) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::size_t all = k_column_gap * (widths.size() - 1);
  for (const std::size_t width : widths) all += width;
  for (const std::size_t list : k_lists) {
    const std::size_t least = std::max<std::size_t>(rows.front()[list].size(), 12);
    const std::size_t over = all > columns ? all - columns : 0;
    const std::size_t room = widths[list] > least ? widths[list] - least : 0;
    widths[list] -= std::min(over, room);
    all -= std::min(over, room);
  }
  return widths;
}

// A row, with as many lines as its longest list.
Block paint(const Cells& row, const std::vector<std::size_t>& widths, Style number, Style rest) {
  std::vector<Block> cells{text(fmt::format("{:>{}}", row[0], widths[0]), number)};
  for (std::size_t k = 1; k < row.size(); ++k) {
    const bool is_list = std::find(k_lists.begin(), k_lists.end(), k) != k_lists.end();
    Block cell;
    for (const std::string& line : is_list ? wrapped_list(row[k], widths[k]) : Cells{row[k]})
      cell = below(std::move(cell), text(fmt::format("{:<{}}", line, widths[k]), rest));
    cells.push_back(std::move(cell));
  }
  Block all = cells.front();
  for (std::size_t k = 1; k < cells.size(); ++k)
    all = beside(std::move(all), cells[k], k_column_gap);
  return all;
}

Block ranks_table(const TopoReport& report, std::size_t columns) {
  std::vector<Cells> rows{{"RANK", "HOME CPUS", "ANNEX CPUS", "GPU", "NIC", "DISTANCE", "PATH"}};
  for (RankRow& row : rank_rows(report))
    rows.push_back({row.rank, row.home, row.annex, row.gpus, row.nic, row.distance, row.path});
  const auto widths = widths_of(rows, columns);
  Block table = paint(rows[0], widths, {Tone::bold}, {Tone::bold});
  for (unsigned rank = 0; rank + 1 < rows.size(); ++rank)
    table = below(std::move(table), paint(rows[rank + 1], widths, {Tone::home, rank}, {}));
  return table;
}

// Scores side by side; omits those that are 0 everywhere.
Block scores_table(const TopoReport& report) {
  std::vector<PolicyScore> scores = report.policies;
  scores.push_back({"bound", report.binding.bound});
  std::string head = fmt::format("{:<26}", "SCORE");
  for (const PolicyScore& one : scores)
    head += fmt::format("{:>9}", one.policy == report.policy ? "*" + one.policy : one.policy);
  Block table = text(head, {Tone::bold});
  for (const Metric& metric : metrics()) {
    if (!is_telling(metric, scores)) continue;
    std::string line = fmt::format("{:<26}", metric.words);
    for (const PolicyScore& one : scores) line += fmt::format("{:>9}", in_words(metric, one.score));
    table = below(std::move(table), text(line));
  }
  return table;
}

Block sentences(const char* head, const std::vector<std::string>& all, std::size_t columns) {
  Block block;
  const std::string indent(std::string_view(head).size(), ' ');
  for (const std::string& sentence : all) {
    bool first = true;
    for (const std::string& line : wrapped(sentence, columns - indent.size())) {
      block =
          below(std::move(block), beside(text(first ? head : indent, {Tone::bold}), text(line)));
      first = false;
    }
  }
  return block;
}

}  // namespace

std::string to_text(const TopoReport& report,
                    std::size_t columns,
                    const TextOptions& look,
                    Lists lists) {
  const Scene scene = make_scene(report.node, report.gpus, report.binding);
  Block all = sentences("", {summary(report), request_in_words(report)}, columns);
  const auto add = [&](const Block& part) {
    if (!part.lines.empty()) all = below(below(std::move(all), Block{{{}}}), part);
  };
  add(below(draw(scene, columns), legend(scene, columns)));
  constexpr std::size_t k_endless = std::numeric_limits<std::size_t>::max();
  add(ranks_table(report, lists == Lists::whole ? k_endless : columns));
  add(sentences("why: ", report.binding.reasons, columns));
  add(sentences("warning: ", report.binding.warnings, columns));
  add(scores_table(report));
  return print(all, look);
}

}  // namespace dts::cli
