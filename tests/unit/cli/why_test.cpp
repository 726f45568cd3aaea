// SPDX-License-Identifier: Apache-2.0
// Situations of a run, and the sentences that `dtsubmit why` must say of each.
#include "cli/output/why.hpp"

#include "cli/output/cause_words.hpp"
#include "core/base/units.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>

namespace {

using namespace dts;
using namespace dts::cli;
using run::Event;
using sched::JobState;

std::int64_t at(int second) {
  return std::chrono::system_clock::to_time_t(*parse_utc("2026-01-02T03:00:00Z")) + second;
}

std::string time(int second) {
  return format_utc(std::chrono::system_clock::from_time_t(at(second)));
}

// Events of a run on job 41; `now` is 1000 s after its creation.
struct Story {
  Known known;

  explicit Story(std::uint32_t job = 41) : job_(job) {
    known.run_directory = "/runs/r";
    known.name = job != 0 ? std::to_string(job) : "/runs/r";
    known.policy = run::default_policy();
    known.now = at(1000);
    note({.time = time(0), .event = "created"});
    if (job != 0) note({.time = time(1), .event = "submitted"});
  }

  Story& note(Event event) {
    if (event.event != "created") event.job = job_;
    known.events.push_back(std::move(event));
    known.summary = run::summarise(known.events, metrics_);
    return *this;
  }

  Story& begin(unsigned attempt, int second) {
    note({.time = time(second),
          .event = "attempt_started",
          .attempt = attempt,
          .nodes = {"n1", "n2"}});
    return note({.time = time(second + 5), .event = "ranks_started", .attempt = attempt});
  }

  Story& end(unsigned attempt, int second, const char* cause, int code = 1) {
    note({.time = time(second),
          .event = "attempt_ended",
          .attempt = attempt,
          .cause = cause,
          .exit_code = code,
          .detail = "rank 3 on n2: told",
          .rank = 3,
          .node = "n2"});
    known.last_words[attempt] = {
        "rank 3", "/runs/r/attempt-1/rank-3.log", {"first", "out of luck"}};
    return *this;
  }

  Story& decide(unsigned attempt, int second, const char* decision, const char* why, int code = 1) {
    return note({.time = time(second),
                 .event = "decided",
                 .attempt = attempt,
                 .exit_code = code,
                 .decision = decision,
                 .detail = why});
  }

  Story& metrics(const std::string& text) {
    metrics_ = text;
    known.summary = run::summarise(known.events, metrics_);
    known.last_metric = at(993);
    return *this;
  }

  Story& slurm(JobState state, const char* reason, int code = 0, int signal = 0) {
    sched::JobInfo job;
    job.id = job_;
    job.state = state;
    job.reason = reason;
    job.exit_code = code;
    job.exit_signal = signal;
    known.job = job;
    return *this;
  }

  Story& with(const std::function<void(sched::JobInfo&)>& change) {
    change(*known.job);
    return *this;
  }

