// SPDX-License-Identifier: Apache-2.0
// The scheduler that cannot be reached, as the agent sees it: nothing blocks, and everything is
// reported.
#include "core/launch/job/job_watch.hpp"

#include <doctest/doctest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;

constexpr const char* k_forgotten = "submit afterany";  // refused if the job is not known
constexpr const char* k_reused = "another job";         // has the id from the second look on
constexpr const char* k_why = "Slurm's configuration is not there";

Result<std::unique_ptr<sched::Scheduler>> nobody() {
  return fail(Errc::unreachable, k_why);
}

std::string dependency_of(const sched::Submission& job) {
  const auto found = job.once.find("dependency");
  return found == job.once.end() ? "" : found->second;
}

// A controller that refuses on request; what it was asked goes to `asked`.
class Scripted final : public sched::Scheduler {
 public:
  Scripted(std::vector<std::string>& asked,
           std::string refused,
           sched::JobState state = sched::JobState::pending,
           std::string excluded = "n3")
      : asked_(asked),
        refused_(std::move(refused)),
        state_(state),
        excluded_(std::move(excluded)) {}

  [[nodiscard]] sched::Access access() const override {
    return {"scripted", "scripted", "it is a test"};
  }

  Result<sched::JobId> submit(const sched::Submission& job) override {
    DTS_TRY(answer("submit " + dependency_of(job) + " without " + job.exclude_nodes));
    return sched::JobId(8);
  }

  Result<sched::JobInfo> job(sched::JobId id) override {
    if (refused_ == k_forgotten) return fail(Errc::not_found, "no such job");
    sched::JobInfo info;
    info.id = id;
    info.state = state_;
    info.partition = "low";
    info.exclude_nodes = excluded_;
    const bool is_another = refused_ == k_reused && looks_++ > 0;
    info.script_path = is_another ? "/runs/b/script.sbatch" : "/runs/a/script.sbatch";
    return info;
  }

  Result<std::vector<sched::NodeInfo>> nodes() override {
    std::vector<sched::NodeInfo> all;
    for (const auto& [name, state] : {std::pair{"n1", "idle"},
                                      {"n2", "down"},
                                      {"n3", "down*"},
                                      {"n4", "allocated*"},
                                      {"n5", "drained"}}) {
      all.emplace_back().name = name;
      const std::string word = all.back().state = state;
      all.back().lost = word.starts_with("down") || word.ends_with("*");
      all.back().away = all.back().lost || word == "drained";
    }
    return all;
  }

  Result<std::vector<sched::PartitionInfo>> partitions() override {
    sched::PartitionInfo low, high;
    low.name = "low";
    low.nodes = "n[1-4,6]";
    high.name = "high";
    high.nodes = "n[1-9]";
    return std::vector{low, high};
  }

  Result<sched::ConfigInfo> config() override {
    sched::ConfigInfo config;
    config.restarts_ended_jobs = true;
    return config;
  }

  Result<void> cancel(sched::JobId) override { return answer("cancel"); }

  Result<void> requeue(sched::JobId) override { return answer("requeue"); }

  Result<void> forbid_requeue(sched::JobId) override { return answer("forbid"); }

  Result<void> exclude(sched::JobId, const std::string& nodes) override {
    return answer("exclude " + nodes);
  }

  Result<void> signal_batch(sched::JobId, int) override { return {}; }

 private:
  Result<void> answer(const std::string& words) {
    asked_.push_back(words);
    if (words.rfind(refused_, 0) == 0) return fail(Errc::rejected, "not allowed");
    return {};
  }

  std::vector<std::string>& asked_;
  std::string refused_;
  sched::JobState state_;
  std::string excluded_;
  unsigned looks_ = 0;
};

JobWatch::Connect scripted(std::vector<std::string>& asked,
                           std::string refused,
                           sched::JobState state = sched::JobState::pending) {
  return [&asked, refused = std::move(refused), state] {
    return Result<std::unique_ptr<sched::Scheduler>>(
        std::make_unique<Scripted>(asked, refused, state));
  };
}

