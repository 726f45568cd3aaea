// SPDX-License-Identifier: Apache-2.0
// The report for a terminal: faults, a table of nodes, a map of links.
#include "cli/output/check.hpp"
#include "core/base/text/text.hpp"
#include "core/check/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dts::cli {
namespace {

constexpr std::size_t k_most_node_rows =
    40;  // if there are more nodes, only those at fault are listed

struct TextColumn {
  std::vector<std::string> cells;  // the heading first
  std::vector<bool> bad;
  std::size_t width = 0;

  void add(std::string cell, bool is_bad = false) {
    width = std::max(width, cell.size());
    cells.push_back(std::move(cell));
    bad.push_back(is_bad);
  }
};

// The indices of the nodes that are listed.
std::vector<std::size_t> listed(const CheckReport& report) {
  std::vector<std::size_t> rows;
  const bool all = report.verdict.nodes.size() <= k_most_node_rows;
  for (std::size_t i = 0; i < report.verdict.nodes.size() && rows.size() < k_most_node_rows; ++i)
    if (all || !report.verdict.nodes[i].fit) rows.push_back(i);
  return rows;
}

std::vector<TextColumn> columns_of(const CheckReport& report,
                                   const std::vector<std::size_t>& rows) {
  std::vector<std::string> order;  // identities, in the order of the first node that has each
  std::map<std::string, TextColumn> columns;
  for (const std::size_t row : rows)
    for (const check::Measured& measured : report.facts.nodes[row].measures) {
      const std::string id = check::identity(measured);
      if (columns.count(id) > 0) continue;
      order.push_back(id);
      columns[id].add(check::heading(measured));
    }
  for (const std::size_t row : rows) {
    const check::Node& node = report.facts.nodes[row];
    for (const std::string& id : order) {
      const auto found = std::find_if(node.measures.begin(),
                                      node.measures.end(),
                                      [&](const auto& one) { return check::identity(one) == id; });
      if (found == node.measures.end()) {
        columns[id].add("-");
        continue;
      }
      const auto place = static_cast<std::size_t>(found - node.measures.begin());
      const check::Judged& judged = report.verdict.nodes[row].measures[place];
      columns[id].add(check::quantity(found->value, found->unit) + (judged.fit ? "" : " !"),
                      !judged.fit);
    }
  }
  std::vector<TextColumn> all;
  for (const std::string& id : order) all.push_back(std::move(columns[id]));
  return all;
}

TextColumn steps_column(const CheckReport& report, const std::vector<std::size_t>& rows) {
  TextColumn column;
  column.add("step");
  for (const std::size_t row : rows) {
    const std::string& digest = report.facts.nodes[row].steps.digest;
    const bool fit = report.verdict.nodes[row].steps_fit;
    column.add(digest.empty() ? "-" : digest.substr(0, 8) + (fit ? "" : " !"), !fit);
  }
  return column;
}

TextColumn others_column(const CheckReport& report, const std::vector<std::size_t>& rows) {
  TextColumn column;
  column.add("others");
  for (const std::size_t row : rows) {
    const auto others = report.verdict.nodes[row].others;
    column.add(others ? check::percent(*others) : "-");
  }
  return column;
}

std::string marked(const std::string& text, bool is_bad, bool colour) {
  return is_bad && colour ? "\033[1;31m" + text + "\033[0m" : text;
}

// One table, or several below each other if the terminal is narrow.
std::string node_table(const CheckReport& report, const CheckRenderOptions& look) {
  const std::vector<std::size_t> rows = listed(report);
  if (rows.empty()) return {};
  TextColumn names;
  names.add("NODE");
  TextColumn fit;
  fit.add("");
  for (const std::size_t row : rows) {
    const check::NodeVerdict& node = report.verdict.nodes[row];
    names.add(node.name);
    fit.add(node.fit ? "fit" : "UNFIT", !node.fit);
  }
  std::vector<TextColumn> columns = columns_of(report, rows);
  if (has_busy_node(report.verdict)) columns.push_back(others_column(report, rows));
  columns.push_back(steps_column(report, rows));
  std::string text;
  for (std::size_t first = 0; first < columns.size();) {
    std::size_t last = first;
    std::size_t width = names.width + 2 + fit.width;
    while (last < columns.size() &&
           (last == first || width + 2 + columns[last].width <= look.columns))
      width += 2 + columns[last++].width;
    for (std::size_t line = 0; line <= rows.size(); ++line) {
      text += fmt::format(
          "{:<{}}  {}",
          names.cells[line],
          names.width,
          marked(fmt::format("{:<{}}", fit.cells[line], fit.width), fit.bad[line], look.colour));
      for (std::size_t c = first; c < last; ++c)
        text += "  " + marked(fmt::format("{:>{}}", columns[c].cells[line], columns[c].width),
                              columns[c].bad[line],
                              look.colour);
      text += "\n";
    }
    text += "\n";
    first = last;
  }
  return text;
}

// A link as one character: a dot if it is as fast as the median of all, otherwise the tenths of it.
char shade(const std::optional<double>& speed) {
  if (!speed) return '?';
  return *speed >= 0.95 ? '.' : static_cast<char>('0' + static_cast<int>(*speed * 10));
}

std::string map_of(const CheckReport& report, LinkSpeed which, const CheckRenderOptions& look) {
  const LinkSpeeds speeds(report.facts, which);
  const std::size_t n = report.facts.nodes.size();
  if (!speeds.any() || n < 2) return {};
  std::size_t width = 0;
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < n; ++i) {
    index[report.facts.nodes[i].name] = i;
    width = std::max(width, report.facts.nodes[i].name.size());
  }
  const bool is_latency = which == LinkSpeed::latency;
  const std::string name = is_latency ? "latency" : "bandwidth";
  if (width + 8 + n > look.columns)
    return fmt::format(
        "The map of the {} of {} nodes is wider than this terminal: see --html.\n\n", name, n);
  std::vector<std::string> map(n, std::string(n, ' '));
  std::vector<std::vector<bool>> bad(n, std::vector<bool>(n, false));
  for (std::size_t i = 0; i < report.facts.pairs.size(); ++i) {
    const check::Pair& pair = report.facts.pairs[i];
    const std::size_t a = index[pair.a], b = index[pair.b];
    const check::LinkVerdict& link = report.verdict.links[i];
    map[a][b] = map[b][a] = shade(speeds.of(pair));
    bad[a][b] = bad[b][a] = is_latency ? !link.latency_fit : !link.bandwidth_fit;
  }
  std::string text =
      fmt::format("{} of pairs: . is the median, {}, or better; 0 to 9 are tenths of its speed\n",
                  name,
                  check::quantity(speeds.median(), is_latency ? "s" : "B/s"));
  std::string tens, ones;
  for (std::size_t i = 1; i <= n; ++i) {
    tens += i % 10 == 0 ? static_cast<char>('0' + i / 10 % 10) : ' ';
    ones += static_cast<char>('0' + i % 10);
  }
  if (n >= 10) text += fmt::format("{:>{}}  {}\n", "", width + 6, tens);
  text += fmt::format("{:>{}}  {}\n", "", width + 6, ones);
  for (std::size_t row = 0; row < n; ++row) {
    text += fmt::format("{:>4}  {:<{}}  ", row + 1, report.facts.nodes[row].name, width);
    for (std::size_t column = 0; column < n; ++column)
      text += row == column
                  ? "\\"
                  : marked(std::string(1, map[row][column]), bad[row][column], look.colour);
    text += "\n";
  }
  return text + "\n";
}

