// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/dry_run.hpp"

#include "cli/commands/sweep_view.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/forecast/size.hpp"
#include "core/plan/layout/json.hpp"
#include "core/spec/option.hpp"
#include "core/spec/parts.hpp"
#include "core/sweep/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dts::cli {
namespace {

std::string memory_of(const spec::JobSpec& spec, const plan::Plan& plan) {
  const auto mib = forecast::memory_a_node(spec, plan);
  if (!mib) return "the site's default of memory";
  return *mib == 0 ? "all memory of each node" : fmt::format("{} MiB of memory a node", *mib);
}

void print_plan(const std::string& words, const plan::Plan& plan) {
  fmt::print("# {}: {} x {} = {}, {} a node, {} a rank\n",
             words,
             counted(plan.nodes, "node"),
             counted(plan.ntasks_per_node, "rank"),
             counted(plan.world_size, "rank"),
             counted(plan.gpus_per_node, "GPU"),
             counted(plan.cpus_per_task, "CPU"));
}

void print_reasons(const plan::Plan& plan) {
  for (const plan::Reason& reason : plan.reasons)
    fmt::print("#   {}: {}\n", reason.what(), reason.why);
}

// Options omitted from the script, which later jobs of the run share.
void print_first_job_only(const spec::JobSpec& spec) {
  std::string words;
  for (const spec::Option& row : spec::options()) {
    if (!row.is_for_first_job) continue;
    const std::string name = row.long_name();
    const auto given = spec.slurm.find(name.substr(2));
    if (given == spec.slurm.end()) continue;
    words += " " + name + (given->second.empty() ? "" : "=" + shell_quote(given->second));
  }
  if (!words.empty()) fmt::print("# for the first job only:{}\n", words);
}

}  // namespace

std::string sums_of(const Prepared& prepared) {
  const plan::Plan& plan = prepared.plan;
  const spec::JobSpec& spec = prepared.spec;
  unsigned ranks = prepared.parts.empty() ? plan.world_size : 0;
  for (const plan::Plan& part : prepared.parts)  // steps take turns
    ranks = spec.roles.empty() ? std::max(ranks, part.world_size) : ranks + part.world_size;
  std::string sums = counted(ranks, "rank");
  if (plan.gpus_per_node > 0) sums += ", " + counted(plan.nodes * plan.gpus_per_node, "GPU");
  if (!spec.gpu_type.empty()) sums += fmt::format(" ({})", spec.gpu_type);
  sums += ", " + counted(plan.world_size * plan.cpus_per_task, "CPU");
  return sums + "; " + memory_of(spec, plan);
}

void print_dry_run(const Prepared& prepared, bool json) {
  const auto& parts = spec::parts_of(prepared.spec);
  if (json) {
    nlohmann::ordered_json document{{"schema", "dtsubmit/dry-run/1"}, {"script", prepared.script}};
    document["plan"] = nlohmann::ordered_json::parse(plan::to_json(prepared.plan));
    for (std::size_t i = 0; i < prepared.parts.size(); ++i)
      document[prepared.spec.roles.empty() ? "steps" : "roles"].push_back(
          {{"name", parts[i].name},
           {"plan", nlohmann::ordered_json::parse(plan::to_json(prepared.parts[i]))}});
    if (prepared.sweep)
      document["sweep"] = nlohmann::ordered_json::parse(sweep::to_json(*prepared.sweep));
    fmt::print("{}", json_text(document));
    return;
  }
  if (prepared.parts.empty()) print_plan("plan", prepared.plan);
  for (std::size_t i = 0; i < prepared.parts.size(); ++i) {
    print_plan(words_of(prepared.spec, parts[i]), prepared.parts[i]);
    print_reasons(prepared.parts[i]);
  }
  if (prepared.spec.heterogeneous) {
    fmt::print("# the job: heterogeneous, {}, each with nodes of its own\n",
               size_in_words(prepared));
  } else {
    if (!prepared.parts.empty()) print_plan("the job, with room for each", prepared.plan);
    fmt::print("# sums: {}\n", sums_of(prepared));
    if (prepared.sweep) fmt::print("# array: {}\n", size_of(*prepared.sweep));
    print_reasons(prepared.plan);
  }
  print_first_job_only(prepared.spec);
  fmt::print("{}", prepared.script);
}

std::string size_in_words(const Prepared& prepared) {
  const std::string nodes = counted(prepared.plan.nodes, "node");
  if (prepared.parts.empty()) return nodes + " x " + counted(prepared.plan.ntasks_per_node, "rank");
  return nodes + ", " +
         counted(static_cast<unsigned>(prepared.parts.size()),
                 prepared.spec.roles.empty() ? "step" : "role");
}

}  // namespace dts::cli
