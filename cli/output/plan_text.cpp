// SPDX-License-Identifier: Apache-2.0
// The output of `dtsubmit plan` for users.
#include "cli/output/plan.hpp"
#include "cli/output/wrapped.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/run/summary/goodput.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::cli {
namespace {

using forecast::Outlook;
using forecast::Start;

constexpr std::size_t k_longest_option_value = 120;
constexpr std::size_t k_widest_option = 32;
constexpr std::size_t k_heading = 10;  // "goodput   "
constexpr std::size_t k_widest_plan = 110;

using Rows = std::vector<std::vector<std::string>>;

enum class Last { number, words };

// Columns are as wide as their widest cell. The first column is flush left, numbers are flush
// right.
std::string table(const Rows& rows, Last last) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_left = i == 0 || (i + 1 == widths.size() && last == Last::words);
      line += i == 0 ? "" : "  ";
      line += is_left ? fmt::format("{:<{}}", row[i], widths[i])
                      : fmt::format("{:>{}}", row[i], widths[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string layout_table(const PlanReport& report) {
  Rows rows{{"", "NODES", "RANKS", "A NODE", "CPUS A RANK", "GPUS A NODE", "SPARES"}};
  for (const PlannedPart& part : report.parts) {
    const plan::Plan& plan = part.plan;
    const bool is_guest = plan.shared && plan.shared->is_guest;
    const std::string host = is_guest ? " beside " + report.parts.at(plan.shared->host).name : "";
    rows.push_back({part.name + host});
    for (const unsigned number : {plan.nodes,
                                  plan.world_size,
                                  plan.ntasks_per_node,
                                  plan.cpus_per_task,
                                  plan.gpus_per_node,
                                  plan.spares})
      rows.back().push_back(std::to_string(number));
  }
  return table(rows, Last::number);
}

std::string options_table(const PlanReport& report) {
  std::string text;
  for (const PlannedOption& option : report.options)
    text += fmt::format(
        "  {:<{}}  {}\n",
        fmt::format("{} = {}", option.name, printable(option.value, k_longest_option_value)),
        k_widest_option,
        printable(option.who, k_longest_option_value));
  return text;
}

// The sentences, one below another, to the right of their heading.
std::string section(const std::string& heading,
                    const std::vector<std::string>& sentences,
                    std::size_t columns) {
  std::string text;
  for (const std::string& sentence : sentences)
    for (const std::string& line : wrapped(sentence, columns - k_heading))
      text += fmt::format("{:<{}}{}\n", text.empty() ? heading : "", k_heading, line);
  return text;
}

// The first of an error's problems, without the line that counts them.
std::string first_problem(const std::string& message) {
  const auto lines = split(message, '\n');
  return lines.size() > 1 && lines.front().ends_with(" problems:") ? lines[1] : lines.front();
}

std::string start_cell(const Outlook& outlook, std::int64_t now) {
  const Start& start = outlook.start;
  if (start.answer != Start::Answer::expected)
    return start.answer == Start::Answer::never ? "never" : "-";
  return start.expected.start_time > 0 ? time_in_words(start.expected.start_time, now) : "-";
}

std::vector<std::string> cells_of(const Outlook& outlook, std::int64_t now) {
  const Start& start = outlook.start;
  const bool is_expected = start.answer == Start::Answer::expected && start.expected.start_time > 0;
  const std::int64_t wait = std::max<std::int64_t>(0, start.expected.start_time - now);
  const auto& cost = outlook.cost;
  const auto total = cost ? cost->total() : std::nullopt;
  std::string note = start.expected.nodes;
  if (start.answer == Start::Answer::never) note = first_problem(start.why);
  if (!start.expected.preempted.empty())
    note += fmt::format(", preempts {}", start.expected.preempted.size());
  return {start_cell(outlook, now),
          is_expected ? run::duration_words(std::chrono::seconds(wait)) : "-",
          cost ? std::to_string(cost->units) : "-",
          total ? amount_in_words(*total) : "-",
          outlook.goodput ? share_in_words(outlook.goodput->estimate.goodput) : "-",
          printable(note, k_longest_option_value)};
}

std::string what_if_table(const PlanReport& report) {
  if (report.what_if.empty()) return {};
  Rows rows{{"WHAT IF", "START", "WAIT", "AN HOUR", "COST", "GOODPUT", "WHERE, OR WHY NOT"}};
  for (const WhatIf& one : report.what_if) {
    const std::string name =
        fmt::format("{} = {}", one.name, printable(one.value, k_longest_option_value));
    if (one.outlook) {
      rows.push_back(cells_of(*one.outlook, report.now));
    } else {
      rows.push_back({"never",
                      "-",
                      "-",
                      "-",
                      "-",
                      printable(first_problem(one.problem), k_longest_option_value)});
    }
    rows.back().insert(rows.back().begin(), name);
  }
  return "\n" + table(rows, Last::words);
}

std::string picture_of(const PlanReport& report, std::size_t columns, const TextOptions& look) {
  std::string pictures;
  for (const TopoReport& node : report.nodes) pictures += "\n" + to_text(node, columns, look);
  if (!pictures.empty()) return pictures;
  return section(
      "a node",
      {"cores, NUMA nodes, GPUs and adapters of each rank are not known: --topology FILE "
       "names a description of such a node, written there by `lstopo --of xml FILE`"},
      columns);
}

}  // namespace

std::string to_text(const PlanReport& report, std::size_t columns, const TextOptions& look) {
  columns = std::min(columns, k_widest_plan);
  std::string text = layout_table(report);
  text += fmt::format("sums: {}\n\noptions\n{}\n", report.sums, options_table(report));
  text += section("start", start_in_words(report), columns);
  if (!report.way.empty()) text += section("", {"asked: " + report.way}, columns);
  text += section("cost", {cost_in_words(report)}, columns);
  text += section("goodput", {goodput_in_words(report.outlook)}, columns);
  std::string heading = "look at";
  for (const std::string& warning : report.outlook.warnings) {
    text += section(heading, {warning}, columns);
    heading.clear();
  }
  return text + picture_of(report, columns, look) + what_if_table(report);
}

}  // namespace dts::cli
