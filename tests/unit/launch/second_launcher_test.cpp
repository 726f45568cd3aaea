// SPDX-License-Identifier: Apache-2.0
// Launchers that the program starts itself: which processes are duplicated, and which are not.
#include "core/launch/attempt/watch/second_launcher.hpp"

#include "tests/unit/launch/job_story.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using run::Cause;

LaunchedProcess process(unsigned rank, unsigned world, std::string master, std::string program) {
  return {rank, world, std::move(master), std::move(program)};
}

// A torchrun with `count` processes, starting at rank `first`.
Launched torchrun(unsigned first,
                  unsigned count,
                  unsigned world,
                  const std::string& master,
                  const std::string& program = "train") {
  Launched launched{"torchrun", "python3 torchrun train.py", "torchrun", {}};
  for (unsigned rank = first; rank < first + count; ++rank)
    launched.processes.push_back(process(rank, world, master, program));
  return launched;
}

Launched unknown(std::vector<LaunchedProcess> processes) {
  return {"", "python3 spawn.py", "spawn", std::move(processes)};
}

// Below ranks 0 and 1, on these nodes.
SecondLaunchers below_two(const Launched& first,
                          const Launched& second,
                          const std::string& first_node = "n0",
                          const std::string& second_node = "n0") {
  SecondLaunchers launchers;
  launchers.observe(0, first_node, first);
  launchers.observe(1, second_node, second);
  return launchers;
}

bool twice(const Launched& first,
           const Launched& second,
           const std::string& first_node = "n0",
           const std::string& second_node = "n0") {
  const SecondLaunchers launchers = below_two(first, second, first_node, second_node);
  CHECK(launchers.are_ranks_twice() == launchers.ranks_twice().has_value());
  return launchers.are_ranks_twice();
}

}  // namespace

TEST_CASE("two torchruns that do not know each other start the same ranks") {
  CHECK(twice(torchrun(0, 8, 8, "n0:4001"), torchrun(0, 8, 8, "n0:4002")));
  CHECK(twice(
      torchrun(0, 8, 8, "127.0.0.1:29500"), torchrun(0, 8, 8, "127.0.0.1:29500"), "n0", "n1"));
  CHECK(twice(torchrun(0, 1, 1, "n0:4001"), torchrun(0, 1, 1, "n0:4002")));
}

TEST_CASE("torchruns that know each other start each rank once") {
  CHECK_FALSE(twice(torchrun(0, 8, 16, "n0:4001"), torchrun(8, 8, 16, "n0:4001"), "n0", "n1"));
  CHECK_FALSE(twice(torchrun(0, 1, 2, "n0:4001"), torchrun(1, 1, 2, "n0:4001")));
}

TEST_CASE("launchers of independent trainings are no fault") {
  CHECK_FALSE(twice(torchrun(0, 2, 2, "n0:4001", "lr=1"), torchrun(0, 2, 2, "n0:4002", "lr=2")));
  // Unless they share a meeting place.
  CHECK(twice(torchrun(0, 2, 2, "n0:4001", "lr=1"), torchrun(0, 2, 2, "n0:4001", "lr=2")));
}

TEST_CASE("without a known launcher the same rank must be awaited at the same place") {
  const auto at = [](const std::string& master, unsigned world = 2) {
    return unknown({process(0, world, master, "train")});
  };
  CHECK(twice(at("127.0.0.1:12355"), at("127.0.0.1:12355")));
  CHECK(twice(at("n0:12355"), at("n0:12355"), "n0", "n1"));
  CHECK_FALSE(twice(at("127.0.0.1:12355"), at("127.0.0.1:12355"), "n0", "n1"));
  CHECK_FALSE(twice(at("localhost:12355"), at("localhost:12355"), "n0", "n1"));
  CHECK_FALSE(twice(at("n0:12355"), at("n0:12356")));
  CHECK_FALSE(twice(at(""), at("")));
  CHECK_FALSE(twice(at("n0:12355", 1), at("n0:12355", 1)));  // a server of one process
  CHECK_FALSE(twice(at("n0:12355", 2), at("n0:12355", 4)));
}

TEST_CASE("a tool that each rank starts with mpirun -n 1 is no fault") {
  const Launched tool{"mpirun", "mpirun -n 1 tool", "mpirun", {process(0, 1, "", "tool")}};
  CHECK_FALSE(twice(tool, tool));
  const Launched many{
      "mpirun", "mpirun -n 2 t", "mpirun", {process(0, 2, "", "t"), process(1, 2, "", "t")}};
  CHECK(twice(many, many));
}

TEST_CASE("a duplicate is described in full") {
  SecondLaunchers launchers;
  for (unsigned rank = 0; rank < 16; ++rank)
    launchers.observe(rank, rank < 8 ? "n0" : "n1", torchrun(0, 8, 8, "127.0.0.1:29500"));
  const auto found = launchers.ranks_twice();
  REQUIRE(found);
  CHECK(describe(*found) ==
        "torchrun runs below each of ranks 0-15 on n[0-1], each time with ranks 0-7 of 8");
  const auto one =
      below_two(unknown({process(1, 2, "a:1", "x")}), unknown({process(1, 2, "a:1", "x")}));
  CHECK(describe(*one.ranks_twice()) ==
        "a program that spawns runs below each of ranks 0,1 on n0, each time with rank 1 of 2");
}

