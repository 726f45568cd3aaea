// SPDX-License-Identifier: Apache-2.0
// The options with which status, logs, cancel and requeue name a run.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/run/summary/summary.hpp"
#include "core/sched/scheduler.hpp"

#include <string>

namespace CLI {
class App;
}

namespace dts::cli {

inline constexpr const char* k_default_runs = "runs";

struct Selection {
  std::string what = "last";  // job id, run name, folder; with "/PART" a part of it
  std::string runs = k_default_runs;
};

enum class Naming { required, optional };  // without a name it is the last run

void add_selection(CLI::App& verb, Selection& selection, Naming naming);

// Its second half, for a command that names runs in its own way.
void add_runs_option(CLI::App& verb, std::string& runs);

// Below --runs; where that is not given and `runs` of this folder has no such run, wherever the
// user's index has it.
// Also looks for the job of a run whose submission was never answered, and writes it down.
[[nodiscard]] Result<run::RunDirectory> find(const Selection& selection);

// The same, for what concerns the whole job: of a part, the run that it belongs to.
[[nodiscard]] Result<run::RunDirectory> find_whole(const Selection& selection);

// Says on standard error what of the run's files is damaged and skipped, if anything.
void warn_of_damage(const run::RunDirectory& run,
                    const run::Ledger& ledger,
                    const run::RunSummary& summary = {});

// Notes a new run, or a new job of one, in the user's index; what fails is a warning.
void note_in_index(const run::RunDirectory& run, sched::JobId job);

// The newest job id of a run, from its attempts where the ledger has lost it; Errc::not_found where
// it never had one (`dtsubmit run`).
[[nodiscard]] Result<sched::JobId> job_of(const run::RunDirectory& run);

}  // namespace dts::cli
