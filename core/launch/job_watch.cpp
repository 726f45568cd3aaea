// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job_watch.hpp"

#include "core/base/hostlist.hpp"
#include "core/base/number_list.hpp"
#include "core/base/unique_fd.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_poll{30};
constexpr std::chrono::seconds k_return_answer{k_return_patience + std::chrono::seconds(30)};

}  // namespace

struct JobWatch::Shared {
  sched::JobId job = 0;
  bool see_nodes = false;
  UniqueFd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::condition_variable wake;
  bool asked = false;
  std::optional<Return> return_asked;
  std::optional<Facts> facts;
  std::optional<sched::JobInfo> info;
  std::optional<std::vector<std::string>> down_nodes;
  std::optional<std::int64_t> controller_start;
  std::optional<Result<Returned>> returned;
  std::optional<Error> trouble;

  template <class Value>
  void publish(std::optional<Value>& slot, Value value) {
    const std::lock_guard lock(mutex);
    slot = std::move(value);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written =
        ::write(event.get(), &one, sizeof one);  // full means readable already
  }

  template <class Value>
  std::optional<Value> take(std::optional<Value>& slot) {
    const std::lock_guard lock(mutex);
    return std::exchange(slot, std::nullopt);
  }
};

JobWatch::JobWatch(Connect connect, sched::JobId job, bool see_nodes)
    : shared_(std::make_shared<Shared>()) {
  shared_->job = job;
  shared_->see_nodes = see_nodes;
  std::thread([shared = shared_, connect = std::move(connect)] { work(shared, connect); }).detach();
}

namespace {

JobWatch::Facts load_facts(sched::Scheduler& scheduler, sched::JobId job) {
  JobWatch::Facts facts;
  if (const auto config = scheduler.config()) facts.kill_wait_seconds = config->kill_wait_seconds;
  if (const auto nodes = scheduler.nodes())
    for (const sched::NodeInfo& node : *nodes) {
      facts.addresses[node.name] = node.address;
      facts.ports[node.name] = node.port;
      facts.allotments[node.name].of = node.cpus;
    }
  const auto info = scheduler.job(job);
  if (!info) return facts;
  facts.deadline = info->end_time;
  const auto nodes = expand_hostlist(info->nodes);
  for (std::size_t i = 0; nodes && i < std::min(nodes->size(), info->cpus.size()); ++i)
    if (auto cpus = parse_number_list(info->cpus[i], k_highest_cpu))
      facts.allotments[(*nodes)[i]].cpus = *std::move(cpus);
  return facts;
}

std::vector<std::string> down_nodes(sched::Scheduler& scheduler) {
  std::vector<std::string> down;
  if (const auto nodes = scheduler.nodes())
    for (const sched::NodeInfo& node : *nodes)
      if (node.state.rfind("down", 0) == 0 || node.state.find('*') != std::string::npos)
        down.push_back(node.name);
  return down;
}

}  // namespace

void JobWatch::work(const std::shared_ptr<Shared>& shared, const Connect& connect) {
  auto scheduler = connect();
  if (!scheduler) {
    shared->publish(shared->trouble, scheduler.error());
    shared->publish(shared->facts, Facts{});
  } else {
    shared->publish(shared->facts, load_facts(**scheduler, shared->job));
  }
  while (true) {
    std::optional<Return> how;
    bool was_asked = false;
    {
      std::unique_lock lock(shared->mutex);
      shared->wake.wait_for(lock, k_poll, [&] { return shared->asked || shared->return_asked; });
      was_asked = std::exchange(shared->asked, false);
      how = std::exchange(shared->return_asked, std::nullopt);
    }
    if (!scheduler) {
      if (how)
        shared->publish(shared->returned,
                        Result<Returned>(tl::unexpected<Error>(scheduler.error())));
      continue;
    }
    if (how)
      shared->publish(shared->returned,
                      dts::launch::come_back(**scheduler, shared->job, *std::move(how)));
    auto info = (*scheduler)->job(shared->job);
    if (!info) {
      shared->publish(shared->trouble, info.error());
      continue;
    }
    const bool see_nodes = was_asked && shared->see_nodes;
    if (see_nodes || (info->state == sched::JobState::pending && info->preempt_time == 0))
      shared->publish(shared->down_nodes, down_nodes(**scheduler));
    if (was_asked)
      if (const auto config = (*scheduler)->config())
        shared->publish(shared->controller_start, std::int64_t{config->boot_time});
    shared->publish(shared->info, std::move(*info));
  }
}

int JobWatch::event_fd() const {
  return shared_->event.get();
}

void JobWatch::ask() {
  const std::lock_guard lock(shared_->mutex);
  shared_->asked = true;
  shared_->wake.notify_one();
}

void JobWatch::come_back(Return how) {
  const std::lock_guard lock(shared_->mutex);
  shared_->return_asked = std::move(how);
  shared_->wake.notify_one();
}

std::optional<JobWatch::Facts> JobWatch::take_facts() {
  return shared_->take(shared_->facts);
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

Result<JobWatch::Returned> JobWatch::wait_returned() {
  const auto until = std::chrono::steady_clock::now() + k_return_answer;
  while (std::chrono::steady_clock::now() < until) {
    pollfd waiting{event_fd(), POLLIN, 0};
    ::poll(&waiting, 1, 1000);
    drain_event();
    if (auto answer = take_returned()) return *std::move(answer);
  }
  return fail(Errc::unreachable,
              "the scheduler did not answer the request to run the job again",
              "continue with `dtsubmit requeue`");
}

std::optional<Error> JobWatch::take_trouble() {
  return shared_->take(shared_->trouble);
}

void JobWatch::drain_event() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(shared_->event.get(), &count, sizeof count);
}

}  // namespace dts::launch
