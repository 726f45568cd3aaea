// SPDX-License-Identifier: Apache-2.0
#include "cli/output/parts.hpp"

#include "core/base/text/text.hpp"
#include "core/run/directory/parts.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/summary/summary.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>

namespace dts::cli {
namespace {

std::string state_of(const std::vector<run::Event>& events, const run::RunSummary& summary) {
  if (run::is_done(events)) return "done";
  if (summary.attempts.empty()) return "not begun";
  const run::AttemptSummary& newest = summary.attempts.back();
  if (newest.ended.empty()) return "running";
  if (newest.decision == run::Action::stop) return "stopped";
  return newest.decision.empty() ? "ended" : newest.decision.name();
}

// From the first step of the first attempt to the latest step.
std::string steps_taken(const run::RunSummary& summary) {
  std::int64_t last = -1;
  for (const run::AttemptSummary& attempt : summary.attempts)
    last = std::max(last, attempt.last_step);
  return last >= 0 ? fmt::format("0-{}", last) : "-";
}

}  // namespace

std::vector<PartRow> part_rows(const run::RunDirectory& run) {
  std::vector<PartRow> rows;
  for (const run::PartDirectory& part : run::parts_of(run)) {
    const auto events = run::read_ledger(part.run.ledger()).value_or(std::vector<run::Event>());
    const run::RunSummary summary = run::summarise(events, run::read_metrics(part.run));
    PartRow row{part.name, part.run.path, state_of(events, summary)};
    row.attempts = static_cast<unsigned>(summary.attempts.size());
    row.steps = steps_taken(summary);
    if (!summary.attempts.empty()) {
      const run::AttemptSummary& newest = summary.attempts.back();
      row.cause = newest.cause.name();
      row.detail = newest.detail;
      row.nodes = join(newest.nodes, ",");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string parts_table(const std::vector<PartRow>& rows) {
  if (rows.empty()) return {};
  std::size_t width = 4;
  for (const PartRow& row : rows) width = std::max(width, row.name.size());
  const auto line = [&](auto name, auto state, auto attempts, auto ended, auto steps, auto nodes) {
    return fmt::format("{:<{}}  {:<9}  {:>8}  {:<14} {:>11}  {}\n",
                       name,
                       width,
                       state,
                       attempts,
                       ended,
                       steps,
                       nodes);
  };
  std::string text = line("PART", "STATE", "ATTEMPTS", "ENDED BY", "STEPS", "NODES");
  for (const PartRow& row : rows) {
    text += line(row.name,
                 row.state,
                 std::to_string(row.attempts),
                 row.cause.empty() ? "-" : row.cause,
                 row.steps,
                 row.nodes.empty() ? "-" : row.nodes);
    if (row.state != "done" && row.state != "running" && !row.detail.empty())
      text += fmt::format("{:<{}}  {}\n", "", width, row.detail);
  }
  return text;
}

nlohmann::ordered_json parts_to_json(const std::vector<PartRow>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const PartRow& row : rows)
    list.push_back({{"name", row.name},
                    {"run_directory", row.folder},
                    {"state", row.state},
                    {"attempts", row.attempts},
                    {"cause", row.cause},
                    {"detail", row.detail},
                    {"steps", row.steps},
                    {"nodes", row.nodes}});
  return list;
}

}  // namespace dts::cli
