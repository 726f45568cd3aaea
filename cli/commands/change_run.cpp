// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/change_run.hpp"

#include "cli/commands/check_program.hpp"
#include "cli/commands/dry_run.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/agent/log_links.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/launch/job/element.hpp"
#include "core/plan/layout/json.hpp"
#include "core/spec/file/parts.hpp"
#include "core/spec/json.hpp"
#include "core/spec/parts.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace dts::cli {
namespace {

// Options on which the files in a run directory, or its earlier attempts, depend.
constexpr std::array k_fixed = {"--array", "--sweep", "--sweep-mode", "--snapshot", "--chdir"};

void check_fixed(const JobOptions& options, Diagnostics& problems) {
  for (const char* name : k_fixed)
    if (const spec::Option* row = spec::option_named(name); row && texts_of(*row, options))
      problems.push_back({name, "fixed once a run exists", "submit a new run"});
}

// A part has options of its own, which may differ from those of the others.
void check_whole(const JobOptions& options, bool heterogeneous, Diagnostics& problems) {
  for (const spec::Option& row : spec::options())
    if (texts_of(row, options) && spec::is_of_each_part(row, heterogeneous))
      problems.push_back({row.long_name(),
                          "each step or role has its own, which cannot change",
                          "change options of the whole job, such as --time, or submit a new run"});
}

run::Amendment files_of(const Prepared& prepared) {
  run::Amendment files{spec::to_json(prepared.spec), plan::to_json(prepared.plan), prepared.script};
  const auto& parts = spec::parts_of(prepared.spec);
  for (std::size_t i = 0; i < prepared.parts.size(); ++i)
    files.parts.push_back({.spec = spec::to_json(parts[i].job),
                           .plan = plan::to_json(prepared.parts[i]),
                           .script = "",
                           .folder = part_folder_of(prepared.spec, i)});
  return files;
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
                             const ClusterFor& cluster_for,
                             Destination destination) {
  if (launch::is_sweep(run))
    return fail(Errc::invalid,
                run.path + " is an array: only its elements have options that can change",
                fmt::format("name one of them, e.g. {}/0", run.path));
  options = without_runs(std::move(options));
  options.job_file = run.spec();
  options.stands_alone = true;
  options.groups = {spec::Group::job, spec::Group::hosts, spec::Group::slurm};  // all options
  DTS_ASSIGN(Asked asked, make_spec(options, {}));
  check_fixed(options, asked.problems);
  if (spec::is_composed(asked.spec)) check_whole(options, asked.spec.heterogeneous, asked.problems);
  launch::make_absolute(asked.spec);
  check_stage(asked, destination == Destination::scheduler ? Reach::nodes : Reach::here);
  DTS_ASSIGN(const plan::ClusterView cluster, cluster_for(asked.spec));
  DTS_ASSIGN(const Prepared prepared, prepare_change(std::move(asked), run, cluster, destination));
  return RunChange{files_of(prepared), join(typed_words(options), " "), size_in_words(prepared)};
}

}  // namespace dts::cli
