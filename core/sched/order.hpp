// SPDX-License-Identifier: Apache-2.0
// Orders to a scheduler whose answers may be lost. A controller that stalls for longer than its
// answers may take (Slurm: MessageTimeout) reads the request when it continues, and carries it out
// although nobody waits any more. So an order that ends in `unreachable` has an unknown outcome,
// which these functions find out as soon as the controller answers again.
#pragma once

#include "core/sched/scheduler.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dts::sched {

// A scheduler that can be searched for the jobs of a script. With any other, the outcome of a lost
// submission stays unknown.
class JobSearch {
 public:
  virtual ~JobSearch() = default;
  // This user's jobs submitted with that Submission::script_path, the newest last; finding none is
  // not an error. Errors and threads: see Scheduler.
  [[nodiscard]] virtual Result<std::vector<JobInfo>> find(const std::string& script_path) = 0;
};

// Errc::invalid if `scheduler` is not a JobSearch.
[[nodiscard]] Result<std::vector<JobInfo>> find_jobs(Scheduler& scheduler,
                                                     const std::string& script_path);

// How long to wait for the outcome of an order, and what to do meanwhile.
struct Patience {
  std::chrono::milliseconds limit{std::chrono::seconds(60)};  // after the answer was lost
  // A controller that answers but does not know the order for this long never received it: a
  // request that it received before our question is carried out before it or moments later.
  std::chrono::milliseconds settle{std::chrono::seconds(5)};
  std::chrono::milliseconds look{std::chrono::seconds(1)};  // between two questions
  std::function<void()> begins{};    // the wait begins; for a message to the user
  std::function<bool()> given_up{};  // true: stop waiting (Ctrl-C)
};

// Submits exactly once. `known` are the existing jobs with this submission's script_path: any other
// one is ours. nullopt: the controller did not answer within the limit, so the job may still
// appear. An error: nothing was submitted.
[[nodiscard]] Result<std::optional<JobId>> submit_once(Scheduler& scheduler,
                                                       const Submission& submission,
                                                       const std::set<JobId>& known,
                                                       const Patience& patience = {});

// Scheduler::cancel() and requeue(), repeated until their outcome is known. A job is requeued once,
// however often the answer is lost. Errors: those of the scheduler; the message of unreachable says
// whether the order may still be carried out.
[[nodiscard]] Result<void> cancel_for_certain(Scheduler& scheduler,
                                              JobId job,
                                              const Patience& patience = {});
[[nodiscard]] Result<void> requeue_once(Scheduler& scheduler,
                                        JobId job,
                                        const Patience& patience = {});

// Scheduler::signal_batch(), repeated until the outcome is known: the signal is sent again as long
// as no answer comes, so it must be one that may safely arrive twice. A job that has ended by then
// is not an error.
[[nodiscard]] Result<void> signal_for_certain(Scheduler& scheduler,
                                              JobId job,
                                              int signal,
                                              const Patience& patience = {});

}  // namespace dts::sched
