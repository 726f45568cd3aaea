// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/job_watch.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/os/wait.hpp"
#include "core/launch/job/own_job.hpp"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_poll{30};
constexpr std::chrono::seconds k_return_answer{2 * k_return_patience + std::chrono::seconds(30)};

}  // namespace

struct JobWatch::Shared {
  sched::JobId job;
  bool query_nodes = false;
  UniqueFd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::condition_variable wake;
  bool asked = false;
  bool facts_asked = true;   // asked once at the beginning
  bool facts_taken = false;  // true once the first facts have been taken
  std::optional<Return> return_asked;
  std::optional<Facts> facts;
  std::optional<sched::JobInfo> info;
  std::optional<std::vector<std::string>> down_nodes;
  std::optional<std::int64_t> controller_start;
  std::optional<Result<Returned>> returned;
  std::optional<Error> trouble;
  std::optional<std::string> handicap;
  std::atomic<bool> restarts_ended_jobs{false};
  std::atomic<bool> is_known{false};  // the job's record has been read
  std::atomic<bool> has_way{true};    // false: no way to the scheduler could be loaded
  std::optional<std::string> way;
  // The members from here on belong to the worker thread.
  std::string reported_limitation;
  std::string reported_access;
  std::optional<std::string> script_path;  // the job's, from its first record

  template <class Value>
  void publish(std::optional<Value>& slot, Value value) {
    const std::lock_guard lock(mutex);
    slot = std::move(value);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written =
        ::write(event.get(), &one, sizeof one);  // if the counter is full, it is already readable
  }

  struct Wishes {
    std::optional<Return> how;
    bool facts = false;
    bool asked = false;
  };

  Wishes wait_for_wishes() {  // waits at most k_poll
    std::unique_lock lock(mutex);
    wake.wait_for(lock, k_poll, [&] { return asked || return_asked || facts_asked; });
    Wishes wishes;
    wishes.how = std::exchange(return_asked, std::nullopt);
    wishes.facts = std::exchange(facts_asked, false);
    wishes.asked = std::exchange(asked, false);
    return wishes;
  }

  Result<std::unique_ptr<sched::Scheduler>> reach(const Connect& connect);

  void say(std::optional<std::string>& slot, std::string& said, std::string words) {
    if (words == said) return;
    said = words;
    publish(slot, std::move(words));
  }

  // Rejects the agent's requests to a scheduler that could not be loaded.
  void refuse(const Wishes& wishes, const Error& why) {
    if (wishes.facts) publish(trouble, why);
    if (wishes.facts) publish(facts, Facts{});
    if (wishes.how) publish(returned, Result<Returned>(tl::unexpected<Error>(why)));
  }

  Result<sched::JobInfo> own_record(sched::Scheduler& scheduler);
  void load_facts(sched::Scheduler& scheduler);
  void answer(sched::Scheduler& scheduler, bool was_asked);
  void tell(sched::Scheduler& scheduler, sched::JobInfo record, bool with_nodes);

  template <class Value>
  std::optional<Value> take(std::optional<Value>& slot) {
    const std::lock_guard lock(mutex);
    return std::exchange(slot, std::nullopt);
  }
};

JobWatch::JobWatch(Connect connect, sched::JobId job, bool query_nodes)
    : shared_(std::make_shared<Shared>()) {
  shared_->job = job;
  shared_->query_nodes = query_nodes;
  std::thread([shared = shared_, connect = std::move(connect)] { work(shared, connect); }).detach();
}

Result<std::unique_ptr<sched::Scheduler>> JobWatch::Shared::reach(const Connect& connect) {
  auto scheduler = connect();
  has_way = scheduler.has_value();
  if (!scheduler)
    say(handicap,
        reported_limitation,
        fmt::format(
            "the scheduler cannot be asked ({}): a preemption is recognized by its signal only, "
            "and only the scheduler itself can requeue the job",
            scheduler.error().message));
  return scheduler;
}

// Errc::not_found also if the record is another job's, to which a controller that has lost its
// state gave our id.
Result<sched::JobInfo> JobWatch::Shared::own_record(sched::Scheduler& scheduler) {
  auto record = scheduler.job(job);
  if (record && !has_script(*record, script_path))
    return fail(Errc::not_found, fmt::format("{} is the id of another job now", job));
  if (record && !script_path) script_path = record->script_path;
  if (record) is_known = true;
  return record;
}

void JobWatch::Shared::load_facts(sched::Scheduler& scheduler) {
  Facts loaded = facts_of(scheduler);
  restarts_ended_jobs = loaded.restarts_ended_jobs;
  auto record = own_record(scheduler);
  if (record) add_record(loaded, *record);
  publish(facts, std::move(loaded));
  if (record)
    tell(scheduler, *std::move(record), query_nodes);  // may show a preemption that nobody heard of
  else
    publish(trouble, record.error());
}

