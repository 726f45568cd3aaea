// SPDX-License-Identifier: Apache-2.0
// The output of `dtsubmit plan` for programs.
#include "cli/output/plan.hpp"
#include "core/base/text/json_text.hpp"
#include "core/plan/layout/json.hpp"
#include "core/sched/billing.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace dts::cli {
namespace {

using forecast::Outlook;
using forecast::Start;
using json = nlohmann::ordered_json;

// Rounds to a millionth: smaller digits depend on the machine's exp() and log(). Infinity becomes
// null.
json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::round(value * 1e6) / 1e6;
}

json size_json(const forecast::Size& size) {
  json object{{"nodes", size.nodes},
              {"spares", size.spares},
              {"ranks", size.ranks},
              {"cores", size.cores},
              {"gpus", size.gpus}};
  object["gpus_by_type"] = size.gpus_by_type;
  object["memory_mib"] = size.memory_mib;
  object["nodes_with_all_memory"] = size.nodes_with_all_memory;
  object["nodes_with_default_memory"] = size.nodes_by_default;
  return object;
}

json start_json(const Start& start, std::int64_t now) {
  json object{{"answer", forecast::to_string(start.answer)}};
  if (start.answer != Start::Answer::expected) {
    object["why"] = start.why;
    object["hint"] = start.hint;
    return object;
  }
  const sched::Expected& expected = start.expected;
  const bool is_known = expected.start_time > 0;
  object["time"] = is_known ? json(expected.start_time) : json();
  object["wait_s"] = is_known ? json(std::max<std::int64_t>(0, expected.start_time - now)) : json();
  object["nodes"] = expected.nodes;
  object["partition"] = expected.partition;
  object["processors"] = expected.processors;
  object["preempted"] = json::array();
  for (const JobId& job : expected.preempted) object["preempted"].push_back(job.text());
  return object;
}

json queue_json(const forecast::Queue& queue) {
  json holders = json::array();
  for (const forecast::Holder& holder : queue.holders)
    holders.push_back(
        {{"job", holder.job.text()}, {"nodes", holder.nodes}, {"end_time", holder.end_time}});
  return {{"partition", queue.partition},
          {"nodes", queue.nodes},
          {"idle", queue.idle},
          {"in_use", queue.in_use},
          {"away", queue.away},
          {"running", queue.running},
          {"waiting", queue.waiting},
          {"holders", std::move(holders)}};
}

json cost_json(const forecast::Cost& cost) {
  json terms = json::array();
  for (const forecast::Term& term : cost.terms)
    terms.push_back({{"what", term.what},
                     {"amount", number(term.amount)},
                     {"weight", number(term.weight)},
                     {"units", number(term.units())}});
  json object{{"units_an_hour", cost.units}, {"hours", nullptr}, {"total", nullptr}};
  if (cost.hours) object["hours"] = number(*cost.hours);
  if (const auto total = cost.total()) object["total"] = number(*total);
  object["rule"] = sched::to_string(cost.rule);
  object["is_by_default"] = cost.is_by_default;
  object["terms"] = std::move(terms);
  object["not_counted"] = cost.not_counted;
  return object;
}

json goodput_json(const forecast::Goodput& goodput) {
  return {{"share", number(goodput.estimate.goodput)},
          {"error", number(goodput.estimate.goodput_error)},
          {"interval_s", number(goodput.estimate.interval.count())},
          {"wall_s", number(goodput.model.wall.count())},
          {"is_of_limit", goodput.is_of_limit},
          {"save_s", number(goodput.model.policy.save.count())},
          {"node_failures_in_1000_days", number(goodput.model.failures.node_rate)},
          {"preemptions_per_day", number(goodput.model.failures.preemptions_per_day)},
          {"mttf_s", number(reliability::mean_time_to_failure(goodput.model).count())}};
}

json outlook_json(const Outlook& outlook, std::int64_t now) {
  json object{{"size", size_json(outlook.size)}, {"limit_s", nullptr}};
  if (outlook.limit && *outlook.limit != std::chrono::seconds::max())
    object["limit_s"] = outlook.limit->count();
  object["start"] = start_json(outlook.start, now);
  if (outlook.start.answer == Start::Answer::expected) {
    object["start"]["powered_down"] = outlook.powered_down;
    object["start"]["power_up_s"] = outlook.power_up.count();
  }
  object["queue"] = outlook.queue ? queue_json(*outlook.queue) : json();
  object["cost"] = outlook.cost ? cost_json(*outlook.cost) : json();
  object["goodput"] = outlook.goodput ? goodput_json(*outlook.goodput) : json();
  object["warnings"] = outlook.warnings;
  return object;
}

json row_json(const WhatIf& row, std::int64_t now) {
  json object{{"option", row.name}, {"value", row.value}};
  if (row.outlook)
    object.update(outlook_json(*row.outlook, now));
  else
    object["problem"] = row.problem;
  return object;
}

}  // namespace

std::string to_json(const PlanReport& report) {
  json document{
      {"schema", "dtsubmit/forecast/1"}, {"scheduler", nullptr}, {"asked_at", report.now}};
  if (!report.way.empty()) document["scheduler"] = report.way;
  document["elements"] = report.elements;
  document.update(outlook_json(report.outlook, report.now));
  document["plan"] = json::parse(plan::to_json(report.plan));
  for (const PlannedPart& part : report.parts)
    document["parts"].push_back(
        {{"name", part.name}, {"plan", json::parse(plan::to_json(part.plan))}});
  for (const PlannedOption& option : report.options)
    document["options"].push_back(
        {{"name", option.name}, {"value", option.value}, {"who", option.who}});
  document["nodes"] = json::array();
  for (const TopoReport& node : report.nodes)
    document["nodes"].push_back(json::parse(to_json(node)));
  document["what_if"] = json::array();
  for (const WhatIf& row : report.what_if) document["what_if"].push_back(row_json(row, report.now));
  return json_text(document);
}

}  // namespace dts::cli
