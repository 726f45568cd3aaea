// SPDX-License-Identifier: Apache-2.0
// From running programs to the outcome: exits, crashes, stops, and missing answers.
#include "tests/unit/launch/job_story.hpp"

#include <doctest/doctest.h>

#include <csignal>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using run::Cause;

void check_outcome(const JobStory& job, Cause cause, int exit_code, const std::string& words) {
  REQUIRE(job.over());
  CHECK(std::string(run::to_string(job.outcome().cause)) == run::to_string(cause));
  CHECK(job.outcome().exit_code == exit_code);
  CAPTURE(job.outcome().detail);
  CHECK(job.says_why(words));
}

JobStory a_running_job() {
  JobStory job;
  job.running();
  return job;
}

}  // namespace

TEST_CASE("a rank that exits 1 ends the others at once and is the cause") {
  JobStory job = a_running_job();
  job.exits(2, 1).settle();
  CHECK(job.told<Kill>(2).empty());
  for (const unsigned rank : {0U, 1U, 3U}) CHECK(job.told<Kill>(rank).size() == 1);
  CHECK_FALSE(job.over());
  job.killed_ranks_exit();
  check_outcome(job, Cause::user_exit, 1, "rank 2 on n1 exited 1");
  CHECK(job.count<Bye>() == 4);
}

TEST_CASE("a program that goes into the background is named, once") {
  JobStory job = a_running_job();
  job.says(job.peer_of(1), Exited{0, false, false, "python3 train.py"});
  job.says(job.peer_of(2), Exited{0, false, false, "python3 train.py"});
  std::vector<std::string> warnings;
  for (const run::Event& event : job.attempt().take_events())
    if (const auto* warning = event.as<run::Warning>()) warnings.push_back(warning->detail);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings.front().starts_with("rank 1 on n0 exited 0 and left `python3 train.py` running"));
  job.all_exit(0);
  check_outcome(job, Cause::completed, 0, "every rank exited 0");
}

TEST_CASE("a rank that fails after others had exited 0 says so: it may have lost them") {
  JobStory one = a_running_job();
  one.exits(0, 0).exits(2, 1).settle().killed_ranks_exit();
  check_outcome(one, Cause::user_exit, 1, "rank 2 on n1 exited 1, after rank 0 on n0 had exited 0");
  JobStory two = a_running_job();
  two.exits(0, 0).exits(3, 0).exits(2, 1).settle().killed_ranks_exit();
  check_outcome(two, Cause::user_exit, 1, "1, after rank 0 on n0 and 1 more had exited 0");
}

TEST_CASE("of several failures, the first is the cause") {
  JobStory job = a_running_job();
  job.exits(1, 3).exits(0, 1).exits(2, 134).settle().killed_ranks_exit();
  check_outcome(job, Cause::user_exit, 3, "rank 1 on n0 exited 3");
}

TEST_CASE("a rank killed by a signal is a crash, with the signal's name") {
  JobStory job = a_running_job();
  job.exits(3, 128 + SIGSEGV).killed_ranks_exit();
  check_outcome(job, Cause::rank_killed, 139, "rank 3 on n1 was killed by SIGSEGV");
}

TEST_CASE(
    "exit codes above 128 that belong to no signal are the program's own: exit(-1), git's 128") {
  for (const int code : {128, 193, 255}) {
    JobStory job = a_running_job();
    job.exits(3, code).settle().killed_ranks_exit();
    check_outcome(job, Cause::user_exit, code, "rank 3 on n1 exited " + std::to_string(code));
  }
}

TEST_CASE("a rank whose connection breaks has vanished") {
  JobStory job = a_running_job();
  job.lost(1);
  CHECK(job.count<Kill>() == 3);
  job.killed_ranks_exit();
  check_outcome(job, Cause::rank_killed, 137, "rank 1 on n0: its process vanished");
  CHECK(job.told<Bye>(1).empty());
}

TEST_CASE("a connection that closes after the exit was reported is no loss") {
  JobStory job = a_running_job();
  job.exits(0, 0).lost(0).exits(1, 0).exits(2, 0).exits(3, 0);
  CHECK(job.outcome().cause == Cause::completed);
}

