// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/assignment.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/element.hpp"
#include "core/plan/layout/json.hpp"
#include "core/plan/program/own_runtimes.hpp"
#include "core/plan/program/script_file.hpp"
#include "core/run/directory/amendment.hpp"
#include "core/spec/json.hpp"

#include <fmt/format.h>

namespace dts::launch {

Result<spec::JobSpec> read_spec(const run::RunDirectory& run) {
  DTS_ASSIGN(const std::string text, read_own_file(run.spec()));
  return spec::from_json(text, run.spec());
}

Result<plan::Plan> read_plan(const run::RunDirectory& run) {
  DTS_ASSIGN(const std::string text, read_own_file(run.plan()));
  return plan::plan_from_json(text);
}

Result<run::Policy> read_policy(const spec::JobSpec& spec) {
  auto policy = run::parse_policy(spec.on);
  if (!policy) return tl::unexpected<Error>(to_error(policy.error()));
  policy->time_total = spec.time_total;
  return *std::move(policy);
}

namespace {

Result<Allocation> allocation_of(const Assignment& job, bool local) {
  if (local) return local_allocation(job.plan);
  if (job.spec.heterogeneous) return heterogeneous_allocation(getenv_lookup);
  DTS_ASSIGN(Allocation allocation, slurm_allocation(getenv_lookup));
  // A component after the first has records of its own, under its own number and the whole job's
  // id.
  if (job.plan.component.value_or(0) > 0)
    allocation.job = JobId::parse(fmt::format("{}+{}", allocation.job, *job.plan.component))
                         .value_or(allocation.job);
  return allocation;
}

}  // namespace

Result<Assignment> read_assignment(const run::RunDirectory& run, bool local) {
  Assignment read;
  read.run = run;
  DTS_TRY(run::complete_amendment(run));
  DTS_ASSIGN(read.spec, read_spec(run));
  DTS_ASSIGN(read.policy, read_policy(read.spec));
  DTS_ASSIGN(read.plan, read_plan(run));
  if (is_element(run)) {
    DTS_ASSIGN(read.membership, read_membership(run));
  }
  DTS_ASSIGN(read.allocation, allocation_of(read, local));
  if (!local) DTS_TRY(check_allocation(read.allocation, read.plan));
  // With a scheduler, the job is already confined to these cores.
  if (local && read.plan.cores_per_rank == 0)
    read.plan.cores_per_rank = read.spec.cpus_per_task.value_or(0);
  return read;
}

std::vector<std::string> used_runtimes(const Assignment& job) {
  constexpr std::uint64_t k_longest_script = 1U << 20;
  std::vector<std::string> used;
  if (!job.spec.container.image.empty()) {
    const auto runtime = job.spec.container.runtime;
    if (runtime != spec::ContainerRuntime::automatic) return {spec::to_string(runtime)};
    for (const auto any : spec::container_runtimes()) used.emplace_back(spec::to_string(any));
    return used;
  }
  std::string text = join(job.plan.command, " ");
  // What `bash train.sh` and `./train.sh` run.
  const std::string script = plan::script_file(job.plan.command)
                                 .value_or(job.plan.command.empty() ? "" : job.plan.command[0]);
  if (script.find('/') != std::string::npos || exists(script))
    if (const auto lines = read_file(script, k_longest_script); lines && lines->starts_with("#!"))
      text += "\n" + *lines;
  return plan::own_runtimes(text);
}

}  // namespace dts::launch
