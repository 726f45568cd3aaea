// SPDX-License-Identifier: Apache-2.0
// dtsubmit-environment(7) lists exactly the variables that a rank is given; those of an allocation
// around a run are heeded.
#include "core/base/text/text.hpp"
#include "core/plan/thread_places.hpp"
#include "tests/cli/session.hpp"
#include "tests/support/source_dir.hpp"

#include <algorithm>
#include <set>

namespace {

using namespace dts;
using namespace dts::tests;

using Names = std::set<std::string>;

bool is_variable(const std::string& word) {
  return !word.empty() &&
         word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos;
}

// The variables in the headings of a section of the page: `.TP`, then `.B NAME` or `.BR A ", " B`.
Names documented(const std::string& section) {
  const auto page = read_file(in_source("man/dtsubmit-environment.7"));
  REQUIRE(page);
  Names names;
  bool inside = false, heading = false;
  for (const std::string& line : split(*page, '\n')) {
    if (line.rfind(".SH ", 0) == 0) inside = line == ".SH " + section;
    if (inside && heading)
      for (const std::string& word : split(line, ' '))
        if (is_variable(word)) names.insert(word);
    heading = line == ".TP";
  }
  return names;
}

// All variables that the plan can give a rank.
Names planned() {
  plan::Placement placement;
  placement.gpus = {"0"};
  placement.first_cpus = {0};
  placement.nics = {"mlx5_0:1"};
  const plan::Rendezvous rendezvous{"10.0.0.1", 4000, {"10.0.0.1"}, {4001}, "eth0", "mlx5_0:1"};
  Names names;
  for (const char* runtime : {"gnu", "intel"}) {
    plan::Plan plan;
    plan.workers_per_task = 1;
    plan.command = {"torchrun", "--rdzv-backend", "c10d", "train.py"};
    plan.bind_threads = runtime;
    const auto one = plan::rank_environments({placement}, rendezvous, plan).at(0);
    for (const auto& [name, value] : one) names.insert(name);
  }
  for (const auto& [name, value] : plan::places_of_threads({}, {0}, {0})) names.insert(name);
  return names;
}

Names names_of(const std::string& environment) {
  Names names;
  for (const std::string& entry : split(environment, '\0'))
    names.insert(entry.substr(0, entry.find('=')));
  return names;
}

// Variables of a real rank that mpirun alone does not set. OMPI_*: set for mpirun, not for ranks.
Names given(const Session& session) {
  const Output run = session.dtsubmit({"run", "--", "env", "-0"});
  const Output alone = session.shell("mpirun --allow-run-as-root --oversubscribe -n 1 env -0");
  CAPTURE(run.err);
  CAPTURE(alone.err);
  REQUIRE(run.exit_code == 0);
  REQUIRE(alone.exit_code == 0);
  const Names launchers = names_of(alone.out);
  Names names = names_of(*read_file(session.newest_run().rank_log(1, 0)));
  std::erase_if(names, [&](const std::string& name) {
    return launchers.count(name) == 1 || name.rfind("OMPI_", 0) == 0;
  });
  return names;
}

// Further variables of the only one of a job's steps or roles. Variables named after a part are
// checked here, since the page has NAME in their place.
Names given_to_part(const Session& session, const std::string& kind) {
  const Output made = session.shell(
      "echo '{\"" + kind + R"(": [{"name": "a", "command": ["env", "-0"]}]}' >parts.json)");
  REQUIRE(made.exit_code == 0);
  const Output run = session.dtsubmit({"run", "parts.json"});
  CAPTURE(run.err);
  REQUIRE(run.exit_code == 0);
  const run::RunDirectory part{session.newest_run().path + "/" + kind + "/1-a"};
  Names names = names_of(*read_file(part.rank_log(1, 0)));
  const bool are_roles = kind == "roles";
  const std::string prefix = are_roles ? "DTSUBMIT_ROLE_A_" : "DTSUBMIT_STEP_A_";
  CHECK(names.count(prefix + "DIR") == 1);
  for (const char* end : {"NODES", "ADDR", "PORT"})
    CHECK((names.count(prefix + end) == 1) == are_roles);
  std::erase_if(names, [&](const std::string& name) {
    return name.rfind("DTSUBMIT_", 0) != 0 || name.rfind(prefix, 0) == 0;
  });
  return names;
}

}  // namespace

TEST_CASE("the manual lists every variable that a rank is given, and no other") {
  if (!Session::has_mpirun()) return;
  const Session session;
  Names set = planned();
  const Names real = given(session);
  CHECK(real.count("RANK") == 1);
  set.insert(real.begin(), real.end());
  for (const char* kind : {"steps", "roles"}) set.merge(given_to_part(session, kind));
  set.insert("DTSUBMIT_DEADLINE");          // only Slurm has one
  set.insert("SUBMITIT_FOLDER");            // only in a job of Slurm
  set.insert("DTSUBMIT_CHECKPOINT_EVERY");  // only from the second attempt on
  set.insert("DTSUBMIT_RESUME_FROM");       // only if the program has saved
  set.insert("DTSUBMIT_STAGE_DIR");         // only with --stage
  const std::vector<plan::Placement> alone(1);
  const std::vector<plan::Environment> places = plan::slurm_step_variables(alone);
  for (const auto& [name, value] : places.front()) set.insert(name);
  const Names page = documented("SET FOR EVERY RANK");
  for (const std::string& name : set)
    CHECK_MESSAGE(page.count(name) == 1, name, " is not in the page");
  for (const std::string& name : page) CHECK_MESSAGE(set.count(name) == 1, name, " is never set");
}

TEST_CASE("in an allocation it is said which nodes a run on this machine leaves idle") {
  Session session;
  const auto warns = [&](const Words& words) {
    return contains(session.dtsubmit(words).err,
                    "not the allocation's nodes n[0-1]: --hosts n[0-1]");
  };
  const Words refused{"run", "--nodes", "3", "--", "true"};  // by the next check
  CHECK_FALSE(warns(refused));
  session.environment["SLURM_JOB_NODELIST"] = "n[0-1]";
  session.environment["SLURMD_NODENAME"] = "n0";
  CHECK(warns(refused));
  CHECK_FALSE(warns({"run", "--hosts", "localhost", "--nodes", "3", "--", "true"}));
  session.environment["SLURM_JOB_NODELIST"] = "n0";
  CHECK_FALSE(contains(session.dtsubmit(refused).err, "allocation"));
  session.environment.erase("SLURMD_NODENAME");  // in the shell of salloc on a login node
  CHECK(contains(session.dtsubmit(refused).err, "not the allocation's nodes n0"));
}

TEST_CASE("a rank has the variables of the frameworks that were asked for") {
  if (!Session::has_mpirun()) return;

  struct {
    const char* asked;
    bool torch, tensorflow, jax;
  } const table[] = {{"all", true, true, true},
                     {"none", false, false, false},
                     {"torch", true, false, false},
                     {"jax,torch,jax", true, false, true}};

  for (const auto& row : table) {
    CAPTURE(std::string(row.asked));
    const Session session;
    REQUIRE(session.dtsubmit({"run", "--framework", row.asked, "--", "env"}).exit_code == 0);
    const std::string log = read_file(session.newest_run().rank_log(1, 0)).value_or("");
    const auto has = [&](const std::string& name) {
      return ("\n" + log).find("\n" + name + "=") != std::string::npos;
    };
    CHECK(has("MASTER_ADDR") == row.torch);
    CHECK(has("TF_CONFIG") == row.tensorflow);
    CHECK(has("JAX_PROCESS_ID") == row.jax);
    CHECK(has("OMP_NUM_THREADS"));
  }
}