TEST_CASE("ranks that exit 0 one after another are waited for without a limit") {
  JobStory job = a_running_job();
  job.exits(0, 0);
  for (int minute = 0; minute < 70; ++minute) {
    for (const unsigned rank : {1U, 2U, 3U}) job.says(job.peer_of(rank), Progress{});
    job.wait(60s);
  }
  CHECK_FALSE(job.over());
  job.exits(1, 0).exits(2, 0).exits(3, 0);
  CHECK(job.outcome().cause == Cause::completed);
}

TEST_CASE("a launcher that dies while ranks run ends the attempt as a crash") {
  JobStory job = a_running_job();
  job.launcher_exits(137);
  CHECK(job.count<Kill>() == 4);
  job.killed_ranks_exit();
  check_outcome(
      job, Cause::launcher_died, 137, "the launcher was killed by SIGKILL before its ranks");
}

TEST_CASE(
    "a launcher's exit code proves nothing: 0 while ranks run is a crash, 1 after success is not") {
  JobStory early = a_running_job();
  early.launcher_exits(0).killed_ranks_exit();
  check_outcome(early, Cause::launcher_died, 1, "exited 0 before its ranks");
  JobStory late = a_running_job();
  late.all_exit(0).launcher_exits(1);
  CHECK(late.outcome().cause == Cause::completed);
}

TEST_CASE("killed ranks that never answer are given up after a few seconds") {
  JobStory job = a_running_job();
  job.exits(0, 1).wait(4s);
  CHECK_FALSE(job.over());
  job.wait(2s);
  check_outcome(job, Cause::user_exit, 1, "rank 0 on n0 exited 1");
}

TEST_CASE("a stop asks every rank once; all exit 85; the outcome has the stop's cause") {
  JobStory job = a_running_job();
  job.stop(Cause::preempted, 20s);
  CHECK(job.attempt().stopping());
  CHECK(job.count<Stop>() == 4);
  CHECK(job.told<Stop>(3)[0].signal == SIGTERM);
  CHECK(job.count<Kill>() == 0);
  job.wait(5s).all_exit(85);
  check_outcome(job, Cause::preempted, 85, "every rank saved");
  CHECK(job.count<Kill>() == 0);
}

TEST_CASE("a second stop sends no second signal and keeps the first cause") {
  JobStory job = a_running_job();
  job.stop(Cause::time_limit, 100s).stop(Cause::preempted, 50s).stop(Cause::stopped, 60s);
  CHECK(job.count<Stop>() == 4);
  job.all_exit(85);
  CHECK(job.outcome().cause == Cause::time_limit);
}

TEST_CASE("a later stop can bring the kill forward but not delay it") {
  JobStory job = a_running_job();
  job.stop(Cause::time_limit, 100s)
      .stop(Cause::preempted, 10s)
      .stop(Cause::preempted, 1000s)
      .wait(9s);
  CHECK(job.count<Kill>() == 0);
  job.wait(1s);
  CHECK(job.count<Kill>() == 4);
}

TEST_CASE("a rank that does not stop in time is killed, and the outcome says that not all saved") {
  JobStory job = a_running_job();
  job.stop(Cause::preempted, 20s).exits(0, 85).exits(1, 85).exits(2, 85).wait(19s);
  CHECK(job.count<Kill>() == 0);
  job.wait(1s);
  CHECK(job.count<Kill>() == 1);
  CHECK(job.told<Kill>(3).size() == 1);
  job.killed_ranks_exit();
  check_outcome(job,
                Cause::preempted,
                85,
                "not every rank saved: rank 3 on n1 had not ended when its time was up");
}

TEST_CASE("the rank that did not save is named with the reason; the others are counted") {
  struct Row {
    const char* what;
    std::vector<int> codes;
    const char* words;
  };

  for (const Row& row :
       {Row{"no handler",
            {85, 143, 85, 85},
            "saved: rank 1 on n0 was killed by SIGTERM, which its program does not handle"},
        {"failed", {85, 85, 1, 85}, "saved: rank 2 on n1 exited 1"},
        {"three of four", {1, 143, 85, 2}, "saved: rank 0 on n0 exited 1; and 2 more ranks"},
        {"two", {0, 143, 85, 2}, "which its program does not handle; and 1 more rank"}}) {
    CAPTURE(row.what);
    JobStory job = a_running_job();
    job.stop(Cause::preempted, 20s);
    for (unsigned rank = 0; rank < 4; ++rank) job.exits(rank, row.codes[rank]);
    check_outcome(job, Cause::preempted, 85, row.words);
    CHECK(job.outcome().unsaved);
  }
}