void JobWatch::Shared::answer(sched::Scheduler& scheduler, bool was_asked) {
  auto record = own_record(scheduler);
  if (!record) return publish(trouble, record.error());
  if (was_asked)
    if (const auto config = scheduler.config())
      publish(controller_start, std::int64_t{config->boot_time});
  tell(scheduler, *std::move(record), was_asked && query_nodes);
}

void JobWatch::Shared::tell(sched::Scheduler& scheduler, sched::JobInfo record, bool with_nodes) {
  if (with_nodes || (record.state == sched::JobState::pending && record.preempt_time == 0))
    publish(down_nodes, nodes_down(scheduler));
  publish(info, std::move(record));
}

void JobWatch::work(const std::shared_ptr<Shared>& shared, const Connect& connect) {
  std::unique_ptr<sched::Scheduler> scheduler;
  while (true) {
    Shared::Wishes wishes = shared->wait_for_wishes();
    if (!scheduler) {
      auto reached = shared->reach(connect);
      if (!reached) {
        shared->refuse(wishes, reached.error());
        continue;
      }
      scheduler = *std::move(reached);
      wishes.facts = true;
    }
    if (wishes.how) wishes.how->script_path = shared->script_path;
    if (wishes.how)
      shared->publish(shared->returned,
                      dts::launch::return_job(*scheduler, shared->job, *std::move(wishes.how)));
    if (wishes.facts) shared->load_facts(*scheduler);
    if (wishes.facts)
      shared->say(shared->way, shared->reported_access, to_text(scheduler->access()));
    if (!wishes.facts || wishes.asked) shared->answer(*scheduler, wishes.asked);
  }
}

bool JobWatch::restarts_ended_jobs() const {
  return shared_->restarts_ended_jobs;
}

bool JobWatch::has_answered() const {
  return shared_->is_known;
}

bool JobWatch::may_answer() const {
  return shared_->has_way;
}

int JobWatch::event_fd() const {
  return shared_->event.get();
}

void JobWatch::ask() {
  const std::lock_guard lock(shared_->mutex);
  shared_->asked = true;
  shared_->wake.notify_one();
}

void JobWatch::begin_attempt() {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->facts_taken) return;  // the first facts are still to come
  shared_->facts_taken = false;
  shared_->facts_asked = true;
  shared_->wake.notify_one();
}

void JobWatch::request_return(Return how) {
  const std::lock_guard lock(shared_->mutex);
  shared_->return_asked = std::move(how);
  shared_->wake.notify_one();
}

template <class Answer>
std::optional<Answer> JobWatch::wait_to_take(std::optional<Answer> (JobWatch::*take)(),
                                             std::chrono::seconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  auto answer = (this->*take)();
  while (!answer && std::chrono::steady_clock::now() < until) {
    if (wait_readable(event_fd(), until)) drain_event();
    answer = (this->*take)();
  }
  return answer;
}

std::optional<JobWatch::Facts> JobWatch::take_facts() {
  auto facts = shared_->take(shared_->facts);
  if (facts) {
    const std::lock_guard lock(shared_->mutex);
    shared_->facts_taken = true;
  }
  return facts;
}

std::optional<sched::JobInfo> JobWatch::take_job() {
  return shared_->take(shared_->info);
}

std::optional<std::vector<std::string>> JobWatch::take_down_nodes() {
  return shared_->take(shared_->down_nodes);
}

std::optional<std::int64_t> JobWatch::take_controller_start() {
  return shared_->take(shared_->controller_start);
}

std::optional<Result<JobWatch::Returned>> JobWatch::take_returned() {
  return shared_->take(shared_->returned);
}

std::optional<sched::JobInfo> JobWatch::wait_job(std::chrono::seconds limit) {
  [[maybe_unused]] const auto before = take_job();
  ask();
  return wait_to_take(&JobWatch::take_job, limit);
}

Result<JobWatch::Returned> JobWatch::wait_returned() {
  if (auto answer = wait_to_take(&JobWatch::take_returned, k_return_answer))
    return *std::move(answer);
  return fail(Errc::unreachable,
              "the scheduler did not answer the request to run the job again",
              "continue with `dtsubmit requeue`");
}

std::optional<Error> JobWatch::take_error() {
  return shared_->take(shared_->trouble);
}

std::optional<std::string> JobWatch::take_limitation() {
  return shared_->take(shared_->handicap);
}

std::optional<std::string> JobWatch::take_access() {
  return shared_->take(shared_->way);
}

void JobWatch::drain_event() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(shared_->event.get(), &count, sizeof count);
}

}  // namespace dts::launch