TEST_CASE("the latest report counts, and forgotten ones do not") {
  SecondLaunchers launchers = below_two(torchrun(0, 2, 4, "n0:1"), torchrun(0, 2, 4, "n0:1"));
  launchers.observe(1, "n0", torchrun(2, 2, 4, "n0:1"));
  CHECK_FALSE(launchers.are_ranks_twice());
  launchers.observe(2, "n1", torchrun(2, 2, 4, "n0:1"));
  launchers.observe(3, "n1", torchrun(2, 2, 4, "n0:1"));
  CHECK(launchers.are_ranks_twice());
  launchers.forget(2);
  CHECK(launchers.are_ranks_twice());
  launchers.forget(1);
  launchers.forget(1);
  CHECK_FALSE(launchers.are_ranks_twice());
  CHECK_FALSE(launchers.any_below(1));
  CHECK(launchers.any_below(3));
}

TEST_CASE("a launcher that failed before starting anything, beside one that took its port") {
  const Launched none = torchrun(0, 0, 0, "");
  const Launched whole = torchrun(0, 2, 2, "127.0.0.1:29500");
  CHECK(below_two(whole, none).ranks_beside(1));
  CHECK_FALSE(below_two(whole, none).are_ranks_twice());
  // Nodes of a private cluster share their ports.
  CHECK(below_two(whole, none, "n0", "n1").ranks_beside(1));
  CHECK_FALSE(below_two(torchrun(0, 2, 2, "n0:29500"), none, "n0", "n1").ranks_beside(1));
  CHECK_FALSE(below_two(torchrun(0, 2, 4, "n0:1"), none).ranks_beside(1));  // waits for others
  Launched other = none;
  other.started = "something else";
  CHECK_FALSE(below_two(whole, other).ranks_beside(1));
  CHECK_FALSE(SecondLaunchers().ranks_beside(1));
}

TEST_CASE(
    "a second launcher ends the attempt once it is certain, and the error says what to write") {
  JobStory job;
  job.running();
  for (const unsigned rank : {0U, 1U}) job.says(job.peer_of(rank), torchrun(0, 2, 2, "n0:1"));
  job.wait(2s);
  CHECK(job.count<Kill>() == 0);
  job.wait(1s).killed_ranks_exit();
  check_ended(job, Cause::second_launcher, "torchrun runs below each of ranks 0,1 on n0");
  CHECK(job.outcome().exit_code == 3);
  CHECK(job.says_why("write --ntasks-per-node 1, and each node starts one; each must know about"));
  CHECK(job.says_why("--nnodes"));
  JobStory alone(1, 2);
  alone.running();
  for (const unsigned rank : {0U, 1U}) alone.says(alone.peer_of(rank), torchrun(0, 2, 2, "n0:1"));
  alone.wait(3s).killed_ranks_exit();
  CHECK(alone.says_why("write --ntasks-per-node 1, and each node starts one; or name"));
  CHECK_FALSE(alone.says_why("--nnodes"));
}

TEST_CASE("an elastic launcher may give its processes different ranks later") {
  JobStory job(2, 1);
  job.running();
  job.says(job.peer_of(0), torchrun(0, 2, 4, "n0:1")).wait(5s);
  job.says(job.peer_of(1), torchrun(0, 2, 4, "n0:1")).wait(1s);
  job.says(job.peer_of(0), torchrun(2, 2, 4, "n0:1")).wait(20s);
  CHECK(job.count<Kill>() == 0);
  job.all_exit(0);
  CHECK(job.outcome().cause == Cause::completed);
}

TEST_CASE("trainings that end before it is certain are not called complete") {
  JobStory job;
  job.running();
  for (const unsigned rank : {0U, 1U}) job.says(job.peer_of(rank), torchrun(0, 2, 2, "n0:1"));
  job.exits(0, 0).killed_ranks_exit();
  check_ended(job, Cause::second_launcher, "ranks 0,1 of 2");
}

TEST_CASE("the launcher that finds its port taken is not to blame") {
  for (const bool before : {true, false}) {
    CAPTURE(before);
    JobStory job;
    job.running().says(job.peer_of(1), torchrun(0, 0, 0, ""));
    if (before) job.says(job.peer_of(0), torchrun(0, 2, 2, "127.0.0.1:29500"));
    job.exits(1, 1);
    if (!before) job.wait(2s).says(job.peer_of(0), torchrun(0, 2, 2, "127.0.0.1:29500"));
    job.killed_ranks_exit();
    check_ended(job, Cause::second_launcher, "torchrun runs below each of ranks 0,1 on n0");
  }
}

TEST_CASE("a requested stop stands") {
  JobStory job;
  job.running();
  for (const unsigned rank : {0U, 1U}) job.says(job.peer_of(rank), torchrun(0, 2, 2, "n0:1"));
  job.stop(Cause::preempted, 60s).wait(5s).all_exit(85);
  CHECK(job.outcome().cause == Cause::preempted);
}