TEST_CASE("a program that fails while saving does not hide why it was stopped") {
  JobStory job = a_running_job();
  job.stop(Cause::preempted, 20s).exits(0, 1).exits(1, 85).exits(2, 85).exits(3, 85);
  check_outcome(job, Cause::preempted, 85, "not every rank saved");
}

TEST_CASE("ranks that wait for one that failed while saving are not waited for forever") {
  JobStory job = a_running_job();
  job.stop(Cause::stopped, 1'000'000s).exits(0, 1).wait(59s);
  CHECK(job.count<Kill>() == 0);
  job.wait(1s);
  CHECK(job.count<Kill>() == 3);
}

TEST_CASE("a program with one rank already finished at the stop is complete") {
  JobStory job = a_running_job();
  job.exits(2, 0).stop(Cause::preempted, 20s).all_exit(0);
  check_outcome(job, Cause::completed, 0, "rank 2 on n1 before it was asked to stop");
}

TEST_CASE("a program that exits 0 after a stop and reports that it is done is complete") {
  JobStory job = a_running_job();
  job.stop(Cause::preempted, 20s).says(job.peer_of(1), Exited{0, false, true}).all_exit(0);
  check_outcome(job, Cause::completed, 0, "rank 1 on n0 reported that it was done");
}

TEST_CASE("exit code 0 of all ranks after a stop does not prove completion") {
  for (const Cause cause :
       {Cause::preempted, Cause::signalled, Cause::time_limit, Cause::stopped}) {
    JobStory job = a_running_job();
    job.stop(cause, 20s).all_exit(0);
    check_outcome(job, cause, 85, "; every rank exited 0");
    CHECK(job.outcome().may_be_done);
    CHECK_FALSE(job.outcome().unsaved);
  }
  JobStory job = a_running_job();
  job.all_exit(0);
  CHECK_FALSE(job.outcome().may_be_done);
}

TEST_CASE("ranks that only the stop ended may have been done") {
  struct Row {
    const char* what;
    bool torchrun;
    std::array<int, 4> codes;
    bool may_be_done;
  };

  for (const Row& row : {Row{"killed by its signal", false, {143, 0, 143, 0}, true},
                         {"torchrun exits 1 whatever its workers did", true, {1, 1, 1, 143}, true},
                         {"another program does not", false, {1, 0, 0, 0}, false},
                         {"85 asks to be run again", false, {85, 143, 0, 0}, false},
                         {"killed by another signal", true, {1, 137, 1, 1}, false}}) {
    CAPTURE(row.what);
    JobStory job(2, 2);
    if (row.torchrun) job.torchrun();
    job.running();
    job.stop(Cause::preempted, 20s);
    for (unsigned rank = 0; rank < 4; ++rank) job.exits(rank, row.codes[rank]);
    check_outcome(job, Cause::preempted, 85, "not every rank saved");
    CHECK(job.outcome().unsaved);
    CHECK(job.outcome().may_be_done == row.may_be_done);
  }
}

TEST_CASE("the stacks of an overdue rank are requested once, shortly before it is killed") {
  const auto words_for = [](const std::string& state, unsigned idle, bool written = true) {
    JobStory job = a_running_job();
    job.stop(Cause::preempted, 20s).exits(1, 85).exits(2, 85).exits(3, 85).wait(16s);
    CHECK(job.count<Stacks>() == 0);
    job.wait(1s).wait(1s);
    CHECK(job.count<Stacks>() == 1);
    CHECK(job.told<Stacks>(0).at(0).saving);
    Progress seen;
    seen.state = state;
    seen.idle_seconds = idle;
    job.says(job.peer_of(0), seen)
        .says(job.peer_of(0), Dumped{written})
        .wait(3s)
        .killed_ranks_exit();
    return job.outcome().detail;
  };
  const std::string file = "; its stacks are in /runs/a/attempt-1/stacks-rank-0.txt";
  const std::string overdue = "rank 0 on n0 had not ended when its time was up, and ";
  CHECK(words_for("S", 9).ends_with(overdue + "had used no processor time for 9 s" + file));
  CHECK(words_for("R", 0).ends_with(overdue + "was still using the processor" + file));
  CHECK(words_for("T", 9).ends_with(overdue + "was stopped by a signal" + file));
  CHECK(words_for("T", 9, false).ends_with(overdue + "was stopped by a signal"));
  JobStory in_time = a_running_job();
  in_time.stop(Cause::preempted, 20s).all_exit(85).wait(20s);
  CHECK(in_time.count<Stacks>() == 0);
}

