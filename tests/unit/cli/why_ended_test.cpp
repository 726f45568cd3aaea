// SPDX-License-Identifier: Apache-2.0
// A run that has ended, or of which nobody knows whether it has: what `dtsubmit why` says.
#include "tests/unit/cli/run_events.hpp"

namespace dts::cli {
namespace {

std::vector<Situation> ended_situations() {
  RunEvents without_slurm = RunEvents()
                                .begin(1, 10)
                                .end(1, 100, "user_exit", 7)
                                .decide(1, 100, "stop", "the program failed", 7);
  without_slurm.known.no_job = "no scheduler here";
  RunEvents exhausted = RunEvents();
  for (unsigned k = 1; k <= 6; ++k) {
    const int begun = 10 + 100 * static_cast<int>(k);
    exhausted.begin(k, begun)
        .end(k, begun + 50, "hang")
        .decide(k, begun + 50, k < 6 ? "restart" : "stop", "of hangs");
  }
  RunEvents saved = RunEvents().begin(1, 10).end(1, 100, "cancelled", 143);
  saved.known.checkpoint = "step-000000060";
  saved.decide(1, 100, "stop", "the job was cancelled", 143);
  RunEvents asked = RunEvents().begin(1, 10).note(
      {.time = time(900),
       .attempt = 1,
       .what = run::AttemptEnded{.cause = run::Cause::stopped,
                                 .exit_code = 85,
                                 .detail = "asked for by `dtsubmit stop`; every rank saved"}});
  RunEvents taken = RunEvents().begin(1, 10).note(
      {.time = time(100),
       .attempt = 1,
       .what = run::AttemptEnded{.cause = run::Cause::rendezvous,
                                 .exit_code = 1,
                                 .detail = "rank 0 on n1 exited 1: Address already in use"}});
  taken.decide(1, 100, "stop", "3 times launch", 1);
  RunEvents wordy = RunEvents().begin(1, 10).note(
      {.time = time(100),
       .attempt = 1,
       .what = run::AttemptEnded{.cause = run::Cause::launch_failed,
                                 .exit_code = 1,
                                 .detail = std::string(300, 'x') + ": the way out"}});
  wordy.decide(1, 100, "stop", "3 times launch", 1);
  RunEvents step = RunEvents().begin(1, 10).end(1, 100, "set_up_failed");
  step.known.events.back().as<run::AttemptEnded>()->part = "eval";
  step.decide(1, 100, "stop", "step `eval`: the set-up failed", 1);
  asked.decide(1, 901, "stop", "asked for by `dtsubmit stop`; `dtsubmit requeue` continues it", 85);
  return {
      {"stopped by its user",
       asked,
       Standing::stopped,
       {"Job 41 ended at", "with exit code 85: `dtsubmit stop` asked it to save and end"},
       {"neither a preemption nor a cancel"}},
      {"the program failed, no Slurm here",
       without_slurm,
       Standing::stopped,
       {"Job 41 ended at 2026-01-02T03:01:40Z with exit code 7: the program failed, "
        "first "
        "rank 3 on n2.\n",
        "It was not continued: the program failed.\n",
        "This is based on the run directory alone: no scheduler here.\n",
        "the last lines of rank 3 (/runs/r/attempt-1/rank-3.log):\n  first\n  out of luck\n",
        "next: fix the program\nnext: dtsubmit requeue 41   (starts over: its run directory has no "
        "checkpoint)\n"}},
      {"an end with a long explanation", wordy, Standing::stopped, {"x: the way out"}},
      {"a step of several",
       step,
       Standing::stopped,
       {"next: dtsubmit requeue 41   (`eval` starts over: it has no checkpoint)\n"}},
      {"a port that was taken",
       taken,
       Standing::stopped,
       {"next: if the program starts its own processes", "with --per-node", "MASTER_PORT\n"}},
      {"cancelled after a save",
       saved,
       Standing::stopped,
       {"somebody cancelled the job",
        "next: dtsubmit requeue 41   (continues from step-000000060)\n"}},
      {"saved under names of its program's own",
       RunEvents()
           .begin(1, 10)
           .end(1, 100, "user_exit")
           .saves_otherwise()
           .decide(1, 100, "stop", "no"),
       Standing::stopped,
       {"next: dtsubmit requeue 41   (continues from what its program has saved)\n"}},
      {"budgets used up, older attempts cut off",
       exhausted,
       Standing::stopped,
       {"It was not continued: of hangs.\n",
        "2 earlier attempts: dtsubmit status 41\nattempt 3 on",
        "budgets used: crash 6 of 3\n",
        "next: dtsubmit logs 41 --ranks all --attempt 6\n"},
       {"attempt 2 on"}},
      {"a full disk",
       RunEvents().begin(1, 10).end(1, 100, "disk_full").decide(1, 100, "stop", "no space"),
       Standing::stopped,
       {"no disk space or quota was left", "; that of the run directory: df -h /runs/r\n"}},
      {"done",
       RunEvents().begin(1, 10).end(1, 100, "completed", 0).decide(1, 100, "done", "every rank", 0),
       Standing::done,
       {"Job 41 is done: it completed at 2026-01-02T03:01:40Z in 1 attempt.\n"},
       {"next:"}},
      {"a run of this machine",
       RunEvents(JobId()).begin(1, 10).end(1, 100, "user_exit").decide(1, 100, "stop", "x"),
       Standing::stopped,
       {"The run ended at", "next: dtsubmit run --continue /runs/r   ("},
       {"requeue", "job 0"}},
  };
}

std::vector<Situation> lost_situations() {
  RunEvents forgotten = RunEvents().begin(1, 10);
  forgotten.known.forgotten = true;
  RunEvents cancelled;
  cancelled.known.forgotten = true;
  cancelled.known.events.push_back(
      {.job = JobId(41), .what = run::StopRequested{run::Cause::cancelled, ""}});
  RunEvents gone = RunEvents(JobId()).begin(1, 10);
  gone.known.agent_lives = false;
  RunEvents alive = RunEvents(JobId()).begin(1, 10);
  alive.known.agent_lives = true;
  RunEvents log = RunEvents().slurm(JobState::failed, "NonZeroExitCode", 127);
  log.known.batch_words = {"the batch script", "/runs/r/slurm-41.log", {"dtsubmit: not found"}};
  RunEvents bash = RunEvents().slurm(JobState::failed, "NonZeroExitCode", 3);
  bash.known.bash_env = "/home/u/.bash_env";
  return {
      {"BASH_ENV",
       bash,
       Standing::lost,
       {"ended with exit code 3",
        "No attempt ever began. The batch script's bash first read /home/u/.bash_env (BASH_ENV), "
        "and an `exit` there ends the job"}},
      {"agent killed",
       RunEvents()
           .begin(1, 10)
           .slurm(JobState::failed, "JobLaunchFailure", 0, 9)
           .with([](auto& job) { job.end_time = at(940); }),
       Standing::lost,
       {"Job 41 is over (failed, JobLaunchFailure) and its agent recorded no end: its "
        "batch "
        "script, the agent, was killed (signal 9).\n",
        "It ended at 2026-01-02T03:15:40Z, 1 min ago.\n",
        "Attempt 1 was under way, since 2026-01-02T03:00:10Z.\n",
        "next: dmesg on its first node",
        "next: dtsubmit requeue 41   ("}},
      {"no log folder",
       RunEvents().slurm(JobState::failed, "JobLaunchFailure", 0, 53),
       Standing::lost,
       {"could not open its log file",
        "No attempt ever began.\n",
        "next: check that the run directory"},
       {"less"}},
      {"no dtsubmit there",
       log,
       Standing::lost,
       {"could not start dtsubmit on the first node (exit code 127)",
        "the last lines of the batch script (/runs/r/slurm-41.log):\n  dtsubmit: not found\n",
        "next: less /runs/r/slurm-41.log\n"}},
      {"out of memory",
       RunEvents().begin(1, 10).slurm(JobState::out_of_memory, "OutOfMemory"),
       Standing::lost,
       {"it used more memory than it had asked for", "next: submit it with a larger --mem"}},
      {"node failed",
       RunEvents().begin(1, 10).slurm(JobState::node_failed, "NodeDown"),
       Standing::lost,
       {"one of its nodes failed, and it was not requeued", "next: sinfo -R"}},
      {"cancelled in the queue",
       RunEvents().slurm(JobState::cancelled, "None"),
       Standing::cancelled,
       {"Job 41 was cancelled while it waited in the queue.\n", "No attempt ever began.\n"},
       {"recorded no end"}},
      {"Slurm forgot it, the accounting did not",
       RunEvents().slurm(JobState::cancelled, "").with([](auto& job) {
         job.accounted = true;
         job.start_time = at(900);
         job.end_time = at(940);
       }),
       Standing::lost,
       {"Job 41 is over (cancelled) and its agent recorded no end: it was cancelled.\n",
        "Slurm has forgotten it; this is what the accounting says. It ran for 40 s.\n"},
       {"while it waited"}},
      {"cancelled by us in the queue, and forgotten",
       cancelled,
       Standing::cancelled,
       {"Job 41 was cancelled while it waited in the queue.\n", "next: dtsubmit requeue 41"},
       {"no longer knows"}},
      {"Slurm forgot it",
       forgotten,
       Standing::lost,
       {"Slurm no longer knows it", "next: where there is accounting: sacct -j 41\n"}},
      {"a run of this machine whose agent is gone",
       gone,
       Standing::lost,
       {"The agent of attempt 1 is gone and recorded no end",
        "next: dtsubmit run --continue /runs/r"}},
      {"a run of this machine that goes on",
       alive,
       Standing::running,
       {"The run has been running since 2026-01-02T03:00:10Z"}},
  };
}

std::vector<Situation> unknown_situations() {
  RunEvents under_way = RunEvents().begin(1, 10);
  RunEvents waiting = RunEvents();
  under_way.known.no_job = waiting.known.no_job = "no controller answers";
  return {
      {"under way when last heard of",
       under_way,
       Standing::unknown,
       {"The run directory says: attempt 1 began at 2026-01-02T03:00:10Z on n1,n2 and no end is "
        "recorded.\n",
        "This is based on the run directory alone: no controller answers.\n",
        "next: where Slurm can be reached: dtsubmit why 41\n"}},
      {"in the queue when last heard of",
       waiting,
       Standing::unknown,
       {"job 41 was submitted at 2026-01-02T03:00:01Z and has not begun since.\n"}},
      {"nothing at all", RunEvents(JobId()), Standing::unknown, {"nothing has begun yet"}},
  };
}

}  // namespace

TEST_CASE("why a run ended, and how it continues") {
  check(ended_situations());
}

TEST_CASE("a run whose agent was killed before it recorded the end") {
  check(lost_situations());
}

TEST_CASE("a run that may continue, from its run directory alone") {
  check(unknown_situations());
}

}  // namespace dts::cli
