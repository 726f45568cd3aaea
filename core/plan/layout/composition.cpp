// SPDX-License-Identifier: Apache-2.0
#include "core/plan/composition.hpp"

#include "core/plan/layout/share_nodes.hpp"
#include "core/plan/program/job_name.hpp"
#include "core/spec/parts.hpp"
#include "core/spec/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dts::plan {
namespace {

void add_new(const std::string& words, Diagnostics more, Diagnostics& problems) {
  for (Diagnostic& problem : more) {
    const bool is_known = std::any_of(problems.begin(), problems.end(), [&](const auto& other) {
      return other.message == problem.message && other.where.ends_with(problem.where);
    });
    if (is_known) continue;
    if (!words.empty()) problem.where = words + ": " + problem.where;
    problems.push_back(std::move(problem));
  }
}

bool is_guest(const Plan& part) {
  return part.shared && part.shared->is_guest;
}

template <class Number>
unsigned most_of(const std::vector<Plan>& parts, Number number) {
  unsigned most = 0;
  for (const Plan& part : parts) most = std::max(most, number(part));
  return most;
}

unsigned nodes_of_job(const spec::JobSpec& spec,
                      const std::vector<Plan>& parts,
                      Diagnostics& problems) {
  if (spec.roles.empty())
    return std::max(spec.nodes, most_of(parts, [](const Plan& part) { return part.nodes; }));
  const unsigned sum =
      std::accumulate(parts.begin(), parts.end(), 0U, [](unsigned nodes, const Plan& part) {
        return nodes + (is_guest(part) ? 0 : part.nodes);
      });
  if (spec.nodes != 1 && spec.nodes != sum)
    problems.push_back({"--nodes",
                        fmt::format("{}, but the roles have {} together", spec.nodes, sum),
                        "omit the number of the job: it follows from those of the roles"});
  return sum;
}

std::string name_of_job(const spec::JobSpec& spec) {
  if (!spec.job_name.empty()) return spec.job_name;
  std::string name;
  for (const spec::Part& part : spec::parts_of(spec)) name += (name.empty() ? "" : "-") + part.name;
  return not_interactive(spec::folder_name(name).substr(0, 64));
}

// A job without a program of its own that has room for every part.
spec::JobSpec room_for(const spec::JobSpec& spec,
                       const std::vector<Plan>& parts,
                       Diagnostics& problems) {
  spec::JobSpec room = spec;
  room.steps.clear();
  room.roles.clear();
  room.heterogeneous = false;
  room.totals = {};
  room.container = {};
  room.per_node = false;
  room.cpus_per_gpu.reset();
  room.job_name = name_of_job(spec);
  room.command = {"dtsubmit"};
  room.nodes = nodes_of_job(spec, parts, problems);
  const unsigned gpus = most_of(parts, gpus_of_node);
  room.gpus_per_node = gpus;
  const auto widest =
      std::max_element(parts.begin(), parts.end(), [&](const auto& a, const auto& b) {
        return cpus_of_node(a) < cpus_of_node(b);
      });
  room.ntasks_per_node = widest->ntasks_per_node;
  room.cpus_per_task = widest->cpus_per_task;
  // A part has more ranks than another has GPUs, or several parts are on one node.
  if (widest->shared || (gpus > 0 && widest->ntasks_per_node > gpus)) {
    room.ntasks_per_node = 1;
    room.cpus_per_task = cpus_of_node(*widest);
  }
  return room;
}

// A part may be smaller than what a partition demands of a whole job.
ClusterView view_of_parts(ClusterView cluster) {
  for (ClusterView::Partition& partition : cluster.partitions) {
    partition.min_nodes = 0;
    std::erase_if(partition.limits, [](const JobLimit& limit) { return limit.is_least; });
  }
  return cluster;
}

void share_spares(const spec::JobSpec& spec, const Plan& job, std::vector<Plan>& parts) {
  if (job.spares == 0) return;
  if (spec.roles.empty()) {
    for (Plan& part : parts) part.spares = job.nodes + job.spares - part.nodes;
    return;
  }
  const auto largest = std::max_element(
      parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.nodes < b.nodes; });
  largest->spares = job.spares;
}

}  // namespace

tl::expected<Composition, Diagnostics> make_composition(const spec::JobSpec& spec,
                                                        const ClusterView& cluster,
                                                        const std::string& trainer) {
  Diagnostics problems = spec::validate(spec);
  Composition made;
  const ClusterView seen = spec.heterogeneous ? cluster : view_of_parts(cluster);
  const auto& parts = spec::parts_of(spec);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto plan = make_plan(spec_of_part(spec, i), seen, trainer);
    if (!plan) add_new(words_of(spec, parts[i]), plan.error(), problems);
    made.parts.push_back(plan.value_or(Plan()));
  }
  const PlanAny plan_any = [&](const spec::JobSpec& job) -> std::optional<Plan> {
    auto plan = make_plan(job, seen, trainer);
    return plan ? std::optional(*std::move(plan)) : std::nullopt;
  };
  if (problems.empty()) share_nodes(spec, seen, plan_any, made.parts, problems);
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  const spec::JobSpec room = room_for(spec, made.parts, problems);
  // In a heterogeneous job, each part asks for its own nodes, so none needs room for every part.
  auto job = make_plan(room, spec.heterogeneous ? ClusterView() : cluster, trainer);
  const bool have_guests = std::any_of(made.parts.begin(), made.parts.end(), is_guest);
  if (!job) add_new(have_guests ? "roles that share nodes" : "", std::move(job).error(), problems);
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  made.job = *std::move(job);
  for (std::size_t i = 0; i < made.parts.size(); ++i) {
    if (spec.heterogeneous)
      made.parts[i].component = static_cast<unsigned>(i);
    else
      made.parts[i].hides_gpus = made.parts[i].gpus_per_node == 0 && made.job.gpus_per_node > 0;
  }
  share_spares(spec, made.job, made.parts);
  return made;
}

void put_on_one_machine(Composition& made) {
  const auto is_beside = [](const Plan& part) { return part.shared && part.shared->host == 0; };
  if (std::all_of(made.parts.begin(), made.parts.end(), is_beside)) return;
  SharedNodes shared;
  for (const Plan& part : made.parts) shared.gpus.push_back(part.gpus_per_node);
  for (Plan& part : made.parts) {
    part.shared = shared;
    shared.is_guest = true;
    ++shared.own;
  }
}

std::vector<std::string> nodes_of_part(const std::vector<Plan>& parts,
                                       bool are_roles,
                                       std::size_t index,
                                       const std::vector<std::string>& all) {
  const auto share = [&](std::size_t part) {
    return is_guest(parts.at(part)) ? 0 : std::size_t{parts.at(part).nodes} + parts.at(part).spares;
  };
  if (const Plan& guest = parts.at(index); are_roles && is_guest(guest)) {
    const std::size_t host = guest.shared->host;
    if (host >= parts.size() || is_guest(parts[host])) return {};  // a damaged plan
    auto nodes = nodes_of_part(parts, true, host, all);
    nodes.resize(std::min<std::size_t>(nodes.size(), guest.nodes));
    return nodes;
  }
  std::size_t first = 0;
  for (std::size_t before = 0; are_roles && before < index; ++before) first += share(before);
  const std::size_t end = std::min(all.size(), first + share(index));
  first = std::min(first, end);
  return {all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace dts::plan
