// SPDX-License-Identifier: Apache-2.0
#include "core/launch/binding/judge_binding.hpp"

#include "core/base/text/counted.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

using Numbers = std::vector<unsigned>;
using Findings = std::vector<BindingFinding>;

bool is_within(const Numbers& part, const Numbers& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

Numbers common(const Numbers& a, const Numbers& b) {
  Numbers both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// "core 3", "cores 0-7": messages to users call PUs cores.
std::string cores(const Numbers& cpus) {
  return fmt::format("core{} {}", cpus.size() == 1 ? "" : "s", fold_numbers(cpus));
}

std::string nodes(const Numbers& numbers) {
  return fmt::format("node{} {}", numbers.size() == 1 ? "" : "s", fold_numbers(numbers));
}

// The plan divides the cores that a node's first rank may use, so if something narrowed that mask,
// it silently narrowed the plan, too. This does no harm if the plan has all cores. If nothing is
// known to have done it, the user may have intended it (taskset).
void judge_inherited(const PlannedBinding& planned, const BoundState& found, Findings& findings) {
  std::size_t entitled = found.cgroup.size();
  if (found.allotted > 0) entitled = std::min<std::size_t>(entitled, found.allotted);
  const bool has_culprit = !found.inherited_from.empty();
  if (planned.node_cpus >= entitled || found.inherited.size() >= entitled) return;
  if (!has_culprit && found.inherited.size() > 1) return;
  findings.push_back({fmt::format("was started on {} only, but has {}: {}",
                                  cores(found.inherited),
                                  counted(entitled, "core"),
                                  has_culprit ? found.inherited_from + " leaked; unset it"
                                              : "by taskset, or by what launched it"),
                      0,
                      has_culprit});
}

bool leaves_less(const Numbers& cgroup, const PlannedBinding& planned) {
  return !cgroup.empty() && !is_within(planned.cpus, cgroup);
}

BindingFinding too_little(const char* leaves, const Numbers& cgroup, const Numbers& planned) {
  const Numbers both = common(planned, cgroup);
  if (both.empty())
    return {fmt::format(
        "the cgroup {} {}, none of the planned {}", leaves, cores(cgroup), fold_numbers(planned))};
  return {fmt::format("the cgroup {} only {} of the {} planned ({})",
                      leaves,
                      cores(both),
                      planned.size(),
                      fold_numbers(planned))};
}

void judge_mask(const PlannedBinding& planned, const BoundState& found, Findings& findings) {
  judge_inherited(planned, found, findings);
  if (planned.cpus.empty() || found.cpus == planned.cpus) return;
  if (leaves_less(found.cgroup, planned))
    findings.push_back(too_little("leaves", found.cgroup, planned.cpus));
  else
    findings.push_back(
        {fmt::format("is bound to {}, planned {}", cores(found.cpus), fold_numbers(planned.cpus))});
}

// A kernel without MPOL_PREFERRED_MANY (before 5.15) prefers the first of several nodes.
bool is_as_asked(const plan::MemoryPolicy& asked, const plan::MemoryPolicy& found) {
  if (asked.kind != found.kind) return false;
  return asked.kind == plan::MemoryPolicy::Kind::prefer
             ? !found.nodes.empty() && is_within(found.nodes, asked.nodes)
             : found.nodes == asked.nodes;
}

void judge_memory(const PlannedBinding& planned, const BoundState& found, Findings& findings) {
  using Kind = plan::MemoryPolicy::Kind;
  if (planned.memory.kind == Kind::none) return;
  if (!is_as_asked(planned.memory, found.memory)) {
    std::string why = found.memory_error;
    if (!found.memory_nodes.empty() && !is_within(planned.memory.nodes, found.memory_nodes))
      why = "the cgroup allows memory of " + nodes(found.memory_nodes) + " only";
    findings.push_back({fmt::format("its memory policy is `{}`, planned `{}`{}",
                                    plan::to_text(found.memory),
                                    plan::to_text(planned.memory),
                                    why.empty() ? "" : ": " + why)});
  }
  Numbers elsewhere;
  std::set_difference(found.pages_on.begin(),
                      found.pages_on.end(),
                      planned.memory.nodes.begin(),
                      planned.memory.nodes.end(),
                      std::back_inserter(elsewhere));
  // If the planned node is only preferred, it may be full, and memory comes from another one.
  if (!elsewhere.empty())
    findings.push_back({fmt::format("its memory comes from {}, planned {}",
                                    nodes(elsewhere),
                                    fold_numbers(planned.memory.nodes)),
                        0,
                        planned.memory.kind == Kind::bind});
}

void judge_gpus(const PlannedBinding& planned, const BoundState& found, Findings& findings) {
  const auto isolated = [&](std::optional<unsigned> seen, const char* how) {
    if (!seen || *seen >= planned.gpus_per_node) return false;
    findings.push_back(
        {fmt::format("reaches {} of the {} GPUs that the job has on its node ({}): "
                     "no peer-to-peer with the others; start without "
                     "--gpus-per-task and --gpu-bind",
                     *seen,
                     planned.gpus_per_node,
                     how)});
    return true;
  };
  if (!isolated(found.gpus_open, "its cgroup"))
    (void)isolated(found.gpus_visible, "CUDA_VISIBLE_DEVICES as it was started with");
}

void judge_cgroup_now(const PlannedBinding& planned, const BoundState& found, Findings& findings) {
  if (found.cgroup_now != found.cgroup && leaves_less(found.cgroup_now, planned))
    findings.push_back(too_little("now leaves", found.cgroup_now, planned.cpus));
}

// When a cpuset loses PUs, the kernel moves their threads to the remaining PUs of their mask, or to
// any PUs of the cpuset.
bool is_by_cgroup(const ThreadGroup& group,
                  const PlannedBinding& planned,
                  const BoundState& found) {
  return leaves_less(found.cgroup_now, planned) &&
         (group.cpus == found.cgroup_now || group.cpus == common(planned.cpus, found.cgroup_now));
}

// What bound the threads of a group to its PUs, as far as the loaded runtimes and variables show.
std::string mover(const ThreadGroup& group, const BoundState& found) {
  // Before Linux 6.2, any write to a cpuset, even one that enlarges it, undoes all masks in it.
  if (found.cgroup_now != found.cgroup && group.cpus == found.cgroup_now)
    return "a change of the cgroup, or by the program itself";
  if (!group.name.empty()) return group.name;
  if (found.openmp.empty()) return "the program itself";
  std::vector<std::string> names;
  for (const std::string& place : found.places) names.push_back(place.substr(0, place.find('=')));
  return join(found.openmp, " and ") +
         (names.empty() ? " or the program itself" : " (" + join(names, ", ") + ")");
}

void judge_threads(const PlannedBinding& planned, const BoundState& found, Findings& findings) {
  if (planned.cpus.empty()) return;
  for (const ThreadGroup& group : found.threads) {
    if (group.cpus == planned.cpus || is_by_cgroup(group, planned, found)) continue;
    const bool outside = !is_within(group.cpus, planned.cpus);
    const bool crowded = group.name.empty() && group.working > group.cpus.size();
    if (!outside && !crowded) continue;
    findings.push_back({fmt::format("of {} {} {}{} of the planned {}: moved by {}",
                                    group.program,
                                    outside ? "may run on" : "share",
                                    cores(group.cpus),
                                    outside ? ", outside" : "",
                                    fold_numbers(planned.cpus),
                                    mover(group, found)),
                        outside ? group.threads : group.working});
  }
}

bool has(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// A variable has no effect if the program's runtime does not read it. With two runtimes in one
// process, one may bind the thread from which the other counts its cores.
void judge_openmp(const BoundState& found, Findings& findings) {
  const auto is_set = [&](std::string_view name) {
    return std::any_of(found.places.begin(), found.places.end(), [&](const std::string& place) {
      return place.substr(0, place.find('=')) == name;
    });
  };
  if (is_set("KMP_AFFINITY") && !is_set("OMP_PLACES") &&
      found.openmp == std::vector<std::string>{"libgomp"})
    findings.push_back(
        {"KMP_AFFINITY is set, but the program has loaded libgomp, which does not "
         "read it: --bind-threads auto",
         0,
         false});
  if (is_set("GOMP_CPU_AFFINITY") && found.openmp.size() > 1 && has(found.openmp, "libgomp"))
    findings.push_back({fmt::format("GOMP_CPU_AFFINITY is set and {} are both loaded: the first "
                                    "binds the thread from which the other counts its cores; "
                                    "--bind-threads auto or none",
                                    join(found.openmp, " and ")),
                        0,
                        false});
}

}  // namespace

std::string in_words(const BindingFinding& finding) {
  if (finding.threads == 0) return finding.text;
  return fmt::format(
      "{} thread{} {}", finding.threads, finding.threads == 1 ? "" : "s", finding.text);
}

std::vector<BindingFinding> judge_binding(const PlannedBinding& planned, const BoundState& found) {
  Findings findings;
  judge_mask(planned, found, findings);
  judge_memory(planned, found, findings);
  judge_gpus(planned, found, findings);
  if (!found.settled) return findings;
  judge_cgroup_now(planned, found, findings);
  judge_threads(planned, found, findings);
  judge_openmp(found, findings);
  return findings;
}

bool has_mismatch(const std::vector<BindingFinding>& findings) {
  return std::any_of(
      findings.begin(), findings.end(), [](const BindingFinding& one) { return one.mismatch; });
}

}  // namespace dts::launch
