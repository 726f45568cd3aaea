// SPDX-License-Identifier: Apache-2.0
// The agent of one part of a composed run: a child process that runs `dtsubmit agent` on the part's
// share of the job's nodes.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/launch/agent/after/role_port.hpp"
#include "core/launch/agent/agent.hpp"
#include "core/launch/agent/runner/pause_watch.hpp"
#include "core/launch/job/allocation.hpp"
#include "core/run/ledger/part_ends.hpp"
#include "core/spec/job_spec.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::launch {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Slurm's variables for a job with only these nodes, which the agent and mpirun read. Pure.
[[nodiscard]] Variables variables_of_share(const std::vector<std::string>& nodes,
                                           const plan::Plan& plan,
                                           const std::string& gpu_type);

class PartAgent {
 public:
  using Clock = std::chrono::steady_clock;

  // `part` must outlive this object; `words` name the part in messages: "step `train`". If the part
  // begins together with others, the caller handles restarts.
  PartAgent(const spec::Part& part,
            std::string words,
            run::RunDirectory run,
            plan::Plan plan,
            std::vector<std::string> nodes,
            bool begins_together)
      : part_(part),
        words_(std::move(words)),
        run_(std::move(run)),
        plan_(std::move(plan)),
        nodes_(std::move(nodes)),
        starts_together_(begins_together) {}

  // The part is to run, but may have to wait for another one. `variables` as for start().
  void prepare(const Variables& variables) { awaited_.emplace(part_, variables); }

  [[nodiscard]] bool waits() const { return awaited_.has_value(); }

  // True for a part that waits, if the part that it waits for is ready, or is not among those of
  // `parts` that wait or run.
  [[nodiscard]] bool may_start(const std::vector<PartAgent*>& parts);

  // It will not be started.
  void stop_waiting() { awaited_.reset(); }

  // `variables`: what the part's programs learn about the whole run.
  [[nodiscard]] Result<void> start(const AgentOptions& whole, const Variables& variables);

  [[nodiscard]] bool runs() const { return pid_ > 0; }

  [[nodiscard]] bool is_active() const { return runs() || waits(); }

  [[nodiscard]] bool ends_by_itself() const { return !part_.until_others_end; }

  [[nodiscard]] bool has_work() const { return is_active() && ends_by_itself(); }

  [[nodiscard]] pid_t pid() const { return pid_; }

  [[nodiscard]] const spec::Part& part() const { return part_; }

  [[nodiscard]] const std::string& words() const { return words_; }

  [[nodiscard]] const run::RunDirectory& run() const { return run_; }

  [[nodiscard]] const plan::Plan& plan() const { return plan_; }

  [[nodiscard]] const std::vector<std::string>& nodes() const { return nodes_; }

  // True if the part's ledger, or its agent in this job, says that it is done.
  [[nodiscard]] bool is_done() const;

  // Set once the part has failed for good and the others go on: how, with an effect on the run.
  [[nodiscard]] std::optional<run::PartEnd> failure() const;

  // Records that the part is done, for this reason, although its agent has not decided so.
  void note_done(const sched::JobId& job, const char* why) const;

  void signal(int number) const;

  // Call it when another part ends: this part has to save and end, and is killed after `patience`.
  void request_end(std::chrono::seconds patience);

  // Ends the part when its own time is up, in which a suspension does not count. Call it at least
  // once a second while the part runs.
  void tick();

  // How the part ended, once its process has exited.
  [[nodiscard]] std::optional<run::PartEnd> reap();

  // Resets the part's budgets if `dtsubmit requeue` has continued the whole run since its last
  // event. A part that has failed while others went on runs again after that, and after
  // `dtsubmit run --continue`.
  [[nodiscard]] Result<void> resume_after(const std::vector<run::Event>& of_whole,
                                          bool is_local) const;

 private:
  void set_time_limit(const std::vector<run::Event>& before);
  [[nodiscard]] std::vector<run::Event> new_events() const;

  const spec::Part& part_;
  std::string words_;
  run::RunDirectory run_;
  plan::Plan plan_;
  std::vector<std::string> nodes_;
  bool starts_together_;
  std::optional<RolePort> awaited_;  // set while the part waits
  pid_t pid_ = 0;
  std::size_t events_before_ = 0;
  UniqueFd unwritten_;  // in memory: events that are not in its ledger, see PartOptions
  bool is_done_ = false;
  bool end_requested_ = false;
  bool out_of_time_ = false;
  Clock::time_point warn_at_ = Clock::time_point::max();  // when the part's own time is nearly up
  Clock::time_point kill_at_ = Clock::time_point::max();
  PauseWatch pauses_;
};

// The parts that are to run: they are neither done nor have failed; none if only servers are left,
// which nobody needs any more.
[[nodiscard]] std::vector<PartAgent*> unfinished(const std::vector<PartAgent*>& parts);

// The verdict once none of the parts is to run any more; records that servers are done.
[[nodiscard]] run::Verdict verdict_on_all(const std::vector<PartAgent*>& parts,
                                          const sched::JobId& job);

// Kills the processes that a killed agent of one of these parts has left behind.
void kill_orphans_of_agents(const std::vector<PartAgent*>& parts);

}  // namespace dts::launch