TEST_CASE("a rank killed at the deadline may have been done") {
  JobStory job(2, 2);
  job.torchrun();
  job.running();
  job.stop(Cause::preempted, 20s).exits(1, 1).exits(2, 1).exits(3, 1).wait(20s).killed_ranks_exit();
  check_outcome(job, Cause::preempted, 85, "rank 0 on n0 had not ended when its time was up");
  CHECK(job.outcome().may_be_done);
}

TEST_CASE("a program that reports that it is done and then dies from the stop is complete") {
  JobStory job = a_running_job();
  job.stop(Cause::preempted, 20s).says(job.peer_of(1), Exited{143, false, true});
  job.exits(0, 143).exits(2, 0).exits(3, 143);
  check_outcome(job, Cause::completed, 0, "the stop ended a program that was done, as rank 1");
  CHECK_FALSE(job.outcome().unsaved);
}

TEST_CASE("some finished, some saved: a stop with everything saved") {
  JobStory job = a_running_job();
  job.stop(Cause::preempted, 20s).exits(0, 0).exits(1, 85).exits(2, 0).exits(3, 85);
  check_outcome(job, Cause::preempted, 85, "every rank saved");
}

TEST_CASE("losing a rank during a stop does not make it a crash") {
  JobStory job = a_running_job();
  job.stop(Cause::preempted, 20s).lost(2).killed_ranks_exit();
  check_outcome(
      job, Cause::preempted, 85, "not every rank saved: rank 2 on n1: its process vanished");
}

TEST_CASE("85 without a stop: the program asks to be run again") {
  JobStory job = a_running_job();
  job.all_exit(85);
  check_outcome(job, Cause::checkpointed, 85, "every rank saved and asked to be run again");
}

TEST_CASE("after one rank's 85 without a stop, the others have a minute; stragglers are named") {
  JobStory job = a_running_job();
  job.exits(1, 85).wait(59s);
  CHECK(job.count<Kill>() == 0);
  job.wait(1s);
  CHECK(job.count<Kill>() == 3);
  job.killed_ranks_exit();
  check_outcome(job,
                Cause::rank_killed,
                137,
                "rank 1 on n0 saved and exited 85, but others were still running 60 s later");
}

TEST_CASE("93 means `do not restart`, also during a stop") {
  for (const bool stopping : {false, true}) {
    CAPTURE(stopping);
    JobStory job = a_running_job();
    if (stopping) job.stop(Cause::preempted, 20s);
    job.exits(2, 93).killed_ranks_exit();
    check_outcome(job, Cause::no_restart, 93, "rank 2 on n1 exited 93");
  }
}

TEST_CASE("a stop before any program runs ends at once") {
  JobStory gathering;
  gathering.hello(0).hello(1).stop(Cause::cancelled, 30s);
  CHECK(gathering.count<Kill>() == 2);
  CHECK(gathering.count<Stop>() == 0);
  gathering.killed_ranks_exit();
  check_outcome(gathering, Cause::cancelled, 85, "not every rank saved");
  JobStory nobody;
  nobody.stop(Cause::cancelled, 30s);
  check_outcome(nobody, Cause::cancelled, 85, "not every rank saved");
}

TEST_CASE("a stop while programs start reaches those running and those about to start") {
  JobStory job;
  job.all_hello().listening(20001).all_reached().started(0).stop(Cause::preempted, 20s);
  CHECK(job.count<Stop>() == 4);
  job.started(1).started(2).started(3).all_exit(85);
  check_outcome(job, Cause::preempted, 85, "every rank saved");
}