// The next answer of a kind, waiting at most 10 s.
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

TEST_CASE("without a scheduler the reason is reported once, and the facts are the defaults") {
  JobWatch watch(nobody, sched::JobId(7));
  const auto facts = next(watch, [&] { return watch.take_facts(); });
  REQUIRE(facts);
  CHECK(facts->addresses.empty());
  CHECK(facts->kill_wait_seconds == 30);
  const auto trouble = next(watch, [&] { return watch.take_error(); });
  REQUIRE(trouble);
  CHECK(trouble->message == k_why);
  CHECK_FALSE(watch.take_error());
  CHECK_FALSE(watch.take_facts());
  CHECK_FALSE(watch.take_job());
}

TEST_CASE("a requeue request that no scheduler can receive is answered, not waited for") {
  JobWatch watch(nobody, sched::JobId(7));
  watch.request_return({});
  const auto answer = watch.wait_returned();
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == Errc::unreachable);
  CHECK(answer.error().message == k_why);
}

TEST_CASE("a connection that never completes blocks neither questions nor the end of the watch") {
  const auto before = std::chrono::steady_clock::now();
  {
    JobWatch watch(
        [] {
          std::this_thread::sleep_for(3s);
          return nobody();
        },
        sched::JobId(7));
    watch.ask();
    watch.request_return({});
    CHECK_FALSE(watch.take_job());
    CHECK_FALSE(watch.take_facts());
  }
  CHECK(std::chrono::steady_clock::now() - before < 1s);
}

TEST_CASE("how the scheduler is reached is reported once") {
  std::vector<std::string> asked;
  JobWatch watch(scripted(asked, "none"), sched::JobId(7));
  CHECK(next(watch, [&] { return watch.take_access(); }) == "scripted: it is a test");
  CHECK(next(watch, [&] { return watch.take_job(); }));  // the initial one, unasked
  CHECK(watch.has_answered());
  watch.begin_attempt();
  CHECK(next(watch, [&] { return watch.take_facts(); }));
  watch.ask();
  CHECK(next(watch, [&] { return watch.take_job(); }));
  CHECK_FALSE(watch.take_access());
  CHECK_FALSE(watch.take_limitation());
  CHECK_FALSE(watch.take_error());
}

TEST_CASE("a scheduler that does not answer may do so later, if there is a way to it") {
  std::vector<std::string> asked;
  JobWatch watch(scripted(asked, k_forgotten), sched::JobId(7));
  CHECK(next(watch, [&] { return watch.take_error(); }));
  CHECK_FALSE(watch.has_answered());
  CHECK(watch.may_answer());
}

TEST_CASE("without any way to reach the scheduler, the consequences are reported") {
  JobWatch watch(nobody, sched::JobId(7));
  const auto handicap = next(watch, [&] { return watch.take_limitation(); });
  REQUIRE(handicap);
  CHECK(handicap->find(k_why) != std::string::npos);
  CHECK(handicap->find("only the scheduler itself can requeue the job") != std::string::npos);
  CHECK_FALSE(watch.wait_job(1s));
  CHECK_FALSE(watch.has_answered());
  CHECK_FALSE(watch.may_answer());
  CHECK_FALSE(watch.take_limitation());  // retried, with the same result
  CHECK_FALSE(watch.take_access());
}

TEST_CASE("a job that has ended is kept from starting again where the scheduler would start it") {
  std::vector<std::string> asked;
  JobWatch watch(scripted(asked, "none"), sched::JobId(7));
  CHECK(next(watch, [&] { return watch.take_facts(); }));
  CHECK(watch.restarts_ended_jobs());
  JobWatch::Return how;
  how.forbid_requeue = true;
  watch.request_return(std::move(how));
  CHECK(watch.wait_returned());
  CHECK(asked == std::vector<std::string>{"forbid"});
}

