// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/selection.hpp"

#include "cli/output/report.hpp"
#include "core/run/find.hpp"
#include "core/run/index.hpp"
#include "core/run/lease.hpp"
#include "core/run/ledger.hpp"

#include <CLI/CLI.hpp>

namespace dts::cli {

void add_selection(CLI::App& verb, Selection& selection, bool required) {
  CLI::Option* what =
      verb.add_option("job", selection.what, "job id, run name, run directory, or `last`")
          ->type_name("JOB");
  if (required) what->required();
  add_runs_option(verb, selection.runs);
}

void add_runs_option(CLI::App& verb, std::string& runs) {
  verb.add_option("--runs", runs, "folder of run directories [runs]")
      ->type_name("DIR")
      ->envname("DTSUBMIT_RUNS");
}

Result<run::RunDirectory> find(const Selection& selection) {
  auto here = run::find_run(selection.runs, selection.what);
  if (here || here.error().code != Errc::not_found || selection.runs != k_default_runs ||
      selection.what.find('/') != std::string::npos)
    return here;
  auto elsewhere = run::find_in_index(selection.what);
  if (!elsewhere && elsewhere.error().code != Errc::invalid) return here;  // the better words
  return elsewhere;
}

void note_in_index(const run::RunDirectory& run, sched::JobId job) {
  const auto noted = run::add_to_index({run.path, job, run::this_cluster()});
  if (noted) return;
  warn("the run will be found from its own folder only: " + noted.error().message);
}

void warn_of_damage(const run::RunDirectory& run,
                    const run::Ledger& ledger,
                    const run::RunSummary& summary) {
  warn(run::damage_words(ledger, run.ledger()));
  warn(run::damage_words(summary.damaged_metrics, run.metrics()));
}

Result<sched::JobId> job_of(const run::RunDirectory& run) {
  DTS_ASSIGN(const run::Ledger ledger, run::load_ledger(run.ledger()));
  for (auto event = ledger.events.rbegin(); event != ledger.events.rend(); ++event)
    if (event->job != 0) return event->job;
  const auto lease = run::read_lease(run, run::latest_attempt(run));
  if (lease && lease->job != 0) return lease->job;
  return fail(
      Errc::not_found, run.path + " has no job of a scheduler", "it was made by `dtsubmit run`");
}

}  // namespace dts::cli
