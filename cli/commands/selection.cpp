// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/selection.hpp"

#include "core/run/find.hpp"
#include "core/run/ledger.hpp"

#include <CLI/CLI.hpp>

namespace dts::cli {

void add_selection(CLI::App& verb, Selection& selection, bool required) {
  CLI::Option* what =
      verb.add_option("job", selection.what, "job id, run name, run directory, or `last`")
          ->type_name("JOB");
  if (required) what->required();
  verb.add_option("--runs", selection.runs, "folder of run directories [runs]")
      ->type_name("DIR")
      ->envname("DTSUBMIT_RUNS");
}

Result<run::RunDirectory> find(const Selection& selection) {
  return run::find_run(selection.runs, selection.what);
}

Result<sched::JobId> job_of(const run::RunDirectory& run) {
  DTS_ASSIGN(const auto events, run::read_ledger(run.ledger()));
  for (auto event = events.rbegin(); event != events.rend(); ++event)
    if (event->job != 0) return event->job;
  return fail(
      Errc::not_found, run.path + " has no job of a scheduler", "it was made by `dtsubmit run`");
}

}  // namespace dts::cli
