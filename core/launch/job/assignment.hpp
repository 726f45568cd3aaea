// SPDX-License-Identifier: Apache-2.0
// What an agent has to run: the run's own files, and the allocation that the scheduler gave for
// them.
#pragma once

#include "core/launch/job/allocation.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/run/ledger/policy.hpp"
#include "core/spec/job_spec.hpp"
#include "core/sweep/element.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

struct Assignment {
  run::RunDirectory run;
  spec::JobSpec spec;
  run::Policy policy;
  plan::Plan plan;
  Allocation allocation;                        // checked against the plan
  std::optional<sweep::Membership> membership;  // for an element of a sweep
};

// `local`: there is no scheduler, and the plan enforces --cpus-per-task. Errors: those of
// read_spec() and read_plan(); Errc::invalid for an allocation that differs from the plan.
[[nodiscard]] Result<Assignment> read_assignment(const run::RunDirectory& run, bool local);

// Errors: the file cannot be read, or its text is damaged.
[[nodiscard]] Result<spec::JobSpec> read_spec(const run::RunDirectory& run);
[[nodiscard]] Result<plan::Plan> read_plan(const run::RunDirectory& run);

// The policy that --on and --time-total define.
[[nodiscard]] Result<run::Policy> read_policy(const spec::JobSpec& spec);

// The container runtimes that start the program: that of --container, or those that the command
// names, or its script. Reads the script.
[[nodiscard]] std::vector<std::string> used_runtimes(const Assignment& job);

}  // namespace dts::launch
