// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/wait_for.hpp"

#include "cli/commands/selection.hpp"
#include "core/launch/agent/after/after.hpp"
#include "core/spec/after.hpp"

#include <fmt/format.h>

namespace dts::cli {
namespace {

// For a Slurm job that is not one of our runs.
std::string slurm_condition(spec::After::When when, const std::string& job) {
  switch (when) {
    case spec::After::When::ok:
      return "afterok:" + job;
    case spec::After::When::fail:
      return "afternotok:" + job;
    case spec::After::When::any:
      break;
  }
  return "afterany:" + job;
}

void add_condition(Asked& asked, const std::string& condition) {
  if (condition.empty()) return;
  std::string& dependency = asked.spec.slurm["dependency"];
  if (dependency.find('?') != std::string::npos)
    asked.problems.push_back({"--after",
                              "--dependency lets the job start after any of several jobs",
                              "name these with `,`, or omit one of both options"});
  dependency += (dependency.empty() ? "" : ",") + condition;
}

}  // namespace

void wait_for_others(sched::Scheduler& scheduler, Asked& asked) {
  std::vector<spec::After> ours;
  for (const std::string& text : asked.spec.after) {
    auto after = spec::parse_after(text);
    if (!after) continue;  // reported by validate()
    const auto run = find({after->run, asked.spec.runs.empty() ? k_default_runs : asked.spec.runs});
    const auto job = sched::JobId::parse(after->run);
    if (run) {
      after->run = run->path;
      ours.push_back(*std::move(after));
    } else if (run.error().code == Errc::not_found && job && scheduler.job(*job)) {
      add_condition(asked, slurm_condition(after->when, job->text()));
    } else {
      asked.problems.push_back({"--after", run.error().message, run.error().hint});
    }
  }
  asked.spec.after.clear();
  for (const spec::After& one : ours) asked.spec.after.push_back(spec::to_text(one));
  const auto awaited = launch::look_at_awaited(scheduler, ours);
  if (!awaited)
    return asked.problems.push_back({"--after", awaited.error().message, awaited.error().hint});
  for (const std::string& refused : awaited->refused)
    asked.problems.push_back({"--after", refused, "omit the option, or choose :ok, :fail or :any"});
  add_condition(asked, launch::dependency_on(awaited->jobs));
}

}  // namespace dts::cli