TEST_CASE("the stop signal is the requested one") {
  AttemptSettings settings;
  settings.token = "t";
  settings.spec.stop_signal = SIGUSR2;
  settings.spec.preflight = 0s;
  const Time now = Time::clock::now();
  Attempt attempt(settings, now);
  Hello hello = JobStory(1, 1).hello_of(0);
  hello.token = "t";
  topo::NodeTopology node;
  node.cores.push_back({0, 0, 0, {0}});
  attempt.on_message(1, hello, "", now);
  attempt.on_message(1, Topology{topo::to_json(node)}, "", now);
  attempt.on_message(1, Listening{20001}, "", now);
  attempt.on_message(1, Started{2}, "", now);
  (void)attempt.take_messages();
  attempt.on_stop(Cause::preempted, now + 20s, "", now);
  const auto messages = attempt.take_messages();
  REQUIRE(messages.size() == 1);
  CHECK(std::get<Stop>(messages[0].second).signal == SIGUSR2);
}

TEST_CASE("an outside signal that a rank process received is news, once") {
  JobStory job = a_running_job();
  job.says(JobStory::peer_of(2), Signalled{SIGTERM}).says(JobStory::peer_of(3), Signalled{SIGTERM});
  const auto news = job.attempt().take_signalled();
  REQUIRE(news);
  CHECK(*news == std::pair<unsigned, int>{2, SIGTERM});
  CHECK_FALSE(job.attempt().take_signalled());
  CHECK_FALSE(job.over());
}

TEST_CASE("of simultaneous failures, a killed program is the cause, not its peers' errors") {
  struct Row {
    int first, second;
    Cause cause;
    const char* words;
  };

  const Row table[] = {
      {1, 137, Cause::rank_killed, "rank 2 on n1 was killed by SIGKILL"},
      {15, 139, Cause::rank_killed, "rank 2 on n1 was killed by SIGSEGV"},
      {1, 134, Cause::user_exit, "rank 1 on n0 exited 1"},  // NCCL's watchdog aborts the victims
      {134, 137, Cause::rank_killed, "rank 2 on n1 was killed by SIGKILL"},
      {1, 1, Cause::user_exit, "rank 1 on n0 exited 1"},
      {137, 139, Cause::rank_killed, "rank 1 on n0 was killed by SIGKILL"},
      {1, 93, Cause::user_exit, "rank 1 on n0 exited 1"},
  };
  for (const Row& row : table) {
    CAPTURE(row.first);
    CAPTURE(row.second);
    JobStory job = a_running_job();
    job.exits(1, row.first).exits(2, row.second).settle().killed_ranks_exit();
    check_ended(job, row.cause, row.words);
  }
  JobStory vanished = a_running_job();
  vanished.exits(1, 1).lost(2).killed_ranks_exit();
  check_ended(vanished, Cause::rank_killed, "rank 2 on n1: its process vanished");
  JobStory late = a_running_job();
  late.exits(1, 1).settle().exits(2, 139).killed_ranks_exit();
  check_ended(late, Cause::user_exit, "rank 1 on n0 exited 1");
  JobStory stopped = a_running_job();
  stopped.exits(1, 1).stop(Cause::preempted, 20s).settle().killed_ranks_exit();
  check_ended(stopped, Cause::user_exit, "rank 1 on n0 exited 1");
}

TEST_CASE("events after the end change nothing") {
  JobStory job = a_running_job();
  job.exits(1, 3).settle().killed_ranks_exit();
  const run::Outcome outcome = job.outcome();
  const std::size_t byes = job.count<Bye>(), kills = job.count<Kill>();
  job.exits(0, 0)
      .lost(1)
      .lost(0)
      .launcher_exits(1)
      .stop(Cause::preempted, 1s)
      .wait(100s)
      .says(JobStory::peer_of(2), Failed{"late"});
  job.says(9, job.hello_of(0)).started(2).listening(1);
  CHECK(job.refused(9));
  CHECK(job.outcome().cause == outcome.cause);
  CHECK(job.outcome().exit_code == outcome.exit_code);
  CHECK(job.outcome().detail == outcome.detail);
  CHECK(job.count<Bye>() == byes);
  CHECK(job.count<Kill>() == kills);
}

TEST_CASE("a rank that reports its exit twice is counted once") {
  JobStory job = a_running_job();
  job.exits(0, 0).exits(0, 1);
  CHECK_FALSE(job.over());
  CHECK(job.count<Kill>() == 0);
}
