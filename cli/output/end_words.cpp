// SPDX-License-Identifier: Apache-2.0
#include "cli/output/end_words.hpp"

#include "core/run/ledger/history.hpp"

#include <fmt/format.h>

#include <csignal>

namespace dts::cli {

std::string words_of_other_state(const std::vector<run::Event>& events,
                                 const sched::JobInfo& job,
                                 const std::string& scheduler) {
  if (!run::is_done(events) || !sched::is_terminal(job.state) ||
      job.state == sched::JobState::completed)
    return {};
  const bool memory = job.state == sched::JobState::out_of_memory;
  return fmt::format(
      "The run is done, but {}'s state of job {} is {}{}: a job that waits for it with "
      "--dependency=afterok never starts; use afterany",
      scheduler,
      job.id,
      sched::to_string(job.state),
      memory ? ", which it keeps from an earlier attempt that ran out of memory" : "");
}

int exit_code_of_end(const sched::JobInfo& job, std::optional<int> decided) {
  if (decided == 0) return 0;
  if (job.state == sched::JobState::out_of_memory && decided) return *decided;
  if (job.files_unusable) return exit_code(Errc::io);
  if (job.exit_signal != 0) return 128 + job.exit_signal;
  if (job.state == sched::JobState::cancelled && job.exit_code == 0) return 128 + SIGTERM;
  return decided.value_or(job.exit_code);
}

}  // namespace dts::cli