 private:
  std::uint32_t job_;
  std::string metrics_;
};

struct Situation {
  const char* name;
  Story story;
  Standing standing;
  std::vector<const char*> said;
  std::vector<const char*> not_said{};
};

std::vector<Situation> pending_situations() {
  return {
      {"it is next",
       Story().slurm(JobState::pending, "Resources").with([](auto& job) {
         job.start_time = at(1600);
       }),
       Standing::pending,
       {"Job 41 waits: it is next, and waits for nodes to become free (Resources).\n",
        "It was submitted at 2026-01-02T03:00:01Z, 16 min 39 s ago.\n",
        "Slurm expects to start it at 2026-01-02T03:26:40Z, in 10 min 0 s.\n",
        "next: a shorter --time or fewer --nodes"}},
      {"held",
       Story().slurm(JobState::pending, "JobHeldUser").with([](auto& job) {
         job.start_time = at(31'536'000);
       }),
       Standing::pending,
       {"Job 41 waits: it is held (JobHeldUser).\n", "next: scontrol release 41\n"},
       {"expects"}},
      {"a dependency",
       Story().slurm(JobState::pending, "Dependency").with([](auto& job) {
         job.dependency = "afterok:12(unfulfilled)";
       }),
       Standing::pending,
       {"waits for another job (Dependency).\n", "It depends on afterok:12(unfulfilled).\n"},
       {"next:"}},
      {"unknown to us",
       Story().slurm(JobState::pending, "Reason200"),
       Standing::pending,
       {"of a reason that dtsubmit does not know (Reason200).\n"}},
      {"Slurm's own words",
       Story().slurm(JobState::pending, "ReqNodeNotAvail").with([](auto& job) {
         job.description = "ReqNodeNotAvail, UnavailableNodes:n7";
       }),
       Standing::pending,
       {"Slurm adds: ReqNodeNotAvail, UnavailableNodes:n7.\n", "next: sinfo -R"}},
      {"requeued after a preemption",
       Story()
           .begin(1, 10)
           .end(1, 100, "preempted", 85)
           .decide(1, 100, "requeue", "preempted: asking the scheduler to run the job again")
           .note({.time = time(990), .event = "requeued", .attempt = 1})
           .slurm(JobState::pending, "BeginTime")
           .with([](auto& job) {
             job.restart_count = 1;
             job.eligible_time = at(1043);
           }),
       Standing::pending,
       {"old credential has expired (AuthInfo=cred_expire, 120 s by default): at "
        "2026-01-02T03:17:23Z, in 43 s (BeginTime).\n",
        "It was requeued at 2026-01-02T03:16:30Z, 10 s ago.\n",
        "attempt 1 on n1,n2, 1 min 30 s, no step told\n  preempted: another job got its nodes "
        "(rank 3 on n2: told)\n  then requeue: preempted: asking"}},
      {"asked to begin later",
       Story().slurm(JobState::pending, "BeginTime").with([](auto& job) {
         job.eligible_time = at(4600);
       }),
       Standing::pending,
       {"it asked to begin later: at 2026-01-02T04:16:40Z, in 1 h 0 min (BeginTime).\n"},
       {"cred_expire"}},
      {"launch failed, requeued, held",
       Story().slurm(JobState::pending, "JobHeldUser").with([](auto& job) {
         job.description = "launch failed requeued held";
       }),
       Standing::pending,
       {"Slurm could not launch it, put it back into the queue and holds it",
        "next: scontrol release 41\n"}},
      {"a decision to stop does not hide that somebody requeued it",
       Story()
           .begin(1, 10)
           .end(1, 20, "user_exit")
           .decide(1, 20, "stop", "x")
           .slurm(JobState::pending, "Priority"),
       Standing::pending,
       {"jobs of a higher priority wait before it (Priority)",
        "Its last attempt ended at 2026-01-02T03:00:20Z, 16 min 20 s ago.\n"}},
  };
}

std::vector<Situation> running_situations() {
  const char* const k_metrics =
      "{\"event\":\"start\",\"attempt\":1,\"step\":0,\"total\":200}\n"
      "{\"event\":\"step\",\"attempt\":1,\"step\":140}\n";
  return {
      {"in the middle",
       Story()
           .begin(1, 280)
           .metrics(k_metrics)
           .slurm(JobState::running, "None")
           .with([](auto& job) { job.end_time = at(1060); }),
       Standing::running,
       {"Job 41 runs since 2026-01-02T03:04:40Z (12 min 0 s): attempt 1 on n1,n2.\n",
        "It has done step 140 of 200, as it told 7 s ago.\n",
        "Slurm ends it at 2026-01-02T03:17:40Z, in 1 min 0 s.\n",
        "next: dtsubmit logs -f 41\n"},
       {"being stopped", "Not every rank"}},
      {"its agent has not begun",
       Story().slurm(JobState::running, "None"),
       Standing::running,
       {"Job 41 runs; its agent has not begun yet.\n"}},
      {"its ranks are being started",
       Story()
           .note({.time = time(990), .event = "attempt_started", .attempt = 1, .nodes = {"n1"}})
           .slurm(JobState::running, "None"),
       Standing::running,
       {"Not every rank's program runs yet.\n"}},
      {"after a restart, what came before is told",
       Story()
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
       Story()
           .begin(1, 10)
           .note({.time = time(990), .event = "stop_requested", .attempt = 1, .cause = "preempted"})
           .slurm(JobState::running, "None")
           .with([](auto& job) { job.preempt_time = at(990); }),
       Standing::running,
       {"It is being stopped: another job got its nodes (preempted).\n",
        "Slurm is preempting it for another job.\n"}},
      {"suspended",
       Story().begin(1, 10).slurm(JobState::suspended, "None"),
       Standing::running,
       {"Job 41 is suspended"}},
  };
}

std::vector<Situation> ended_situations() {
  Story without_slurm = Story()
                            .begin(1, 10)
                            .end(1, 100, "user_exit", 7)
                            .decide(1, 100, "stop", "the program failed by itself", 7);
  without_slurm.known.no_job = "no scheduler here";
  Story exhausted = Story();
  for (unsigned k = 1; k <= 6; ++k) {
    const int begun = 10 + 100 * static_cast<int>(k);
    exhausted.begin(k, begun)
        .end(k, begun + 50, "hang")
        .decide(k, begun + 50, k < 6 ? "restart" : "stop", "of hangs");
  }
  Story saved = Story().begin(1, 10).end(1, 100, "cancelled", 143);
  saved.known.checkpoint = "step-000000060";
  saved.decide(1, 100, "stop", "the job was cancelled", 143);
  return {
      {"the program failed, no Slurm here",
       without_slurm,
       Standing::stopped,
       {"Job 41 ended at 2026-01-02T03:01:40Z with exit code 7: the program failed by itself, "
        "first "
        "rank 3 on n2.\n",
        "It was not continued: the program failed by itself.\n",
        "This is told from the run directory alone: no scheduler here.\n",
        "the last lines of rank 3 (/runs/r/attempt-1/rank-3.log):\n  first\n  out of luck\n",
        "next: mend the program\nnext: dtsubmit requeue 41   (begins anew: it has no "
        "checkpoint)\n"}},
      {"cancelled after a save",
       saved,
       Standing::stopped,
       {"somebody cancelled the job",
        "next: dtsubmit requeue 41   (continues from step-000000060)\n"}},
      {"budgets used up, older attempts cut off",
       exhausted,
       Standing::stopped,
       {"It was not continued: of hangs.\n",
        "2 earlier attempts: dtsubmit status 41\nattempt 3 on",
        "budgets used: crash 6 of 3\n",
        "next: dtsubmit logs 41 --ranks all --attempt 6\n"},
       {"attempt 2 on"}},
      {"a full disk",
       Story().begin(1, 10).end(1, 100, "disk_full").decide(1, 100, "stop", "no space"),
       Standing::stopped,
       {"no space or quota was left", "next: make room: df -h /runs/r\n"}},
      {"done",
       Story().begin(1, 10).end(1, 100, "completed", 0).decide(1, 100, "done", "every rank", 0),
       Standing::done,
       {"Job 41 is done: it completed at 2026-01-02T03:01:40Z in 1 attempt.\n"},
       {"next:"}},
      {"a run of this machine",
       Story(0).begin(1, 10).end(1, 100, "user_exit").decide(1, 100, "stop", "x"),
       Standing::stopped,
       {"The run ended at", "next: dtsubmit run --continue /runs/r   ("},
       {"requeue", "job 0"}},
  };
}

std::vector<Situation> lost_situations() {
  Story forgotten = Story().begin(1, 10);
  forgotten.known.forgotten = true;
  Story gone = Story(0).begin(1, 10);
  gone.known.agent_lives = false;
  Story alive = Story(0).begin(1, 10);
  alive.known.agent_lives = true;
  Story log = Story().slurm(JobState::failed, "NonZeroExitCode", 127);
  log.known.batch_words = {"the batch script", "/runs/r/slurm-41.log", {"dtsubmit: not found"}};
  return {
      {"agent killed",
       Story().begin(1, 10).slurm(JobState::failed, "JobLaunchFailure", 0, 9).with([](auto& job) {
         job.end_time = at(940);
       }),
       Standing::lost,
       {"Job 41 is over (failed, JobLaunchFailure) and its agent left no word of the end: its "
        "batch "
        "script, the agent, was killed (signal 9).\n",
        "It ended at 2026-01-02T03:15:40Z, 1 min 0 s ago.\n",
        "Attempt 1 was under way, since 2026-01-02T03:00:10Z.\n",
        "next: dmesg on its first node",
        "next: dtsubmit requeue 41   ("}},
      {"no log folder",
       Story().slurm(JobState::failed, "JobLaunchFailure", 0, 53),
       Standing::lost,
       {"could not open its log file",
        "No attempt ever began.\n",
        "next: see that the run directory"},
       {"less"}},
      {"no dtsubmit there",
       log,
       Standing::lost,
       {"could not start dtsubmit (exit code 127)",
        "the last lines of the batch script (/runs/r/slurm-41.log):\n  dtsubmit: not found\n",
        "next: less /runs/r/slurm-41.log\n"}},
      {"out of memory",
       Story().begin(1, 10).slurm(JobState::out_of_memory, "OutOfMemory"),
       Standing::lost,
       {"it used more memory than it had asked for", "next: submit it with a larger --mem"}},
      {"node failed",
       Story().begin(1, 10).slurm(JobState::node_failed, "NodeDown"),
       Standing::lost,
       {"one of its nodes failed, and it was not requeued", "next: sinfo -R"}},
      {"cancelled in the queue",
       Story().slurm(JobState::cancelled, "None"),
       Standing::lost,
       {"Job 41 was cancelled while it waited in the queue.\n", "No attempt ever began.\n"},
       {"left no word"}},
      {"Slurm forgot it",
       forgotten,
       Standing::lost,
       {"Slurm knows it no more", "next: where there is accounting: sacct -j 41\n"}},
      {"a run of this machine whose agent is gone",
       gone,
       Standing::lost,
       {"The agent of attempt 1 is gone and left no word",
        "next: dtsubmit run --continue /runs/r"}},
      {"a run of this machine that goes on",
       alive,
       Standing::running,
       {"The run runs since 2026-01-02T03:00:10Z"}},
  };
}

std::vector<Situation> unknown_situations() {
  Story under_way = Story().begin(1, 10);
  Story waiting = Story();
  under_way.known.no_job = waiting.known.no_job = "no controller answers";
  return {
      {"under way when last heard of",
       under_way,
       Standing::unknown,
       {"The run directory says: attempt 1 began at 2026-01-02T03:00:10Z on n1,n2 and has not told "
        "of "
        "its end.\n",
        "This is told from the run directory alone: no controller answers.\n",
        "next: where Slurm can be reached: dtsubmit why 41\n"}},
      {"in the queue when last heard of",
       waiting,
       Standing::unknown,
       {"job 41 was submitted at 2026-01-02T03:00:01Z and has not begun since.\n"}},
      {"nothing at all", Story(0), Standing::unknown, {"nothing has begun yet"}},
  };
}

void check(const std::vector<Situation>& situations) {
  for (const Situation& situation : situations) {
    const Why why = explain(situation.story.known);
    const std::string text = to_text(why, situation.story.known);
    CAPTURE(situation.name);
    CAPTURE(text);
    CHECK(why.standing == situation.standing);
    for (const char* words : situation.said) {
      CAPTURE(words);
      CHECK(text.find(words) != std::string::npos);
    }
    for (const char* words : situation.not_said) {
      CAPTURE(words);
      CHECK(text.find(words) == std::string::npos);
    }
    CHECK(std::count(text.begin(), text.end(), '\n') <= 40);  // one screen
  }
}

}  // namespace

