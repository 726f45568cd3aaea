// SPDX-License-Identifier: Apache-2.0
// From the first hello to running programs: who is admitted, what ranks receive, what goes wrong.
#include "tests/unit/launch/job_story.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <set>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using run::Cause;

constexpr Attempt::Peer k_stranger = 7;

}  // namespace

TEST_CASE("a node without the job's working folder is named once, before programs start") {
  JobStory job;
  for (unsigned rank = 0; rank < 4; ++rank) {
    Hello hello = job.hello_of(rank);
    if (rank >= 2) hello.folder_trouble = "the working folder /w cannot be entered: No such file";
    job.hello(rank, std::move(hello));
  }
  const auto events = job.attempt().take_events();
  REQUIRE(events.size() == 1);
  CHECK(run::detail_of(events[0]) == "n1: the working folder /w cannot be entered: No such file");
}

TEST_CASE("two nodes of two ranks: hello, port, probe, go, all exit 0, bye") {
  JobStory job;
  job.all_hello();
  REQUIRE(job.told<Listen>(0).size() == 1);
  CHECK(job.told<Listen>(0)[0].ports == std::vector<unsigned>{20001, 20002, 20003});
  CHECK(job.count<Listen>() == 1);
  job.listening(20002);
  CHECK(job.count<Probe>() == 1);  // one rank of the other node
  REQUIRE(job.told<Probe>(2).size() == 1);
  CHECK(job.told<Probe>(2)[0].port == 20002);
  CHECK(job.told<Probe>(2)[0].nonce == job.told<Listen>(0)[0].nonce);
  CHECK(job.count<Go>() == 0);
  job.all_reached();
  CHECK(job.count<Go>() == 4);
  CHECK_FALSE(job.attempt().take_started());
  job.all_started();
  CHECK(job.attempt().take_started());
  CHECK_FALSE(job.attempt().take_started());
  job.all_exit(0);
  CHECK(job.outcome().cause == Cause::completed);
  CHECK(job.outcome().exit_code == 0);
  CHECK(job.count<Bye>() == 4);
  CHECK(job.count<Kill>() == 0);
}

TEST_CASE("every rank receives its own place and the common meeting place") {
  JobStory job;
  job.running();
  std::set<std::string> cores;
  for (unsigned rank = 0; rank < 4; ++rank) {
    CAPTURE(rank);
    auto environment = job.environment_of_rank(rank);
    CHECK(environment["RANK"] == std::to_string(rank));
    CHECK(environment["WORLD_SIZE"] == "4");
    CHECK(environment["LOCAL_RANK"] == std::to_string(rank % 2));
    CHECK(environment["LOCAL_WORLD_SIZE"] == "2");
    CHECK(environment["NODE_RANK"] == std::to_string(rank / 2));
    CHECK(environment["MASTER_ADDR"] == "10.0.0.0");
    CHECK(environment["MASTER_PORT"] == "20001");
    CHECK(environment["DTSUBMIT_ATTEMPT"] == "1");
    REQUIRE(job.told<Go>(rank).size() == 1);
    const Go go = job.told<Go>(rank)[0];
    CHECK(go.log == "/runs/a/attempt-1/rank-" + std::to_string(rank) + ".log");
    CHECK(go.binding.cpus.size() == 2);
    for (const unsigned cpu : go.binding.cpus)
      cores.insert(job.node_of(rank) + "/" + std::to_string(cpu));
  }
  CHECK(cores.size() == 8);  // no core twice
}

TEST_CASE("a launcher of a node's processes gets its place on the command line") {
  JobStory job(2, 1);
  job.program({"env", "composer", "t.py"}).all_hello().listening(20001).all_reached();
  CHECK(job.told<Go>(1).at(0).command == std::vector<std::string>{"env",
                                                                  "composer",
                                                                  "--nproc=8",
                                                                  "--world_size=16",
                                                                  "--node_rank=1",
                                                                  "--master_addr=10.0.0.0",
                                                                  "--master_port=20001",
                                                                  "t.py"});
  JobStory other(2, 1);
  other.program({"torchrun", "t.py"}).all_hello().listening(20001).all_reached();
  CHECK(other.told<Go>(1).at(0).command.empty());
}

TEST_CASE("only on request does a rank find out how OpenMP's threads are bound") {
  for (const auto& row : {std::pair{"none", 0U}, {"gnu", 0U}, {"intel", 0U}, {"auto", 2U}}) {
    const auto& [runtime, cpus] = row;
    CAPTURE(std::string(row.first));
    JobStory job;
    job.bind_threads(runtime).all_hello().listening(20001).all_reached();
    const Go go = job.told<Go>(3).at(0);
    CHECK(go.thread_cpus.size() == cpus);
    if (cpus > 0) CHECK(go.thread_cpus == go.binding.cpus);
  }
}

