// SPDX-License-Identifier: Apache-2.0
// The launcher's command line.
#include "core/launch/launcher.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using namespace dts;
using namespace dts::launch;
using Words = std::vector<std::string>;

const Words k_rank{"/opt/dtsubmit", "rank", "--", "python3", "a b.py", "--np", "$(x)", ""};

LauncherCommand command_for(unsigned nodes,
                            unsigned tasks,
                            bool local,
                            bool as_root,
                            const std::string& dtsubmit = "/opt/dtsubmit") {
  plan::Plan plan;
  plan.nodes = nodes;
  plan.ntasks_per_node = tasks;
  plan.world_size = nodes * tasks;
  return mpirun_command(plan, local, as_root, dtsubmit, k_rank);
}

bool has_run_of(const Words& argv, const Words& words) {
  return std::search(argv.begin(), argv.end(), words.begin(), words.end()) != argv.end();
}

std::string value_of(const LauncherCommand& command, const std::string& name) {
  for (const auto& [one, value] : command.environment)
    if (one == name) return value;
  return "";
}

}  // namespace

TEST_CASE("mpirun starts exactly the planned ranks, so many on each node, unbound") {
  const LauncherCommand command = command_for(2, 8, false, false);
  CHECK(command.argv.front() == "mpirun");
  CHECK(has_run_of(command.argv, {"--np", "16"}));
  CHECK(has_run_of(command.argv, {"--map-by", "ppr:8:node"}));
  CHECK(has_run_of(command.argv, {"--bind-to", "none"}));
}

TEST_CASE("the program's words come last and unchanged") {
  for (const bool local : {true, false}) {
    const Words argv = command_for(1, 4, local, false).argv;
    REQUIRE(argv.size() > k_rank.size());
    CHECK(Words(argv.end() - static_cast<std::ptrdiff_t>(k_rank.size()), argv.end()) == k_rank);
  }
}

TEST_CASE("a local run stays on this machine and asks nobody for a host list") {
  const LauncherCommand command = command_for(1, 4, true, false);
  CHECK(has_run_of(command.argv, {"--host", "localhost:4"}));
  CHECK_FALSE(has_run_of(command.argv, {"--map-by"}));
  CHECK_FALSE(has_run_of(command.argv, {"--launch-agent"}));
}

TEST_CASE("daemons on other nodes run below ours, unless its path has a blank") {
  CHECK(
      has_run_of(command_for(2, 8, false, false).argv, {"--launch-agent", "/opt/dtsubmit orted"}));
  CHECK_FALSE(has_run_of(command_for(2, 8, false, false, "/my programs/dtsubmit").argv,
                         {"--launch-agent"}));
}

TEST_CASE("mpirun may not kill its ranks one second after a SIGTERM") {
  const std::string seconds =
      value_of(command_for(1, 1, true, false), "OMPI_MCA_odls_base_sigkill_timeout");
  REQUIRE_FALSE(seconds.empty());
  CHECK(std::stoi(seconds) > 600);
}

TEST_CASE("root is let through only for root") {
  CHECK(value_of(command_for(1, 1, true, false), "OMPI_ALLOW_RUN_AS_ROOT").empty());
  CHECK(value_of(command_for(1, 1, true, true), "OMPI_ALLOW_RUN_AS_ROOT") == "1");
  CHECK(value_of(command_for(1, 1, true, true), "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == "1");
}

TEST_CASE("the sentinel step takes one task and no resource from the ranks") {
  const Words argv = sentinel_command("/opt/dtsubmit");
  CHECK(argv.front() == "srun");
  for (const char* word : {"--overlap", "--nodes=1", "--ntasks=1", "--gres=none", "--mem=0"})
    CHECK(has_run_of(argv, {word}));
  CHECK(Words(argv.end() - 2, argv.end()) == Words{"/opt/dtsubmit", "sentinel"});
}

TEST_CASE("srun starts exactly the planned ranks in one step, unbound, with the job's cores") {
  plan::Plan plan;
  plan.nodes = 2;
  plan.ntasks_per_node = 4;
  plan.world_size = 8;
  plan.cpus_per_task = 3;
  const Words argv = srun_command(plan, "pmix", k_rank).argv;
  CHECK(argv.front() == "srun");
  for (const char* word : {"--nodes=2",
                           "--ntasks=8",
                           "--ntasks-per-node=4",
                           "--cpus-per-task=3",
                           "--distribution=block:block",
                           "--cpu-bind=none",
                           "--kill-on-bad-exit=1",
                           "--export=ALL",
                           "--mpi=pmix"})
    CHECK_MESSAGE(has_run_of(argv, {word}), std::string(word));
  CHECK(std::any_of(
      argv.begin(), argv.end(), [](const auto& word) { return word.rfind("--wait=", 0) == 0; }));
  CHECK(Words(argv.end() - static_cast<std::ptrdiff_t>(k_rank.size()), argv.end()) == k_rank);
}

TEST_CASE("the launcher is what was asked for, else mpirun, else srun, and says why") {
  struct Case {
    const char* asked;
    LauncherFacts facts;
    const char* chosen;  // null: refused with `error`
    Errc error = Errc::internal;
  };

  for (const Case& c : {Case{"auto", {false, true, true}, "mpirun"},
                        {"auto", {true, true, true}, "mpirun"},
                        {"auto", {false, false, true}, "srun"},
                        {"srun", {false, true, true}, "srun"},
                        {"mpirun", {false, true, true}, "mpirun"},
                        {"auto", {true, false, true}, nullptr, Errc::not_found},
                        {"auto", {false, false, false}, nullptr, Errc::not_found},
                        {"mpirun", {false, false, true}, nullptr, Errc::not_found},
                        {"srun", {false, true, false}, nullptr, Errc::not_found},
                        {"srun", {true, true, true}, nullptr, Errc::invalid}}) {
    CAPTURE(c.asked);
    const auto choice = choose_launcher(c.asked, c.facts);
    REQUIRE(choice.has_value() == (c.chosen != nullptr));
    if (choice) {
      CHECK(choice->name == c.chosen);
      CHECK_FALSE(choice->why.empty());
    } else {
      CHECK(choice.error().code == c.error);
      CHECK_FALSE(choice.error().hint.empty());
    }
  }
}

TEST_CASE("of srun's MPI types the best is taken, by its whole name") {
  CHECK(mpi_type_of("MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\n") == "pmix");
  CHECK(mpi_type_of("MPI plugin types are...\n\tcray_shasta\n\tpmi2\n\tnone") == "pmi2");
  CHECK(mpi_type_of("\tpmix_v4\n\tnone\n") == "none");
  CHECK(mpi_type_of("") == "none");
}
