// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/runner/scheduler_news.hpp"

#include "core/base/os/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dts::launch {
namespace {

using std::chrono::seconds;

}  // namespace

seconds time_to_save(seconds left, seconds least) {
  constexpr seconds k_before_deadline{2};
  return std::max(least, left - k_before_deadline);
}

seconds time_after_preemption(const sched::JobInfo& job, std::int64_t unix_now, seconds kill_wait) {
  if (job.state != sched::JobState::running) return kill_wait;
  return seconds(std::max<std::int64_t>(1, job.end_time - unix_now));
}

bool must_warn(seconds left, seconds given, seconds margin) {
  return left <= std::min(margin, given / 2);
}

bool OwnWarning::take(seconds left, seconds given, seconds margin) {
  if (!is_needed_ || is_given_ || !must_warn(left, given, margin)) return false;
  is_given_ = true;
  return true;
}

bool TimeLimit::is_after_pause(Time now) {
  const bool paused = pauses_.look(now) > Time::duration{};
  if (paused) time_ = 0;
  return paused;
}

std::optional<seconds> TimeLimit::left(std::int64_t unix_now) const {
  if (!is_known()) return std::nullopt;
  return seconds(time_ - unix_now);
}

int SchedulerNews::event_fd() const {
  return is_there() ? settings_.watch->event_fd() : -1;
}

void SchedulerNews::begin_attempt() {
  if (is_there()) settings_.watch->begin_attempt();
}

void SchedulerNews::ask() {
  if (is_there()) settings_.watch->ask();
}

void SchedulerNews::take() {
  JobWatch& watch = *settings_.watch;
  watch.drain_event();
  if (const auto trouble = watch.take_error()) log("scheduler: {}", trouble->message);
  if (const auto way = watch.take_access(); way && !way->empty()) log("scheduler: {}", *way);
  if (auto handicap = watch.take_limitation())
    settings_.on_event({.what = run::Warning{*std::move(handicap)}});
  if (auto facts = watch.take_facts()) on_facts(*std::move(facts));
  if (auto down = watch.take_down_nodes()) down_nodes_ = *std::move(down);
  if (const auto start = watch.take_controller_start()) controller_start_ = *start;
  if (auto job = watch.take_job()) {
    job_ = std::move(job);
    on_job();
  }
}

void SchedulerNews::on_tick(Time now) {
  if (limit_.is_after_pause(now)) ask();
}

void SchedulerNews::on_facts(JobWatch::Facts facts) {
  kill_wait_seconds_ = facts.kill_wait_seconds;
  node_addresses_ = facts.addresses;
  node_ports_ = std::move(facts.ports);
  attempt_.set_node_addresses(std::move(facts.addresses));
  attempt_.set_allotments(std::move(facts.allotments));
  attempt_.set_signals_reach_programs(facts.signals_reach_programs);
  limit_.set(facts.deadline);
  own_warning_.set(facts.ends_unwarned);
  if (began_ == 0) began_ = unix_now();
  if (facts.deadline > 0)
    attempt_.add_environment("DTSUBMIT_DEADLINE", std::to_string(facts.deadline));
  facts_known_ = true;
}

void SchedulerNews::on_end() {
  if (job_->end_unsure && own_warning_.is_needed() && limit_.is_known()) {
    if (!std::exchange(told_of_unsure_end_, true))
      log("scheduler: it cannot tell now whether the job still ends before its time limit: the end "
          "that it told last counts");
    return;
  }
  limit_.set(job_->end_time);
  own_warning_.set(job_->ends_unwarned);
}

void SchedulerNews::on_job() {
  if (job_->state == sched::JobState::running) on_end();
  // A grace time has begun, whether or not we were signalled: the deadline has moved.
  if (job_->preempt_time == 0) return;
  const seconds left = time_after_preemption(*job_, unix_now(), kill_wait());
  if (!attempt_.stopping()) log("preemption: {} s left", left.count());
  const Time now = Time::clock::now();
  attempt_.on_stop(run::Cause::preempted, now + time_to_save(left, seconds(1)), "preempted", now);
}

std::vector<NodeEndpoint> SchedulerNews::endpoints(const std::vector<std::string>& nodes) const {
  std::vector<NodeEndpoint> found;
  for (const std::string& node : nodes) {
    const auto address = node_addresses_.find(node);
    const auto port = node_ports_.find(node);
    found.push_back({node,
                     address == node_addresses_.end() ? std::string() : address->second,
                     port == node_ports_.end() ? 0U : port->second});
  }
  return found;
}

std::optional<std::string> SchedulerNews::take_warning() {
  const auto left = time_left();
  if (!left || attempt_.stopping()) return std::nullopt;
  const seconds given = *left + seconds(unix_now() - began_);
  if (!own_warning_.take(*left, given, settings_.attempt.spec.signal_margin)) return std::nullopt;
  const std::string why = job_ && job_->ends_unwarned ? job_->explanation : std::string();
  return fmt::format("the job's end is near: {} s left{}{}",
                     std::max(*left, seconds(0)).count(),
                     why.empty() ? "" : ": ",
                     why);
}

std::optional<seconds> SchedulerNews::time_left() const {
  return limit_.left(unix_now());
}

void SchedulerNews::note_step_signal() {
  if (steps_signalled_at_ == 0) steps_signalled_at_ = unix_now();
}

std::int64_t SchedulerNews::unix_now() const {
  const auto now = attempt_.wall_at(Time::clock::now());
  return std::chrono::floor<seconds>(now.time_since_epoch()).count();
}

}  // namespace dts::launch