TEST_CASE("nothing is sent before every rank has said hello, in any order") {
  JobStory job;
  for (const unsigned rank : {3U, 0U, 2U}) job.hello(rank);
  CHECK(job.count<Listen>() == 0);
  CHECK_FALSE(job.over());
  job.hello(1);
  CHECK(job.count<Listen>() == 1);
}

TEST_CASE("a connection with a wrong token is refused and changes nothing") {
  JobStory job;
  Hello impostor = job.hello_of(1);
  impostor.token = "guess";
  job.says(k_stranger, impostor);
  CHECK(job.refused(k_stranger));
  job.running();
  CHECK_FALSE(job.over());
  Hello late = job.hello_of(2);
  late.token = "";
  job.says(k_stranger + 1, late).lost_peer(k_stranger + 1);
  CHECK(job.refused(k_stranger + 1));
  job.all_exit(0);
  CHECK(job.outcome().cause == Cause::completed);
}

TEST_CASE("a connection that sends anything before its hello is refused and changes nothing") {
  for (const FromRank& message : std::vector<FromRank>{Exited{1},
                                                       Started{1},
                                                       Bound{"{}"},
                                                       Listening{1},
                                                       Failed{"x"},
                                                       Signalled{15},
                                                       Reached{}}) {
    JobStory job;
    job.says(k_stranger, message);
    CHECK(job.refused(k_stranger));
    job.running().says(k_stranger, message);
    CHECK_FALSE(job.over());
    CHECK_FALSE(job.attempt().take_signalled());
  }
}

TEST_CASE("a stranger that gets the number of a closed connection is not taken for that rank") {
  JobStory job;
  job.running().exits(3, 0).lost(3);  // its process has left; the others still run
  job.says(JobStory::peer_of(3), Failed{"forged"});
  CHECK(job.refused(JobStory::peer_of(3)));
  CHECK_FALSE(job.over());
  job.stop(Cause::preempted, 60s);
  CHECK(job.told<Stop>(3).empty());
}

TEST_CASE("two processes of one rank are refused, and both places are named") {
  JobStory job;
  job.hello(0).hello(1);
  Hello twin = job.hello_of(1);
  twin.rank.node = "n1";
  job.says(k_stranger, twin);
  CHECK(job.refused(k_stranger));
  CHECK(job.told<Kill>(0).size() == 1);
  CHECK(job.told<Kill>(1).size() == 1);
  job.killed_ranks_exit();
  check_ended(job, Cause::wrong_ranks, "rank 1 on n1");
  CHECK(job.says_why("held by rank 1 on n0"));
}

TEST_CASE(
    "four worlds of one (an MPI without its launcher's variables) are refused at first hello") {
  JobStory job;
  Hello alone = job.hello_of(0);
  alone.rank.world_size = 1;
  job.says(k_stranger, alone);
  check_ended(job, Cause::wrong_ranks, "thinks the world has 1 rank, planned are 4");
}

TEST_CASE("a rank beyond the world is refused") {
  JobStory job;
  Hello beyond = job.hello_of(0);
  beyond.rank.rank = 4;
  job.says(k_stranger, beyond);
  check_ended(job, Cause::wrong_ranks, "rank 4");
}

TEST_CASE("three ranks on one node and one on the other are refused") {
  JobStory job;
  job.hello(0).hello(1);
  Hello packed = job.hello_of(2);
  packed.rank.node = "n0";
  packed.rank.local_rank = 2;
  Hello alone = job.hello_of(3);
  alone.rank.local_rank = 0;
  job.hello(2, packed).hello(3, alone).killed_ranks_exit();
  check_ended(job, Cause::wrong_ranks, "n0");
  CHECK(job.count<Listen>() == 0);
}

TEST_CASE("two ranks on a node that was given one GPU are refused") {
  JobStory job(1, 2, 2);
  for (unsigned rank = 0; rank < 2; ++rank) {
    Hello hello = job.hello_of(rank);
    hello.rank.gpu_ids = {"0"};
    job.hello(rank, hello);
  }
  job.killed_ranks_exit();
  check_ended(job, Cause::wrong_ranks, "2 ranks for 1 GPU");
}

