// SPDX-License-Identifier: Apache-2.0
// A run that waits or runs, and how `dtsubmit why` words what it knows.
#include "cli/output/cause_words.hpp"
#include "core/run/summary/evidence.hpp"
#include "tests/unit/cli/run_events.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>

namespace dts::cli {
namespace {

std::vector<Situation> pending_situations() {
  return {
      {"it is next",
       RunEvents().slurm(JobState::pending, "Resources").with([](auto& job) {
         job.start_time = at(1600);
       }),
       Standing::pending,
       {"Job 41 waits: it is next, and waits for nodes to become free (Resources).\n",
        "It was submitted at 2026-01-02T03:00:01Z, 16 min 39 s ago.\n",
        "Slurm expects to start it at 2026-01-02T03:26:40Z, in 10 min.\n",
        "next: a shorter --time or fewer --nodes"}},
      {"nodes that are being powered up",
       RunEvents().slurm(JobState::running, "").with([](auto& job) {
         job.preparing = true;
         job.end_time = at(4000);
       }),
       Standing::pending,
       {"Job 41 waits: it has nodes, which are being powered up or prepared by the site.\n",
        "It was submitted at 2026-01-02T03:00:01Z, 16 min 39 s ago.\n"},
       {"agent", "ends it"}},
      {"held",
       RunEvents().slurm(JobState::pending, "JobHeldUser").with([](auto& job) {
         job.start_time = at(31'536'000);
       }),
       Standing::pending,
       {"Job 41 waits: it is held (JobHeldUser).\n", "next: scontrol release 41\n"},
       {"expects"}},
      {"a dependency",
       RunEvents().slurm(JobState::pending, "Dependency").with([](auto& job) {
         job.dependency = "afterok:12(unfulfilled)";
       }),
       Standing::pending,
       {"waits for another job (Dependency).\n", "It depends on afterok:12(unfulfilled).\n"},
       {"next:"}},
      {"unknown to us",
       RunEvents().slurm(JobState::pending, "Reason200"),
       Standing::pending,
       {"for a reason that dtsubmit does not know (Reason200).\n"}},
      {"Slurm's own words",
       RunEvents().slurm(JobState::pending, "ReqNodeNotAvail").with([](auto& job) {
         job.description = "ReqNodeNotAvail, UnavailableNodes:n7";
       }),
       Standing::pending,
       {"Slurm adds: ReqNodeNotAvail, UnavailableNodes:n7.\n", "next: sinfo -R"},
       {"--time"}},
      {"a drained node of which Slurm says nothing",
       RunEvents().slurm(JobState::pending, "Resources").knows([](auto& known) {
         known.nodes_up = 1;
         known.nodes_needed = 2;
       }),
       Standing::pending,
       {"Of its partition 1 node is up, and it needs 2.\n", "next: sinfo -R"},
       {"--time", "backfill"}},
      {"nodes that the job excludes",
       RunEvents().slurm(JobState::pending, "Resources").with([](auto& job) {
         job.exclude_nodes = "n[3-4]";
       }),
       Standing::pending,
       {"It may not run on n[3-4]: by its options, or because of earlier faults"}},
      {"a drained node in Slurm's other words",
       RunEvents().slurm(JobState::pending, "Resources").with([](auto& job) {
         job.description = "Nodes required for job are DOWN, DRAINED or reserved";
       }),
       Standing::pending,
       {"next: sinfo -R"},
       {"--time"}},
      {"a maintenance ahead",
       RunEvents().slurm(JobState::pending, "ReqNodeNotAvail").with([](auto& job) {
         job.description = "ReqNodeNotAvail, Reserved for maintenance";
       }),
       Standing::pending,
       {"next: scontrol show reservation shows more; a shorter --time may end before"}},
      {"requeued after a preemption",
       RunEvents()
           .begin(1, 10)
           .end(1, 100, "preempted", 85)
           .decide(1, 100, "requeue", "preempted: asking the scheduler to run the job again")
           .note({.time = time(990), .attempt = 1, .what = run::Requeued{}})
           .slurm(JobState::pending, "BeginTime")
           .with([](auto& job) {
             job.restart_count = 1;
             job.eligible_time = at(1043);
           }),
       Standing::pending,
       {"old credential has expired (AuthInfo=cred_expire, 120 s by default): at "
        "2026-01-02T03:17:23Z, in 43 s (BeginTime).\n",
        "It was requeued at 2026-01-02T03:16:30Z, 10 s ago.\n",
        "attempt 1 on n1,n2, 1 min 30 s, no steps reported\n  preempted: another job got its nodes "
        "(rank 3 on n2: told)\n  then requeue: preempted: asking"}},
      {"asked to begin later",
       RunEvents().slurm(JobState::pending, "BeginTime").with([](auto& job) {
         job.eligible_time = at(4600);
       }),
       Standing::pending,
       {"it was submitted to begin later: at 2026-01-02T04:16:40Z, in 1 h (BeginTime).\n"},
       {"cred_expire"}},
      {"launch failed, requeued, held",
       RunEvents().slurm(JobState::pending, "JobHeldUser").with([](auto& job) {
         job.description = "launch failed requeued held";
       }),
       Standing::pending,
       {"Slurm could not launch it, put it back into the queue and holds it",
        "next: scontrol release 41\n"}},
      {"a decision to stop does not hide that somebody requeued it",
       RunEvents()
           .begin(1, 10)
           .end(1, 20, "user_exit")
           .decide(1, 20, "stop", "x")
           .slurm(JobState::pending, "Priority"),
       Standing::pending,
       {"jobs of a higher priority wait before it (Priority)",
        "Its last attempt ended at 2026-01-02T03:00:20Z, 16 min 20 s ago.\n"}},
      {"an agent that was lost before it could decide",
       RunEvents()
           .begin(1, 10)
           .end(1, 20, "rank_killed")
           .decide(1, 20, "restart", "x")
           .begin(2, 21)
           .end(2, 400, "launch_failed")
           .slurm(JobState::pending, "Resources"),
       Standing::pending,
       {"Its last attempt ended at 2026-01-02T03:06:40Z, 10 min ago.\n"}},
      {"an agent that was lost at once",
       RunEvents()
           .begin(1, 10)
           .end(1, 20, "rank_killed")
           .decide(1, 20, "restart", "x")
           .begin(2, 400)
           .slurm(JobState::pending, "Resources"),
       Standing::pending,
       {"Its last attempt began at 2026-01-02T03:06:40Z, 10 min ago, and no end is recorded.\n"}},
  };
}

// A run with a rank whose last words are an error.
RunEvents failing(const std::string& part, unsigned rank, std::int64_t seconds_ago) {
  return RunEvents().begin(1, 280).slurm(JobState::running, "None").knows([&](auto& known) {
    known.last_error = run::LastError{part, rank, "KeyError: 'loss'", known.now - seconds_ago};
  });
}

std::vector<Situation> running_situations() {
  const char* const k_metrics =
      "{\"event\":\"start\",\"attempt\":1,\"step\":0,\"total\":200}\n"
      "{\"event\":\"step\",\"attempt\":1,\"step\":140}\n";
  return {
      {"a rank that failed and does not end",
       failing("", 3, 50),
       Standing::running,
       {"The last words of rank 3, 50 s ago, are an error, but it has not ended: KeyError: "
        "'loss'\n",
        "next: dtsubmit logs 41 --rank 3\n"}},
      {"a rank of a role that failed and does not end",
       failing("server", 0, 50),
       Standing::running,
       {"The last words of rank 0 of server, 50 s ago, are an error",
        "next: dtsubmit logs 41/server --rank 0\n"}},
      {"a rank that may be about to end", failing("", 3, 29), Standing::running, {}, {"an error"}},
      {"in the middle",
       RunEvents()
           .begin(1, 280)
           .metrics(k_metrics)
           .slurm(JobState::running, "None")
           .with([](auto& job) { job.end_time = at(1060); }),
       Standing::running,
       {"Job 41 has been running since 2026-01-02T03:04:40Z (12 min): attempt 1 on n1,n2.\n",
        "It has done step 140 of 200, as reported 7 s ago.\n",
        "Slurm ends it at 2026-01-02T03:17:40Z, in 1 min.\n",
        "next: dtsubmit logs -f 41\n"},
       {"being stopped", "Not every rank"}},
      {"without a time limit, for which Slurm keeps a year",
       RunEvents().begin(1, 280).slurm(JobState::running, "None").with([](auto& job) {
         job.start_time = at(270);
         job.end_time = at(270) + 365 * 86400;
       }),
       Standing::running,
       {"It has no time limit.\n"},
       {"Slurm ends it"}},
      {"its agent has not begun",
       RunEvents().slurm(JobState::running, "None"),
       Standing::running,
       {"Job 41 runs; its agent has not begun yet.\n"}},
      {"its ranks are being started",
       RunEvents()
           .note({.time = time(990), .attempt = 1, .what = run::AttemptStarted{.nodes = {"n1"}}})
           .slurm(JobState::running, "None"),
       Standing::running,
       {"Not every rank's program runs yet.\n"}},
      {"after a restart, what came before is told",
       RunEvents()
           .begin(1, 10)
           .end(1, 100, "rank_killed", 137)
           .decide(1, 100, "restart", "crash 1 of at most 3: once more on the same nodes")
           .begin(2, 101)
           .slurm(JobState::running, "None"),
       Standing::running,
       {"attempt 2 on n1,n2.\n",
        "  rank_killed: a rank was killed, or its process vanished (rank 3 on n2: told)\n"
        "  then restart: crash 1 of at most 3: once more on the same nodes\n",
        "budgets used: crash 1 of 3\n"},
       {"out of luck"}},
      {"it is being preempted",
       RunEvents()
           .begin(1, 10)
           .note({.time = time(990),
                  .attempt = 1,
                  .what = run::StopRequested{.cause = run::Cause::preempted}})
           .slurm(JobState::running, "None")
           .with([](auto& job) { job.preempt_time = at(990); }),
       Standing::running,
       {"It is being stopped: another job got its nodes (preempted).\n",
        "Slurm is preempting it for another job.\n"}},
      {"suspended",
       RunEvents().begin(1, 10).slurm(JobState::suspended, "None"),
       Standing::running,
       {"Job 41 is suspended", "does not count towards its time limit"}},
  };
}

}  // namespace

TEST_CASE("why a job waits") {
  check(pending_situations());
}

TEST_CASE("since when it runs, how far it is, and what it did before") {
  check(running_situations());
}

TEST_CASE("every cause has words of its own") {
  std::set<std::string> words;
  for (const run::Cause cause : run::all_causes()) words.insert(words_of_cause(cause, "").what);
  CHECK(words.size() == run::all_causes().size());
  CHECK(words.count("") == 0);
  const std::string own = std::string("rank 0 exited 125: ") + run::k_runtime_failed + ": Error: x";
  CHECK(words.count(words_of_cause(run::Cause::no_program, own).what) == 0);
  const std::string foreign =
      std::string("rank 0 exited 1: ") + std::string(run::k_foreign_launcher);
  const std::string_view advice = words_of_cause(run::Cause::user_exit, foreign).advice;
  CHECK(advice.find("--launcher mpirun") != advice.npos);
  for (const std::string_view unseen : {run::k_unseen_gpu, run::k_unseen_gpus}) {
    const std::string_view more = words_of_cause(run::Cause::user_exit, unseen).advice;
    CHECK(more.find("LOCAL_RANK %") != more.npos);
  }
  const std::string_view none = words_of_cause(run::Cause::user_exit, run::k_no_gpu).advice;
  CHECK(none.find("--gpus-per-node") != none.npos);
}

TEST_CASE("a program's last lines reach the terminal short and without control characters") {
  RunEvents story = RunEvents().begin(1, 10).end(1, 20, "user_exit").decide(1, 20, "stop", "x");
  story.known.last_words[1].lines.assign(50, "line");
  story.known.last_words[1].lines.back() = "\033[31mred" + std::string(1000, 'x');
  const std::string text = to_text(explain(story.known), story.known);
  CHECK(text.find('\033') == std::string::npos);
  CHECK(text.find("\\x1b[31mredx") != std::string::npos);
  CHECK(text.find(std::string(200, 'x')) == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') < 30);
}

TEST_CASE("the short text after --follow: why the run ended, by whom, and what to type next") {
  RunEvents story =
      RunEvents().begin(1, 10).end(1, 20, "user_exit", 7).decide(1, 20, "stop", "x", 7);
  const std::string text = ending_text(explain(story.known), story.known);
  for (const char* words : {"the program failed, first rank 3 on n2",
                            "the last lines of rank 3",
                            "  out of luck\n",
                            "next: dtsubmit requeue 41",
                            "more: dtsubmit why 41\n"}) {
    CAPTURE(words);
    CHECK(text.find(words) != std::string::npos);
  }
  story = RunEvents().begin(1, 10).decide(1, 20, "done", "x", 0);
  const std::string done = ending_text(explain(story.known), story.known);
  CHECK(done.find("is done") != std::string::npos);
  CHECK(std::count(done.begin(), done.end(), '\n') == 2);
  story = RunEvents().begin(1, 10);
  story.note({.time = time(20), .attempt = 1, .what = run::Warning{"rank 0 left `x` running"}});
  story.decide(1, 20, "done", "x", 0);
  CHECK(ending_text(explain(story.known), story.known)
            .ends_with("\nwarning: rank 0 left `x` running\n"));
}

TEST_CASE("JSON has everything, cut off nowhere") {
  RunEvents story = RunEvents();
  for (unsigned k = 1; k <= 6; ++k)
    story.begin(k, 10).end(k, 20, "hang").decide(k, 20, "stop", "no more");
  story.slurm(JobState::failed, "NonZeroExitCode", 1);
  story.known.last_words[6].lines = {"not UTF-8: \xff"};
  const auto document = nlohmann::json::parse(to_json(explain(story.known), story.known));
  CHECK(document["schema"] == "dtsubmit/why/1");
  CHECK(document["job"] == 41);
  CHECK(document["standing"] == "stopped");
  CHECK(document["scheduler_state"] == "failed");
  REQUIRE(document["attempts"].size() == 6);
  CHECK(document["attempts"][5]["rank"] == 3);
  CHECK(document["attempts"][5]["node"] == "n2");
  CHECK(document["attempts"][5]["cause"] == "hang");
  CHECK(document["attempts"][0]["last_lines"]["lines"].size() == 2);
  CHECK(document["budgets"][0]["kind"] == "crash");
  CHECK(document["budgets"][0]["used"] == 6);
  CHECK(document["budgets"][0]["most"] == 3);
  CHECK(document["next"].size() == 2);
}

TEST_CASE("each budget is reported once, in any order of causes") {
  RunEvents story = RunEvents();
  story.begin(1, 10).end(1, 20, "rank_killed").decide(1, 20, "restart", "1");
  for (unsigned k = 2; k <= 4; ++k)
    story.begin(k, 30).end(k, 40, "launch_failed").decide(k, 40, k < 4 ? "restart" : "stop", "2");
  const std::string text = to_text(explain(story.known), story.known);
  CHECK(text.find("budgets used: crash 1 of 3, launch 3 of 2\n") != std::string::npos);
}

TEST_CASE("slow ranks are told with their attempt: three of them as text, all as JSON") {
  RunEvents story = RunEvents();
  story.begin(1, 10);
  for (int rank = 0; rank < 5; ++rank)
    story.note(
        {.time = time(60),
         .attempt = 1,
         .what = run::Straggler{.detail = fmt::format("rank {} on n2 is slow: so much", rank),
                                .rank = rank,
                                .node = "n2",
                                .phase = run::SlowPhase::compute}});
  story.slurm(JobState::running, "None", 1);
  const Explanation why = explain(story.known);
  const std::string text = to_text(why, story.known);
  CHECK(text.find("  rank 2 on n2 is slow: so much\n") != std::string::npos);
  CHECK(text.find("rank 3 on n2 is slow") == std::string::npos);
  const auto document = nlohmann::json::parse(to_json(why, story.known));
  CHECK(document["attempts"][0]["stragglers"].size() == 5);
  CHECK(document["attempts"][0]["rank"] == -1);
}

}  // namespace dts::cli