std::string collectives_table(const CheckReport& report) {
  if (report.facts.collectives.empty()) return {};
  std::string text =
      fmt::format("{:<16} {:>9} {:>10} {:>12} {:>12}\n", "", "size", "time", "algbw", "busbw");
  for (const check::Collective& one : report.facts.collectives)
    text += fmt::format("{:<16} {:>9} {:>10} {:>12} {:>12}\n",
                        one.operation,
                        check::quantity(one.bytes, "B"),
                        check::quantity(one.time, "s"),
                        check::quantity(one.algbw, "B/s"),
                        check::quantity(one.busbw, "B/s"));
  return text + "\n";
}

}  // namespace

std::string to_text(const CheckReport& report, const CheckRenderOptions& look) {
  std::string text = node_table(report, look);
  if (report.verdict.nodes.size() > k_most_node_rows && !text.empty())
    text = "Nodes at fault:\n" + text;
  text += map_of(report, LinkSpeed::bandwidth, look) + map_of(report, LinkSpeed::latency, look);
  text += collectives_table(report);
  for (const std::string& note : report.verdict.notes) text += "note: " + note + "\n";
  if (!report.verdict.notes.empty()) text += "\n";
  text += headline(report) +
          (report.baseline.empty() ? "" : ", compared with the baseline of " + report.baseline) +
          "\n";
  for (const std::string& fault : check::faults(report.facts, report.verdict))
    text += "  " + marked(fault, true, look.colour) + "\n";
  return text;
}

}  // namespace dts::cli