TEST_CASE("a job that has our id by now is not touched, and its record is not ours") {
  const sched::Submission again;

  struct Case {
    JobWatch::Return how;
    std::vector<std::string> asked;
    std::uint32_t job;  // 0: an error
  };

  JobWatch::Return cancelled, ended;
  cancelled.cancel = true;
  ended.forbid_requeue = true;
  for (const Case& one : {Case{{true, "n2", 2, again}, {"submit  without n2"}, 8},
                          Case{{false, "", 0, again}, {"submit  without "}, 8},
                          Case{{true, ""}, {}, 0},
                          Case{cancelled, {}, 7},
                          Case{ended, {}, 7}}) {
    std::vector<std::string> asked;
    JobWatch watch(scripted(asked, k_reused), sched::JobId(7));
    CHECK(next(watch, [&] { return watch.take_job(); }));  // the initial one, unasked
    watch.ask();
    const auto trouble = next(watch, [&] { return watch.take_error(); });
    REQUIRE(trouble);
    CHECK(trouble->message == "7 is the id of another job now");
    CHECK_FALSE(watch.take_job());
    watch.request_return(one.how);
    const auto answer = next(watch, [&] { return watch.take_returned(); });
    REQUIRE(answer);
    CHECK(asked == one.asked);
    CHECK(answer->has_value() == (one.job != 0));
    if (*answer) CHECK((*answer)->job == sched::JobId(one.job));
  }
}

TEST_CASE("a scheduler that becomes available later is used, and its facts arrive with it") {
  std::vector<std::string> asked;
  std::atomic<bool> is_there{false};
  JobWatch watch(
      [&]() -> Result<std::unique_ptr<sched::Scheduler>> {
        if (!is_there) return nobody();
        return std::make_unique<Scripted>(asked, "none");
      },
      sched::JobId(7));
  REQUIRE(next(watch, [&] { return watch.take_facts(); }));
  is_there = true;
  CHECK(watch.wait_job(10s));
  const auto facts = next(watch, [&] { return watch.take_facts(); });
  REQUIRE(facts);
  CHECK(facts->addresses.size() == 5);
}

TEST_CASE("each attempt gets fresh facts and a fresh record of the job") {
  std::vector<std::string> asked;
  JobWatch watch(scripted(asked, "none"), sched::JobId(7));
  for (int attempt = 1; attempt <= 3; ++attempt) {
    watch.begin_attempt();
    const auto facts = next(watch, [&] { return watch.take_facts(); });
    REQUIRE(facts);
    CHECK(facts->addresses.size() == 5);
    CHECK(next(watch, [&] { return watch.take_job(); }));
    CHECK_FALSE(watch.take_facts());
  }
}