TEST_CASE("ranks of one node get distinct GPUs") {
  JobStory job(1, 2, 2);
  for (unsigned rank = 0; rank < 2; ++rank) {
    Hello hello = job.hello_of(rank);
    hello.rank.gpu_ids = {"4", "6"};
    job.hello(rank, hello);
  }
  job.listening(20001).all_reached();
  CHECK(job.environment_of_rank(0)["CUDA_VISIBLE_DEVICES"] == "4");
  CHECK(job.environment_of_rank(1)["CUDA_VISIBLE_DEVICES"] == "6");
}

TEST_CASE("an unreadable topology is reported with the rank's name") {
  JobStory job(1, 1);
  Hello hello = job.hello_of(0);
  job.says(JobStory::peer_of(0), hello)
      .says(JobStory::peer_of(0), Topology{"{\"cores\":7}"})
      .killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "rank 0 on n0");
}

TEST_CASE("a node that is silent for too long is named by its ranks") {
  JobStory job;
  job.hello(0).hello(1).wait(119s);
  CHECK_FALSE(job.over());
  job.wait(1s);
  CHECK(job.count<Kill>() == 2);
  job.killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "ranks 2,3 did not say hello within 120 s");
}

TEST_CASE("ranks of a node that has been heard are waited for as long as that node has shown") {
  struct {
    std::chrono::seconds last_hello, patience;
  } const table[] = {{0s, 3s}, {1s, 3s}, {5s, 10s}, {30s, 60s}};

  for (const auto& row : table) {
    CAPTURE(row.last_hello.count());
    JobStory job;
    job.wait(row.last_hello).hello(0).hello(1).hello(2).wait(row.patience - 1s);
    CHECK_FALSE(job.over());
    job.wait(1s).killed_ranks_exit();
    check_ended(job, Cause::launch_failed, "ranks 3 did not say hello, but others on n1 did");
  }
}

TEST_CASE("ranks that arrive one after another are not considered missing") {
  JobStory job(1, 4);
  for (unsigned rank = 0; rank < 4; ++rank) job.hello(rank).wait(2s);
  CHECK_FALSE(job.over());
  CHECK(job.count<Listen>() == 1);
}

TEST_CASE("a program that cannot be started ends the attempt with the reason") {
  JobStory job;
  job.all_hello().listening(20001).all_reached();
  job.says(JobStory::peer_of(1), Failed{"cannot bind"}).killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "rank 1 on n0: cannot bind");
}

namespace {

// On 2 nodes with 2 ranks each: which ranks cannot start their program, and which have.
JobStory told_to_go(const std::vector<unsigned>& without, const std::vector<unsigned>& with) {
  JobStory job;
  job.all_hello().listening(20001).all_reached();
  for (const unsigned rank : with) job.started(rank);
  for (const unsigned rank : without)
    job.says(JobStory::peer_of(rank), Failed{"no program `pyhton3`", 127});
  return job;
}

}  // namespace

TEST_CASE("a program missing on all nodes is the user's error, with the shell's exit code") {
  JobStory job = told_to_go({3, 1, 0, 2}, {});
  job.killed_ranks_exit();
  check_ended(job, Cause::no_program, "rank 0 on n0: no program `pyhton3`");
  CHECK(job.outcome().exit_code == 127);
  CHECK(job.outcome().rank == 0U);
}

TEST_CASE("whichever rank reports it first, the others are heard before a node is named") {
  JobStory job = told_to_go({2, 3}, {0});
  CHECK(job.count<Kill>() == 0);
  job.started(1).killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "n1: no program `pyhton3`; the program has started on");
  CHECK(job.outcome().node == "n1");
  REQUIRE(job.outcome().unfit.size() == 1);
  CHECK(job.outcome().unfit[0].node == "n1");
}

TEST_CASE("a silent rank is not waited for; ranks of one node that differ blame no node") {
  JobStory silent = told_to_go({2}, {0});
  silent.wait(6s).killed_ranks_exit();
  check_ended(silent, Cause::launch_failed, "n1: no program `pyhton3`");
  JobStory mixed = told_to_go({2}, {0, 1, 3});
  mixed.killed_ranks_exit();
  check_ended(mixed, Cause::no_program, "rank 2 on n1: no program `pyhton3`");
}

TEST_CASE("a launcher that ends its ranks before any program runs is a failed launch, not a stop") {
  JobStory job;
  job.hello(0).hello(1);
  job.attempt().on_step_signal(Cause::stopped, "signal 15 at rank 0", job.now());
  job.sees({{"n1", Reach::answers}}).killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "were ended (signal 15 at rank 0) before any program ran");
  CHECK_FALSE(job.outcome().unsaved);

  JobStory met;  // all have arrived, and meet
  met.all_hello();
  met.attempt().on_step_signal(Cause::stopped, "signal 15 at rank 0", met.now());
  met.wait(1s).killed_ranks_exit();
  check_ended(met, Cause::launch_failed, "before any program ran");

  JobStory running;
  running.running();
  running.attempt().on_step_signal(Cause::stopped, "signal 15 at rank 0", running.now());
  running.wait(1s).all_exit(85);
  check_ended(running, Cause::stopped, "every rank saved");
  CHECK(running.count<Stop>() == 4);
}

