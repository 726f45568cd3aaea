// SPDX-License-Identifier: Apache-2.0
// The scheduler that cannot be reached, as the agent sees it: nothing blocks, and everything is
// said.
#include "core/launch/job_watch.hpp"

#include <doctest/doctest.h>
#include <poll.h>

#include <chrono>
#include <thread>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;

constexpr const char* k_why = "Slurm's configuration is not there";

Result<std::unique_ptr<sched::Scheduler>> nobody() {
  return fail(Errc::unreachable, k_why);
}

// The next answer of a kind, 10 s at most.
template <class Take>
auto next(JobWatch& watch, const Take& take) {
  for (const auto until = std::chrono::steady_clock::now() + 10s;;) {
    watch.drain_event();
    auto answer = take();
    if (answer || std::chrono::steady_clock::now() > until) return answer;
    pollfd waiting{watch.event_fd(), POLLIN, 0};
    ::poll(&waiting, 1, 200);
  }
}

}  // namespace

TEST_CASE("without a scheduler the reason is told once, and the facts are the defaults") {
  JobWatch watch(nobody, 7);
  const auto facts = next(watch, [&] { return watch.take_facts(); });
  REQUIRE(facts);
  CHECK(facts->addresses.empty());
  CHECK(facts->kill_wait_seconds == 30);
  const auto trouble = next(watch, [&] { return watch.take_trouble(); });
  REQUIRE(trouble);
  CHECK(trouble->message == k_why);
  CHECK_FALSE(watch.take_trouble());
  CHECK_FALSE(watch.take_facts());
  CHECK_FALSE(watch.take_job());
}

TEST_CASE("a request to requeue that nobody can hear is answered, not waited for") {
  JobWatch watch(nobody, 7);
  watch.requeue();
  const auto answer = next(watch, [&] { return watch.take_requeued(); });
  REQUIRE(answer);
  REQUIRE_FALSE(*answer);
  CHECK(answer->error().code == Errc::unreachable);
}

TEST_CASE("a connection that takes for ever blocks neither questions nor the end of the watch") {
  const auto before = std::chrono::steady_clock::now();
  {
    JobWatch watch(
        [] {
          std::this_thread::sleep_for(3s);
          return nobody();
        },
        7);
    watch.ask();
    watch.requeue();
    CHECK_FALSE(watch.take_job());
    CHECK_FALSE(watch.take_facts());
  }
  CHECK(std::chrono::steady_clock::now() - before < 1s);
}
