// SPDX-License-Identifier: Apache-2.0
// A node and its ranks for a terminal.
#include "cli/output/topo_picture.hpp"
#include "cli/output/topo_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dts::cli {
namespace {

using Tone = Style::Tone;
using Row = std::vector<std::string>;

// At most `width` columns; what is cut off ends with two dots.
std::string cut(const std::string& words, std::size_t width) {
  return words.size() <= width ? words : words.substr(0, width - 2) + "..";
}

// The widths of the columns of a table, the lists of CPUs cut so that a line fits.
std::vector<std::size_t> widths_of(const std::vector<Row>& rows, std::size_t columns) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::size_t all = 2 * (widths.size() - 1);
  for (const std::size_t width : widths) all += width;
  constexpr std::size_t k_least = 12;
  for (const std::size_t list : {std::size_t{2}, std::size_t{1}}) {
    const std::size_t over = all > columns ? all - columns : 0;
    const std::size_t room = widths[list] > k_least ? widths[list] - k_least : 0;
    widths[list] -= std::min(over, room);
    all -= std::min(over, room);
  }
  return widths;
}

Block ranks_table(const TopoReport& report, std::size_t columns) {
  std::vector<Row> rows{{"RANK", "HOME CPUS", "ANNEX CPUS", "GPU", "NIC", "DISTANCE", "PATH"}};
  for (RankRow& row : rank_rows(report))
    rows.push_back({row.rank, row.home, row.annex, row.gpus, row.nic, row.distance, row.path});
  const auto widths = widths_of(rows, columns);
  Block table;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Style style =
        i == 0 ? Style{Tone::bold} : Style{Tone::home, static_cast<unsigned>(i - 1)};
    Block line = text(fmt::format("{:>{}}", rows[i][0], widths[0]), style);
    for (std::size_t k = 1; k < rows[i].size(); ++k)
      line = beside(std::move(line),
                    text(fmt::format("{:<{}}", cut(rows[i][k], widths[k]), widths[k]),
                         i == 0 ? style : Style{}),
                    2);
    table = below(std::move(table), line);
  }
  return table;
}

// The scores side by side; what is nowhere but 0 is left out.
Block scores_table(const TopoReport& report) {
  std::vector<PolicyScore> scores = report.policies;
  scores.push_back({"bound", report.binding.bound});
  std::string head = fmt::format("{:<24}", "SCORE");
  for (const PolicyScore& one : scores)
    head += fmt::format("{:>9}", one.policy == report.policy ? "*" + one.policy : one.policy);
  Block table = text(head, {Tone::bold});
  for (const Metric& metric : metrics()) {
    if (!is_telling(metric, scores)) continue;
    std::string line = fmt::format("{:<24}", metric.words);
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

std::string to_text(const TopoReport& report, std::size_t columns, const Look& look) {
  const Scene scene = make_scene(report.node, report.gpus, report.binding);
  Block all = sentences("", {summary(report), request_in_words(report)}, columns);
  const auto add = [&](const Block& part) {
    if (!part.lines.empty()) all = below(below(std::move(all), Block{{{}}}), part);
  };
  add(below(draw(scene, columns), legend(scene, columns)));
  add(ranks_table(report, columns));
  add(sentences("why: ", report.binding.reasons, columns));
  add(sentences("warning: ", report.binding.warnings, columns));
  add(scores_table(report));
  return print(all, look);
}

}  // namespace dts::cli