TEST_CASE("a job comes back under its own id, or as a successor if that is not allowed") {
  struct Case {
    const char* refused;
    JobWatch::Return how;
    std::vector<std::string> asked;
    std::uint32_t job;  // 0: an error
    const char* trouble;
    const char* avoided = "";
  };

  const auto avoiding = [](unsigned nodes, const char* exclude, std::vector<std::string> avoid) {
    JobWatch::Return how{true, exclude, nodes};
    how.avoid = std::move(avoid);
    return how;
  };

  const sched::Submission again;
  sched::Submission with_n9;
  with_n9.exclude_nodes = "n9";
  for (const Case& one : {
           Case{"none", {true, "", 0, again}, {"requeue"}, 7, ""},
           Case{"none", {true, "n2", 0, again}, {"requeue", "exclude n2"}, 7, ""},
           Case{"exclude",
                {true, "n2"},
                {"requeue", "exclude n2"},
                7,
                "n2 may be allocated again: not allowed"},
           Case{"requeue",
                {true, "n2", 0, again},
                {"requeue", "submit afterany:7 without n2"},
                8,
                "not allowed"},
           Case{k_forgotten, {false, "", 0, again}, {"submit  without "}, 8, ""},
           Case{k_forgotten,
                {true, "", 0, again},
                {"submit  without "},
                8,
                "the scheduler no longer knows job 7"},
           Case{"none", {true, "n2", 2}, {"requeue", "exclude n2"}, 7, ""},
           Case{"none",
                {true, "n2", 4},
                {"requeue"},
                7,
                "n2 may be allocated again: without it, partition low has 3 nodes, and the job "
                "needs 4"},
           Case{"none",
                {false, "n2", 4, again},
                {"submit afterany:7 without "},
                8,
                "n2 may be allocated again: without it, partition low has 3 nodes, and the job "
                "needs 4"},
           Case{"none", {false, "n2", 2, with_n9}, {"submit afterany:7 without n9,n2"}, 8, ""},
           Case{"requeue", {true, ""}, {"requeue"}, 0, ""},
           Case{"none", {false, "", 0, again}, {"submit afterany:7 without "}, 8, ""},
           Case{"submit", {false, "", 0, again}, {"submit afterany:7 without "}, 0, ""},
           // In partition low, the job excludes n3, and n2 and n4 are down.
           Case{"none", avoiding(1, "", {"n1"}), {"requeue", "exclude n1"}, 7, "", "n1"},
           Case{"none", avoiding(1, "", {"n1", "n6"}), {"requeue", "exclude n6"}, 7, "", "n6"},
           Case{"none", avoiding(2, "", {"n1"}), {"requeue"}, 7, ""},
           Case{"none", avoiding(2, "", {"n1", "n4"}), {"requeue", "exclude n4"}, 7, "", "n4"},
           Case{"none", avoiding(3, "", {"n4"}), {"requeue"}, 7, ""},
           Case{"none", avoiding(0, "", {"n1"}), {"requeue"}, 7, ""},
           Case{"none", avoiding(1, "", {"n3", "n9"}), {"requeue"}, 7, ""},
           Case{"none", avoiding(1, "n2", {"n1"}), {"requeue", "exclude n2,n1"}, 7, "", "n1"},
           Case{"none", avoiding(1, "n6", {"n1"}), {"requeue", "exclude n6"}, 7, ""},
           Case{"exclude",
                avoiding(1, "", {"n1"}),
                {"requeue", "exclude n1"},
                7,
                "n1 may be allocated again: not allowed"},
           Case{"none", {true, "n2", 0, again, true}, {"cancel"}, 7, ""},
           Case{"cancel", {true, "", 0, again, true}, {"cancel"}, 0, ""},
       }) {
    CAPTURE(one.refused);
    std::vector<std::string> asked;
    JobWatch watch(scripted(asked, one.refused), sched::JobId(7));
    watch.request_return(one.how);
    const auto answer = next(watch, [&] { return watch.take_returned(); });
    REQUIRE(answer);
    CHECK(asked == one.asked);
    CHECK(answer->has_value() == (one.job != 0));
    if (!*answer) continue;
    CHECK((*answer)->job == sched::JobId(one.job));
    CHECK((*answer)->trouble == one.trouble);
    CHECK((*answer)->avoided == one.avoided);
  }
}

TEST_CASE("a job that excludes nothing avoids what it can") {
  std::vector<std::string> asked;
  Scripted scheduler(asked, "none", sched::JobState::running, "");
  JobReturn how{true, "", 2};
  how.avoid = {"n1"};
  const auto returned = return_job(scheduler, sched::JobId(7), how);
  REQUIRE(returned);
  CHECK(returned->avoided.empty());
  how.avoid = {"n3"};
  CHECK(return_job(scheduler, sched::JobId(7), how)->avoided == "n3");
}

TEST_CASE("a job that was requeued comes with the nodes that are down") {
  std::vector<std::string> asked;
  JobWatch watch(scripted(asked, "none"), sched::JobId(7));
  watch.ask();
  const auto job = next(watch, [&] { return watch.take_job(); });
  REQUIRE(job);
  const auto down = watch.take_down_nodes();
  REQUIRE(down);
  CHECK(*down == std::vector<std::string>{"n2", "n3", "n4"});
}

TEST_CASE("on request, the nodes that are down come with every record") {
  std::vector<std::string> asked;
  JobWatch watch(scripted(asked, "none", sched::JobState::running), sched::JobId(7), true);
  watch.ask();
  REQUIRE(next(watch, [&] { return watch.take_job(); }));
  CHECK(watch.take_down_nodes() == std::vector<std::string>{"n2", "n3", "n4"});
}
