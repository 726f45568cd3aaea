// SPDX-License-Identifier: Apache-2.0
// Orders to a scheduler whose replies may be lost. A controller that stalls for longer than the
// reply timeout (Slurm: MessageTimeout) reads the request when it resumes, and carries it out
// although the client has given up. So the outcome of an order that ends in `unreachable` is
// unknown. These functions determine it as soon as the controller answers again.
#pragma once

#include "core/sched/scheduler.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dts::sched {

// A scheduler that can be searched for the jobs of a script. With any other scheduler, the outcome
// of a lost submission remains unknown.
class JobSearch {
 public:
  virtual ~JobSearch() = default;
  // This user's jobs submitted with `script_path` as Submission::script_path, the latest last. An
  // empty result is not an error. For errors and threads, see Scheduler.
  [[nodiscard]] virtual Result<std::vector<JobInfo>> find(const std::string& script_path) = 0;
};

// Errc::invalid if `scheduler` is not a JobSearch.
[[nodiscard]] Result<std::vector<JobInfo>> find_jobs(Scheduler& scheduler,
                                                     const std::string& script_path);

// How long to wait for the outcome of an order, and what to call meanwhile.
struct Patience {
  std::chrono::milliseconds limit{std::chrono::seconds(60)};  // after the reply was lost
  // A controller that answers, but has not known the order for this long, never received it: it
  // would have carried out an earlier request before it answers ours, or moments after.
  std::chrono::milliseconds settle{std::chrono::seconds(5)};
  std::chrono::milliseconds query_interval{std::chrono::seconds(1)};  // between two queries
  std::function<void()> begins{};    // called when the wait begins, to inform the user
  std::function<bool()> given_up{};  // true: stop waiting (Ctrl-C)
};

// Submits exactly once. `known` are the existing jobs with this submission's script_path, so that
// any other such job is ours. nullopt: the controller did not answer within the limit, so the job
// may still appear. On an error, nothing was submitted.
[[nodiscard]] Result<std::optional<JobId>> submit_once(Scheduler& scheduler,
                                                       const Submission& submission,
                                                       const std::set<JobId>& known,
                                                       const Patience& patience = {});

// Like Scheduler::cancel() and requeue(), but repeated until the outcome is known. A job is
// requeued only once, however often the reply is lost. Errors: the scheduler's; the message of
// `unreachable` says whether the order may still be carried out. `check` gets the job's record, if
// there is one; if it returns an error, that is the result, and nothing is cancelled.
[[nodiscard]] Result<void> cancel_for_certain(
    Scheduler& scheduler,
    JobId job,
    const Patience& patience = {},
    const std::function<Result<void>(const JobInfo&)>& check = {});
[[nodiscard]] Result<void> requeue_once(Scheduler& scheduler,
                                        JobId job,
                                        const Patience& patience = {});

// Like Scheduler::signal_batch(), but repeated until the outcome is known. The signal is sent again
// until a reply arrives, so it must be one that may safely arrive twice. It is not an error if the
// job has ended by then.
[[nodiscard]] Result<void> signal_for_certain(Scheduler& scheduler,
                                              JobId job,
                                              int signal,
                                              const Patience& patience = {});

}  // namespace dts::sched