TEST_CASE("why a job waits") {
  check(pending_situations());
}

TEST_CASE("since when it runs, how far it is, and what it did before") {
  check(running_situations());
}

TEST_CASE("why it ended, and how it goes on") {
  check(ended_situations());
}

TEST_CASE("what is known where its agent had no time to tell") {
  check(lost_situations());
}

TEST_CASE("what the run directory alone knows of a run that may go on") {
  check(unknown_situations());
}

TEST_CASE("every cause has words of its own") {
  std::set<std::string> words;
  for (const run::Cause cause : run::all_causes()) words.insert(words_of_cause(cause).what);
  CHECK(words.size() == run::all_causes().size());
  CHECK(words.count("") == 0);
}

TEST_CASE("a program's last lines reach the terminal short and without control characters") {
  Story story = Story().begin(1, 10).end(1, 20, "user_exit").decide(1, 20, "stop", "x");
  story.known.last_words[1].lines.assign(50, "line");
  story.known.last_words[1].lines.back() = "\033[31mred" + std::string(1000, 'x');
  const std::string text = to_text(explain(story.known), story.known);
  CHECK(text.find('\033') == std::string::npos);
  CHECK(text.find(" [31mredx") != std::string::npos);
  CHECK(text.find(std::string(200, 'x')) == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') < 30);
}

TEST_CASE("JSON has everything, cut off nowhere") {
  Story story = Story();
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

TEST_CASE("slow ranks are told with their attempt: three of them as text, all as JSON") {
  Story story = Story();
  story.begin(1, 10);
  for (int rank = 0; rank < 5; ++rank)
    story.note({.time = time(60),
                .event = "straggler",
                .attempt = 1,
                .detail = fmt::format("rank {} on n2 is slow: so much", rank),
                .rank = rank,
                .node = "n2",
                .phase = "compute"});
  story.slurm(JobState::running, "None", 1);
  const Why why = explain(story.known);
  const std::string text = to_text(why, story.known);
  CHECK(text.find("  rank 2 on n2 is slow: so much\n") != std::string::npos);
  CHECK(text.find("rank 3 on n2 is slow") == std::string::npos);
  const auto document = nlohmann::json::parse(to_json(why, story.known));
  CHECK(document["attempts"][0]["stragglers"].size() == 5);
  CHECK(document["attempts"][0]["rank"] == -1);
}
