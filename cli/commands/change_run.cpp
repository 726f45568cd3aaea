// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/change_run.hpp"

#include "cli/commands/check_program.hpp"
#include "cli/commands/dry_run.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/agent/log_links.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/job/element.hpp"
#include "core/plan/layout/json.hpp"
#include "core/spec/json.hpp"
#include "core/spec/parts.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace dts::cli {
namespace {

// Options on which the files in a run directory, or its earlier attempts, depend.
constexpr std::array k_fixed = {"--array", "--sweep", "--sweep-mode", "--snapshot", "--chdir"};

Result<void> check_changeable(const run::RunDirectory& run, const spec::JobSpec& spec) {
  const bool is_array = launch::is_sweep(run) || launch::is_element(run);
  if (!is_array && !spec::is_composed(spec)) return {};
  return fail(
      Errc::invalid,
      fmt::format("{} is {}: its options cannot change",
                  run.path,
                  is_array ? "an array or an element of one" : "a job of several steps or roles"),
      "continue it as it is, or submit a new run");
}

void check_fixed(const JobOptions& options, Diagnostics& problems) {
  for (const char* name : k_fixed)
    if (const spec::Option* row = spec::option_named(name); row && texts_of(*row, options))
      problems.push_back({name, "fixed once a run exists", "submit a new run"});
}

JobOptions without_runs(JobOptions options) {
  options.typed.erase("--runs");
  return options;
}

}  // namespace

Result<void> check_no_program(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  return fail(Errc::usage,
              fmt::format("`{}`: a run keeps the program that it began with", command[0]),
              "omit the program, or submit a new run");
}

bool changes_run(const JobOptions& options) {
  return !typed_words(without_runs(options)).empty();
}

Result<RunChange> change_run(const run::RunDirectory& run,
                             JobOptions options,
                             const plan::ClusterView& cluster,
                             Destination destination) {
  DTS_ASSIGN(const spec::JobSpec before, launch::read_spec(run));
  DTS_TRY(check_changeable(run, before));
  options = without_runs(std::move(options));
  options.job_file = run.spec();
  options.stands_alone = true;
  options.groups = {spec::Group::job, spec::Group::hosts, spec::Group::slurm};  // all options
  DTS_ASSIGN(Asked asked, make_spec(options, {}));
  check_fixed(options, asked.problems);
  launch::make_absolute(asked.spec);
  check_stage(asked, destination == Destination::scheduler ? Reach::nodes : Reach::here);
  DTS_ASSIGN(const Prepared prepared, prepare_change(std::move(asked), run, cluster, destination));
  return RunChange{{spec::to_json(prepared.spec), plan::to_json(prepared.plan), prepared.script},
                   join(typed_words(options), " "),
                   size_in_words(prepared)};
}

}  // namespace dts::cli
