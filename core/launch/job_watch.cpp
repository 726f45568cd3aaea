// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job_watch.hpp"

#include "core/base/unique_fd.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_poll{30};
constexpr std::chrono::seconds k_requeue_patience{120};
constexpr std::chrono::seconds k_retry{3};

}  // namespace

struct JobWatch::Shared {
  sched::JobId job = 0;
  UniqueFd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::condition_variable wake;
  bool asked = false;
  bool requeue_asked = false;
  std::optional<Facts> facts;
  std::optional<sched::JobInfo> info;
  std::optional<Result<void>> requeued;
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

JobWatch::JobWatch(Connect connect, sched::JobId job) : shared_(std::make_shared<Shared>()) {
  shared_->job = job;
  std::thread([shared = shared_, connect = std::move(connect)] { work(shared, connect); }).detach();
}

namespace {

JobWatch::Facts load_facts(sched::Scheduler& scheduler, sched::JobId job) {
  JobWatch::Facts facts;
  if (const auto config = scheduler.config()) facts.kill_wait_seconds = config->kill_wait_seconds;
  if (const auto nodes = scheduler.nodes())
    for (const sched::NodeInfo& node : *nodes) facts.addresses[node.name] = node.address;
  if (const auto info = scheduler.job(job)) facts.deadline = info->end_time;
  return facts;
}

Result<void> requeue_patiently(sched::Scheduler& scheduler, sched::JobId job) {
  const auto give_up = std::chrono::steady_clock::now() + k_requeue_patience;
  while (true) {
    auto done = scheduler.requeue(job);
    if (done || done.error().code != Errc::unreachable ||
        std::chrono::steady_clock::now() > give_up)
      return done;
    std::this_thread::sleep_for(k_retry);
  }
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
    bool requeue = false;
    {
      std::unique_lock lock(shared->mutex);
      shared->wake.wait_for(lock, k_poll, [&] { return shared->asked || shared->requeue_asked; });
      shared->asked = false;
      requeue = std::exchange(shared->requeue_asked, false);
    }
    if (!scheduler) {
      if (requeue)
        shared->publish(shared->requeued, Result<void>(tl::unexpected<Error>(scheduler.error())));
      continue;
    }
    if (requeue) shared->publish(shared->requeued, requeue_patiently(**scheduler, shared->job));
    auto info = (*scheduler)->job(shared->job);
    if (info)
      shared->publish(shared->info, std::move(*info));
    else
      shared->publish(shared->trouble, info.error());
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

void JobWatch::requeue() {
  const std::lock_guard lock(shared_->mutex);
  shared_->requeue_asked = true;
  shared_->wake.notify_one();
}

std::optional<JobWatch::Facts> JobWatch::take_facts() {
  return shared_->take(shared_->facts);
}

std::optional<sched::JobInfo> JobWatch::take_job() {
  return shared_->take(shared_->info);
}

std::optional<Result<void>> JobWatch::take_requeued() {
  return shared_->take(shared_->requeued);
}

std::optional<Error> JobWatch::take_trouble() {
  return shared_->take(shared_->trouble);
}

void JobWatch::drain_event() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(shared_->event.get(), &count, sizeof count);
}

}  // namespace dts::launch
