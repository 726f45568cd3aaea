// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/known_job.hpp"

#include "core/launch/job/own_job.hpp"

namespace dts::cli {

Result<void> read_job(sched::Scheduler& scheduler, RunFacts& known) {
  auto job = scheduler.job(known.summary.job);
  known.reused = job && !launch::is_of_run({known.run_directory}, *job);
  known.forgotten = known.reused || (!job && job.error().code == Errc::not_found);
  if (!job && !known.forgotten) return tl::unexpected<Error>(std::move(job).error());
  if (job && !known.reused) known.job = *std::move(job);
  return {};
}

}  // namespace dts::cli