TEST_CASE("a rank that never starts its program after the go is waited for, but not forever") {
  JobStory job;
  job.all_hello().listening(20001).all_reached().started(0).wait(121s).killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "not every rank started its program in time");
}

TEST_CASE("a launcher that ends before all ranks came is a launch failure that names the missing") {
  JobStory job;
  job.hello(1).launcher_exits(213).sees({}).killed_ranks_exit();
  check_ended(
      job, Cause::launch_failed, "the launcher ended with code 213 before ranks 0,2,3 said hello");
  CHECK(job.outcome().exit_code == 213);
  JobStory nobody;
  nobody.launcher_exits(0).sees({});
  REQUIRE(nobody.over());
  CHECK(nobody.outcome().exit_code == 1);
}

TEST_CASE("a rank that refuses its variables reports it before the launcher's end is misread") {
  JobStory job;
  job.hello(1).says(7, Refused{"secret", "n1", "PMIX_RANK=7 but OMPI_COMM_WORLD_RANK=1"});
  CHECK(job.refused(7));
  job.lost(1).launcher_exits(3);
  check_ended(job, Cause::wrong_ranks, "a rank on n1: PMIX_RANK=7 but");
  CHECK(job.outcome().exit_code == 3);
}

TEST_CASE("a rank whose node cannot run it names the node, before the launcher ends the others") {
  JobStory job;
  job.hello(1).says(7, Refused{"secret", "n1", "no program `dtsubmit-topology`", true});
  job.lost(1).launcher_exits(6);
  check_ended(job, Cause::launch_failed, "a rank on n1: no program");
  CHECK(job.outcome().node == "n1");
}

TEST_CASE("our own launcher's report of an unreachable node names the node in the outcome") {
  struct Case {
    bool running;
    const char* token;
    std::optional<run::Cause> cause;
  };

  for (const Case& c : {Case{false, "secret", run::Cause::launch_failed},
                        Case{true, "secret", run::Cause::launcher_died},
                        Case{false, "guess", std::nullopt},
                        Case{true, "guess", std::nullopt}}) {
    JobStory job;
    if (c.running)
      job.running();
    else
      job.hello(0);
    job.says(7, NotLaunched{c.token, "n1: ssh: connect to host n1: No route to host"});
    job.lost(0);
    if (c.running)
      job.lost(1).lost(2).lost(3);
    else
      job.sees({});
    CHECK(job.outcome().cause == c.cause.value_or(run::Cause::rank_killed));
    CHECK((job.outcome().detail.find("No route to host") != std::string::npos) ==
          c.cause.has_value());
  }
}

TEST_CASE("a rank that exits because its launcher's daemon was killed is not to blame") {
  JobStory job;
  job.running()
      .says(1, Exited{195, false})
      .says(7, NotLaunched{"secret", "orted on n0 was killed"});
  job.lost(0).lost(1).lost(2).lost(3);
  CHECK(job.outcome().cause == run::Cause::launcher_died);
  CHECK(job.outcome().detail == "orted on n0 was killed");
}

TEST_CASE("no peer without the token, and no late rank, can refuse on behalf of the job") {
  JobStory job;
  job.says(7, Refused{"guess", "n1", "no"}).all_hello().says(8, Refused{"secret", "n1", "no"});
  CHECK_FALSE(job.over());
  CHECK(job.refused(7));
  CHECK(job.refused(8));
}

TEST_CASE("messages out of turn are ignored") {
  JobStory job;
  job.hello(0)
      .says(JobStory::peer_of(0), Started{1})
      .says(JobStory::peer_of(0), Reached{{{"x", "y", ""}}})
      .listening(1);
  CHECK_FALSE(job.over());
  job.hello(1).hello(2).hello(3);
  job.says(JobStory::peer_of(3), Listening{666});  // not rank 0
  CHECK(job.count<Probe>() == 0);
  job.listening(20001).listening(20002).all_reached();
  CHECK(job.environment_of_rank(0)["MASTER_PORT"] == "20001");
  job.all_started().all_reached().all_started();
  CHECK(job.count<Go>() == 4);
  job.all_exit(0);
  CHECK(job.outcome().cause == Cause::completed);
}
