// SPDX-License-Identifier: Apache-2.0
// Orders to a scheduler whose answer may get lost. A controller that stands still for longer than
// it may take to answer (Slurm: MessageTimeout) reads the request when it goes on, and carries it
// out although nobody waits any more. So an order that ends in `unreachable` has an unknown
// outcome, and these functions find it out as soon as the controller answers again.
#pragma once

#include "core/sched/scheduler.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dts::sched {

// A scheduler that can be asked for the jobs of a script. One that cannot leaves the outcome of a
// lost submission unknown.
class JobSearch {
 public:
  virtual ~JobSearch() = default;
  // This user's jobs whose Submission::script_path was that, the newest last; none is no error.
  // Errors and threads as of a Scheduler.
  [[nodiscard]] virtual Result<std::vector<JobInfo>> find(const std::string& script_path) = 0;
};

// Errc::invalid where `scheduler` is no JobSearch.
[[nodiscard]] Result<std::vector<JobInfo>> find_jobs(Scheduler& scheduler,
                                                     const std::string& script_path);

// How long somebody waits to hear what came of an order, and what is done meanwhile.
struct Patience {
  std::chrono::milliseconds limit{std::chrono::seconds(60)};  // after the answer was lost
  // A controller that answers, but knows nothing of the order for so long, never got it: what it
  // got before our question is carried out before or within moments of it.
  std::chrono::milliseconds settle{std::chrono::seconds(5)};
  std::chrono::milliseconds look{std::chrono::seconds(1)};  // between two questions
  std::function<void()> begins{};                           // to wait; for a word to the user
  std::function<bool()> given_up{};                         // true: wait no longer (Ctrl-C)
};

// Submits exactly once. `known` are the jobs of this submission's script_path that exist already:
// another one is ours. nullopt: the controller did not answer within the limit, so that the job may
// still come. An error: nothing was submitted.
[[nodiscard]] Result<std::optional<JobId>> submit_once(Scheduler& scheduler,
                                                       const Submission& submission,
                                                       const std::set<JobId>& known,
                                                       const Patience& patience = {});

// Scheduler::cancel() and requeue() until it is known what came of them. A job is requeued once,
// however often the answer is lost. Errors: those of the scheduler; unreachable with words that say
// whether the order may still be carried out.
[[nodiscard]] Result<void> cancel_for_certain(Scheduler& scheduler,
                                              JobId job,
                                              const Patience& patience = {});
[[nodiscard]] Result<void> requeue_once(Scheduler& scheduler,
                                        JobId job,
                                        const Patience& patience = {});

// Scheduler::signal_batch() until it is known what came of it: the signal is sent again as long as
// no answer comes, so it must be one of which two mean what one means. A job that is over by then
// is no error.
[[nodiscard]] Result<void> signal_for_certain(Scheduler& scheduler,
                                              JobId job,
                                              int signal,
                                              const Patience& patience = {});

}  // namespace dts::sched
