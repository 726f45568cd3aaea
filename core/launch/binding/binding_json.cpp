// SPDX-License-Identifier: Apache-2.0
// Writes and reads binding.json.
#include "core/base/text/hostlist.hpp"
#include "core/base/text/json_fields.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/number_list.hpp"
#include "core/launch/binding/binding_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::launch {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* k_schema = "dtsubmit/binding/1";
constexpr unsigned k_most_ranks = 10'000'000;

ordered_json to_json(const PlannedBinding& planned) {
  return {{"cpus", fold_numbers(planned.cpus)},
          {"memory", plan::to_text(planned.memory)},
          {"gpus_per_node", planned.gpus_per_node},
          {"node_cpus", planned.node_cpus}};
}

PlannedBinding planned_from(const json& j) {
  const auto memory = plan::memory_policy_from(j.at("memory").get<std::string>());
  if (!memory) wrong_field("memory");
  return {
      numbers(j, "cpus", k_highest_cpu), *memory, count(j, "gpus_per_node"), count(j, "node_cpus")};
}

ordered_json to_json(const BindingGroup& group) {
  ordered_json findings = ordered_json::array();
  for (const BindingFinding& finding : group.findings)
    findings.push_back(
        {{"text", finding.text}, {"threads", finding.threads}, {"mismatch", finding.mismatch}});
  return {{"ranks", fold_numbers(group.ranks)},
          {"nodes", fold_hostlist(group.nodes)},
          {"planned", to_json(group.planned)},
          {"found", ordered_json::parse(to_text(group.found))},
          {"threads", {group.fewest_threads, group.most_threads}},
          {"findings", std::move(findings)}};
}

BindingGroup group_from(const json& j) {
  BindingGroup group;
  group.ranks = numbers(j, "ranks", k_most_ranks);
  auto nodes = expand_hostlist(j.at("nodes").get<std::string>());
  if (!nodes) wrong_field("nodes");
  group.nodes = *std::move(nodes);
  group.planned = planned_from(j.at("planned"));
  auto found = parse_bound_state(j.at("found").dump());
  if (!found) wrong_field("found");
  group.found = *std::move(found);
  const json& threads = j.at("threads");
  if (!threads.is_array() || threads.size() != 2) wrong_field("threads");
  group.fewest_threads = whole<unsigned>(threads[0], "threads");
  group.most_threads = whole<unsigned>(threads[1], "threads");
  for (const json& finding : j.at("findings").get_ref<const json::array_t&>())
    group.findings.push_back({finding.at("text").get<std::string>(),
                              count(finding, "threads"),
                              finding.at("mismatch").get<bool>()});
  return group;
}

BindingReport report_from(const json& j) {
  if (j.at("schema") != k_schema) wrong_field("schema");
  BindingReport report;
  report.attempt = count(j, "attempt");
  report.number = count(j, "number");
  report.time = j.at("time").get<std::string>();
  report.settled = j.at("settled").get<bool>();
  for (const json& group : j.at("groups").get_ref<const json::array_t&>())
    report.groups.push_back(group_from(group));
  return report;
}

}  // namespace

std::string to_json(const BindingReport& report) {
  ordered_json groups = ordered_json::array();
  for (const BindingGroup& group : report.groups) groups.push_back(to_json(group));
  const ordered_json document{{"schema", k_schema},
                              {"attempt", report.attempt},
                              {"number", report.number},
                              {"time", report.time},
                              {"settled", report.settled},
                              {"groups", std::move(groups)}};
  return json_text(document);
}

Result<BindingReport> binding_report_from(std::string_view text) {
  try {
    return report_from(json::parse(text));
  } catch (const json::exception& error) {
    return fail(Errc::invalid,
                fmt::format("binding.json: {}", error.what()),
                "it is written again at the next check of the ranks");
  }
}

}  // namespace dts::launch
