// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/known_job.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/job/element.hpp"
#include "core/launch/job/own_job.hpp"
#include "core/run/index/index.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

namespace dts::cli {

Result<void> read_job(sched::Scheduler& scheduler, RunFacts& known) {
  auto job = scheduler.job(known.summary.job);
  const run::RunDirectory run{known.run_directory};
  known.reused = job && !launch::is_of_run(run, *job);
  known.forgotten = known.reused || (!job && job.error().code == Errc::not_found);
  if (!job && !known.forgotten) return tl::unexpected<Error>(std::move(job).error());
  if (known.forgotten && run::final_decision(known.events) == nullptr)
    if (auto elsewhere = on_another_cluster(run, known.summary.job)) {
      known.forgotten = known.reused = false;
      return tl::unexpected<Error>(*std::move(elsewhere));
    }
  if (job && !known.reused) known.job = *std::move(job);
  return {};
}

bool has_ended(const run::RunDirectory& run) {
  const auto events = run::read_ledger(run.ledger());
  return events && run::final_decision(*events) != nullptr;
}

std::optional<Error> on_another_cluster(const run::RunDirectory& run, sched::JobId job) {
  const auto entries = run::read_index();
  if (!entries) return std::nullopt;
  // The index has a sweep, but not its elements.
  const std::string folder =
      launch::is_element(run) ? std::filesystem::path(run.path).parent_path().string() : run.path;
  const auto found = std::find_if(
      entries->rbegin(), entries->rend(), [&](const auto& one) { return one.folder == folder; });
  const std::string here = run::this_cluster();
  std::error_code failed;
  if (found == entries->rend() || found->cluster == here ||
      std::filesystem::equivalent(found->cluster, here, failed))
    return std::nullopt;
  // A private cluster that is gone takes its slurm.conf with it.
  if (found->cluster.empty() || !exists(found->cluster)) return std::nullopt;
  return Error{Errc::unreachable,
               fmt::format("job {} is not known here: it was submitted to another cluster", job),
               fmt::format("export SLURM_CONF={} selects that one", shell_quote(found->cluster))};
}

Result<void> check_cluster(sched::Scheduler& scheduler,
                           const run::RunDirectory& run,
                           sched::JobId job) {
  const auto info = launch::job_of_run(scheduler, run, job);
  if (info || info.error().code != Errc::not_found) return {};
  if (has_ended(run)) return {};
  if (auto elsewhere = on_another_cluster(run, job))
    return tl::unexpected<Error>(*std::move(elsewhere));
  return {};
}

void record_cancelled_in_queue(const run::RunDirectory& run,
                               sched::JobId job,
                               const char* command) {
  const auto events = run::read_ledger(run.ledger());
  if (!events || run::unfinished_attempt(*events) || run::final_decision(*events) != nullptr)
    return;
  const run::StopRequested stop{run::Cause::cancelled,
                                fmt::format("cancelled by `dtsubmit {}` in the queue", command)};
  const auto noted = run::append_event(run.ledger(), {.job = job, .what = stop});
  if (!noted) warn("the cancellation is not recorded: " + noted.error().message);
}

}  // namespace dts::cli
