// SPDX-License-Identifier: Apache-2.0
// The scheduler as seen from inside a job. Its calls can block for 15 s while the controller is
// down, so they run on a thread of their own, and answers arrive as events. Each question takes one
// RPC. The job's record is also requested every 30 s, to notice a deadline that moved without a
// signal. If the scheduler could not be loaded, that is retried each time.
#pragma once

#include "core/base/result.hpp"
#include "core/launch/job/job_facts.hpp"
#include "core/launch/job/job_return.hpp"
#include "core/sched/scheduler.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dts::launch {

class JobWatch {
 public:
  using Connect = std::function<Result<std::unique_ptr<sched::Scheduler>>()>;

  // `connect` runs on the thread, which is never joined, because a process must be able to end
  // while the controller does not answer. With `query_nodes`, the nodes that are down are requested
  // with each record.
  JobWatch(Connect connect, sched::JobId job, bool query_nodes = false);

  // True if the scheduler has reported this, see sched::ConfigInfo.
  [[nodiscard]] bool restarts_ended_jobs() const;

  // True if the scheduler has shown the job's record at some time.
  [[nodiscard]] bool has_answered() const;
  // False if no way to the scheduler could be loaded on this node. One that only does not answer
  // may be away for a while.
  [[nodiscard]] bool may_answer() const;

  // A descriptor that is readable when a take function has something to return.
  [[nodiscard]] int event_fd() const;

  void ask();  // requests the job's record

  // Requests the facts and the job's record again, once the initial ones have been taken: they show
  // the reason for a signal that arrived before any process listened for it.
  void begin_attempt();

  using Return = JobReturn;
  using Returned = JobReturned;

  // Requests the job's return, see job_return.hpp.
  void request_return(Return how);

  using Facts = JobFacts;

  // Each take function returns an answer only once. Thread-safe.
  [[nodiscard]] std::optional<Facts> take_facts();
  [[nodiscard]] std::optional<sched::JobInfo> take_job();
  // The nodes that the controller reports down. They are requested when the job was requeued
  // without a preemption, and always with `query_nodes`.
  [[nodiscard]] std::optional<std::vector<std::string>> take_down_nodes();
  [[nodiscard]] std::optional<Result<Returned>> take_returned();
  // Waits for what take_returned() returns; Errc::unreachable if the scheduler does not answer at
  // all.
  [[nodiscard]] Result<Returned> wait_returned();
  // Calls ask(), then waits for the answer; nullopt if none arrives in time.
  [[nodiscard]] std::optional<sched::JobInfo> wait_job(std::chrono::seconds limit);
  // Start time of the controller that answered ask(), Unix seconds; available before take_job() is.
  [[nodiscard]] std::optional<std::int64_t> take_controller_start();
  // Why the latest question has no answer, if it failed.
  [[nodiscard]] std::optional<Error> take_error();
  // A sentence about what the agent cannot do because the scheduler could not be loaded, returned
  // once per change; nullopt if it was loaded.
  [[nodiscard]] std::optional<std::string> take_limitation();
  // How the scheduler is reached, see sched::Access; returned once per change.
  [[nodiscard]] std::optional<std::string> take_access();

  void drain_event();

 private:
  struct Shared;

  // Waits for a result of `take`, at most for `limit`.
  template <class Answer>
  [[nodiscard]] std::optional<Answer> wait_to_take(std::optional<Answer> (JobWatch::*take)(),
                                                   std::chrono::seconds limit);

  static void work(const std::shared_ptr<Shared>& shared, const Connect& connect);
  std::shared_ptr<Shared> shared_;
};

}  // namespace dts::launch
