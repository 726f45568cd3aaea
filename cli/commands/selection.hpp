// SPDX-License-Identifier: Apache-2.0
// The options by which status, logs, cancel and requeue select a run.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/run/summary/summary.hpp"
#include "core/sched/scheduler.hpp"

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace dts::cli {

inline constexpr const char* k_default_runs = "runs";

struct Selection {
  std::string what = "last";  // job id, name of a run or job, directory; "/PART" selects a part
  std::string runs = k_default_runs;
};

enum class Naming { required, optional };  // optional: defaults to the last run

void add_selection(CLI::App& verb, Selection& selection, Naming naming);

// Only the --runs option, for commands that name runs in their own way.
CLI::Option* add_runs_option(CLI::App& verb, std::string& runs);

// Searches below --runs; if that is not given and `runs` of this folder has no such run, searches
// the user's index. If a run's submission was never answered, also looks for its job and records
// it.
[[nodiscard]] Result<run::RunDirectory> find(const Selection& selection);

// The same for commands that concern the whole job: for a part, returns the run that contains it.
[[nodiscard]] Result<run::RunDirectory> find_whole(const Selection& selection);

// Warns on standard error about damaged and skipped parts of the run's files.
void warn_of_damage(const run::RunDirectory& run,
                    const run::Ledger& ledger,
                    const run::RunSummary& summary = {});

// Records a new run, or a new job of one, in the user's index; failures are warnings.
void note_in_index(const run::RunDirectory& run, sched::JobId job);

// The latest job id of a run, taken from its attempts if the ledger has lost it. Errc::not_found if
// the run never had a job (`dtsubmit run`).
[[nodiscard]] Result<sched::JobId> job_of(const run::RunDirectory& run);

}  // namespace dts::cli
