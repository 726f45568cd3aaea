// SPDX-License-Identifier: Apache-2.0
// The launcher's command line.
#include "core/launch/launcher/mpirun.hpp"
#include "core/launch/launcher/own_steps.hpp"
#include "core/launch/launcher/srun.hpp"
#include "tests/unit/launch/launch_request.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using namespace dts;
using namespace dts::launch;

bool has_run_of(const Words& argv, const Words& words) {
  return std::search(argv.begin(), argv.end(), words.begin(), words.end()) != argv.end();
}

}  // namespace

TEST_CASE("mpirun gets the layout in the syntax of its release, unbound") {
  const std::string path = "/opt/dtsubmit";

  struct Case {
    const char* what;
    unsigned release;
    bool local, as_root;
    std::string dtsubmit;
    Words words;  // between "mpirun" and the rank's
    std::vector<std::pair<std::string, std::string>> environment;
  };

  const std::pair<std::string, std::string> patient{"OMPI_MCA_odls_base_sigkill_timeout", "3000"};
  const std::pair<std::string, std::string> root{"OMPI_ALLOW_RUN_AS_ROOT", "1"};
  const std::pair<std::string, std::string> sure{"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"};
  for (
      const Case& c :
      {Case{"4, nodes",
            4,
            false,
            false,
            path,
            {"--np",
             "16",
             "--bind-to",
             "none",
             "--oversubscribe",
             "--map-by",
             "ppr:8:node",
             "--launch-agent",
             "/opt/dtsubmit orted"},
            {patient}},
       {"4, this machine",
        4,
        true,
        false,
        path,
        {"--np", "16", "--bind-to", "none", "--host", "localhost:16", "--oversubscribe"},
        {patient}},
       {"4, a path that mpirun would split",
        4,
        false,
        true,
        "/my programs/dtsubmit",
        {"--np", "16", "--bind-to", "none", "--oversubscribe", "--map-by", "ppr:8:node"},
        {patient, root, sure}},
       {"5, nodes",
        5,
        false,
        false,
        path,
        {"--np", "16", "--bind-to", "none", "--map-by", "ppr:8:node:oversubscribe"},
        {{"PRTE_MCA_prte_launch_agent", "/opt/dtsubmit prted"}}},
       {"5, this machine",
        5,
        true,
        true,
        path,
        {"--np", "16", "--bind-to", "none", "--host", "localhost:16", "--map-by", ":oversubscribe"},
        {root, sure}},
       {"5, a path that mpirun would split",
        5,
        false,
        false,
        "/my programs/dtsubmit",
        {"--np", "16", "--bind-to", "none", "--map-by", "ppr:8:node:oversubscribe"},
        {}},
       {"6, as 5",
        6,
        true,
        false,
        path,
        {"--np", "16", "--bind-to", "none", "--host", "localhost:16", "--map-by", ":oversubscribe"},
        {}}}) {
    CAPTURE(c.what);
    LaunchRequest request = request_for(2, 8);
    request.local = c.local;
    request.as_root = c.as_root;
    request.dtsubmit = c.dtsubmit;
    const LauncherCommand command = mpirun_command(request, c.release);
    CHECK_FALSE(command.needs_sentinel);
    Words expected{"mpirun"};
    expected.insert(expected.end(), c.words.begin(), c.words.end());
    expected.insert(expected.end(), k_rank.begin(), k_rank.end());
    CHECK(command.argv == expected);
    CHECK(command.environment == c.environment);
  }
}

TEST_CASE("the release is parsed from the output of mpirun --version") {
  const std::pair<const char*, std::optional<unsigned>> table[] = {
      {"mpirun (Open MPI) 4.1.4", 4},
      {"mpirun (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/", 5},
      {"mpirun (Open MPI) 4.1.7rc1", 4},
      {"mpirun (Open MPI) 3.1", 3},
      {"mpirun (Open MPI) 10.0.0", 10},
      {"mpirun (Open MPI) ", std::nullopt},
      {"mpirun (Open MPI) main", std::nullopt},
      {"mpirun (Open MPI) 99999999999999999999.0", std::nullopt},
      {"HYDRA build details:", std::nullopt},
      {"Intel(R) MPI Library for Linux* OS, Version 2021.9", std::nullopt},
      {"", std::nullopt}};
  for (const auto& row : table) {
    const auto& [version, release] = row;
    CAPTURE(row.first);
    CHECK(open_mpi_release(version) == release);
  }
}

TEST_CASE("the sentinel step takes one task and no resources from the ranks") {
  const Words argv = sentinel_command("/opt/dtsubmit");
  CHECK(argv.front() == "srun");
  for (const char* word : {"--overlap", "--nodes=1", "--ntasks=1", "--gres=none", "--mem=0"})
    CHECK(has_run_of(argv, {word}));
  CHECK(Words(argv.end() - 2, argv.end()) == Words{"/opt/dtsubmit", "sentinel"});
}

TEST_CASE("srun starts exactly the planned ranks in one step, unbound, with the job's cores") {
  LaunchRequest request = request_for(2, 4);
  request.plan.cpus_per_task = 3;
  const Words argv = srun_command(request, "pmix").argv;
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
  CHECK_FALSE(has_run_of(argv, {"--gpu-bind=none"}));
  request.plan.gpus_per_node = 4;
  CHECK(has_run_of(srun_command(request, "pmix").argv, {"--gpu-bind=none"}));
  request.plan.shared = plan::SharedNodes{.own = 1, .cpus = {3, 12}, .gpus = {2, 4}};
  const Words beside = srun_command(request, "pmix").argv;
  CHECK(has_run_of(beside, {"--overlap"}));
  CHECK_FALSE(has_run_of(beside, {"--cpus-per-task=3"}));
  CHECK(std::any_of(
      argv.begin(), argv.end(), [](const auto& word) { return word.rfind("--wait=", 0) == 0; }));
  CHECK(Words(argv.end() - static_cast<std::ptrdiff_t>(k_rank.size()), argv.end()) == k_rank);
}

TEST_CASE("the launcher is the requested one, otherwise mpirun, otherwise srun, with the reason") {
  using spec::Launcher;

  struct Case {
    Launcher asked;
    bool local;
    const char* mpirun;  // its answer; null: not installed
    bool srun;
    std::optional<Launcher> chosen;  // none: refused with `error`
    Errc error = Errc::internal;
  };

  const char *open = "mpirun (Open MPI) 4.1.4", *hydra = "HYDRA build details:";
  for (const Case& c : {Case{Launcher::automatic, false, open, true, Launcher::mpirun},
                        {Launcher::automatic, true, open, true, Launcher::mpirun},
                        {Launcher::automatic, false, nullptr, true, Launcher::srun},
                        {Launcher::automatic, false, hydra, true, Launcher::srun},
                        {Launcher::srun, false, open, true, Launcher::srun},
                        {Launcher::mpirun, false, open, true, Launcher::mpirun},
                        {Launcher::ssh, true, nullptr, false, Launcher::ssh},
                        {Launcher::automatic, true, nullptr, true, {}, Errc::not_found},
                        {Launcher::automatic, true, hydra, true, {}, Errc::not_found},
                        {Launcher::automatic, false, nullptr, false, {}, Errc::not_found},
                        {Launcher::mpirun, false, nullptr, true, {}, Errc::not_found},
                        {Launcher::mpirun, false, hydra, true, {}, Errc::not_found},
                        {Launcher::srun, false, open, false, {}, Errc::not_found},
                        {Launcher::srun, true, open, true, {}, Errc::invalid}}) {
    CAPTURE(spec::to_string(c.asked));
    const auto ask = [&](Launcher launcher) -> Result<std::string> {
      const bool there = launcher == Launcher::mpirun ? c.mpirun != nullptr
                         : launcher == Launcher::srun ? c.srun
                                                      : false;
      if (!there) return fail(Errc::not_found, "not here");
      return launcher == Launcher::mpirun ? c.mpirun : "none";
    };
    LaunchRequest request = request_for(1, 4);
    request.plan.launcher = c.asked;
    request.local = c.local;
    const auto choice = choose_launcher(request, [&](Launcher one) -> Result<std::string> {
      return one == Launcher::ssh ? Result<std::string>("") : ask(one);
    });
    REQUIRE(choice.has_value() == c.chosen.has_value());
    if (choice) {
      CHECK(choice->launcher == *c.chosen);
      CHECK_FALSE(choice->why.empty());
    } else {
      CHECK(choice.error().code == c.error);
      CHECK_FALSE(choice.error().hint.empty());
    }
  }
}

TEST_CASE("mpirun is not chosen for several nodes without what starts its daemons") {
  const auto ask = [](spec::Launcher launcher) -> Result<std::string> {
    return launcher == spec::Launcher::mpirun ? Result<std::string>("mpirun (Open MPI) 4.1.4")
                                              : fail(Errc::not_found, "no srun");
  };
  LaunchRequest request = request_for(2, 4);
  request.has_srun = false;
  for (const auto asked : {spec::Launcher::mpirun, spec::Launcher::automatic}) {
    request.plan.launcher = asked;
    request.has_ssh = false;
    const auto choice = choose_launcher(request, ask);
    REQUIRE(!choice);
    CHECK(choice.error().message.starts_with("no srun on the job's PATH, by which mpirun"));
    CHECK_FALSE(choice.error().hint.empty());
    request.has_ssh = true;
    REQUIRE(choose_launcher(request, ask));
    CHECK(choose_launcher(request, ask)->launcher == spec::Launcher::mpirun);
  }
  request.has_ssh = false;
  request.plan.nodes = 1;
  CHECK(choose_launcher(request, ask)->launcher == spec::Launcher::mpirun);
}

TEST_CASE("Open MPI may be told how it reaches other nodes") {
  const std::pair<const char*, bool> table[] = {{"OMPI_MCA_plm", true},
                                                {"OMPI_MCA_plm_rsh_agent", true},
                                                {"PRTE_MCA_plm", true},
                                                {"PRTE_MCA_plm_ssh_agent", true},
                                                {"OMPI_MCA_plm_slurm_args", false},
                                                {"OMPI_MCA_btl", false}};
  for (const auto& [name, tells] : table) {
    const std::string set = name;
    CAPTURE(set);
    CHECK(is_told_how_to_reach_nodes([&](const char* one) {
            return one == set ? std::optional<std::string>("rsh") : std::nullopt;
          }) == tells);
  }
}

TEST_CASE("mpirun keeps the full names of nodes, by which alone Slurm knows them") {
  LaunchRequest request = request_for(2, 4);
  const std::pair<std::string, std::string> keeps{"OMPI_MCA_orte_keep_fqdn_hostnames", "1"};
  const auto has = [&] {
    const auto all = mpirun_command(request, 4).environment;
    return std::find(all.begin(), all.end(), keeps) != all.end();
  };
  request.all_nodes = {"n0", "n1"};
  CHECK_FALSE(has());
  request.all_nodes = {"n0.cluster", "n1.cluster"};
  CHECK(has());
  request.local = true;
  CHECK_FALSE(has());
}

TEST_CASE("srun does not start more ranks on a node than the site lets it") {
  LaunchRequest request = request_for(2, 4);
  const auto choose = [&](bool has_mpirun) {
    return choose_launcher(request, [&](spec::Launcher one) -> Result<std::string> {
      if (one == spec::Launcher::srun) return "none";
      if (one != spec::Launcher::mpirun || !has_mpirun) return fail(Errc::not_found, "not here");
      return "mpirun (Open MPI) 4.1.4";
    });
  };
  for (const unsigned enough : {0U, 4U}) {
    request.plan.most_srun_ranks = enough;
    REQUIRE(choose(false));
    CHECK(choose(false)->launcher == spec::Launcher::srun);
  }
  request.plan.most_srun_ranks = 3;
  const auto none = choose(false);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Errc::not_found);
  CHECK(none.error().message.find("srun starts at most 3 ranks on a node (MaxTasksPerNode), and 4 "
                                  "are planned") != std::string::npos);
  REQUIRE(choose(true));
  CHECK(choose(true)->launcher == spec::Launcher::mpirun);
  request.plan.launcher = spec::Launcher::srun;
  CHECK_FALSE(choose(true));
}

TEST_CASE("a job on one node under mpirun needs a step that notices a preemption") {
  LaunchRequest request = request_for(1, 4);
  CHECK(mpirun_command(request, 4).needs_sentinel);
  CHECK_FALSE(srun_command(request, "none").needs_sentinel);
  request.local = true;
  CHECK_FALSE(mpirun_command(request, 4).needs_sentinel);
}

TEST_CASE("the steps of a role of a heterogeneous job belong to its component") {
  LaunchRequest request = request_for(2, 4);
  request.plan.component = 1;
  const std::string group = "--het-group=1";
  CHECK(has_run_of(srun_command(request, "none").argv, {"srun", group, "--nodes=2"}));
  CHECK(has_run_of(check_command({"n0"}, GpuUse::none, {"true"}, 1U), {"srun", group}));
  CHECK(has_run_of(sentinel_command("/opt/dtsubmit", 1U), {"srun", group}));
  using Variable = std::pair<std::string, std::string>;
  const auto has = [&](const char* answer, const char* given, const Variable& variable) {
    const auto lookup = [&](const char* name) {
      return given != nullptr && name == variable.first ? std::optional<std::string>(given)
                                                        : std::nullopt;
    };
    const auto command = k_mpirun_launcher.command(request, answer, lookup);
    REQUIRE(command);
    const auto& all = command->environment;
    return std::find(all.begin(), all.end(), variable) != all.end();
  };
  CHECK(has("mpirun (Open MPI) 4.1.4", nullptr, {"OMPI_MCA_plm_slurm_args", group}));
  CHECK(has("mpirun (Open MPI) 4.1.4", "--x=y", {"OMPI_MCA_plm_slurm_args", "--x=y " + group}));
  const auto slurms = [](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "PRTE_MCA_plm_slurm_args") return "--external-launcher";
    return std::nullopt;
  };
  const auto newer = k_mpirun_launcher.command(request, "mpirun (Open MPI) 5.0.1", slurms);
  REQUIRE(newer);
  CHECK(has_run_of(newer->argv,
                   {"mpirun", "--prtemca", "plm_slurm_args", "--external-launcher " + group}));
}

TEST_CASE("a part on other nodes than mpirun's own names them for its daemons") {
  LaunchRequest request = request_for(2, 4);
  request.nodes = {"n1", "n2"};
  const auto arguments = [&](const char* own) {
    const auto lookup = [&](const char* name) -> std::optional<std::string> {
      if (std::string_view(name) == "SLURMD_NODENAME") return own;
      return std::nullopt;
    };
    const auto command = k_mpirun_launcher.command(request, "mpirun (Open MPI) 4.1.4", lookup);
    REQUIRE(command);
    for (const auto& variable : command->environment)
      if (variable.first == "OMPI_MCA_plm_slurm_args") return variable.second;
    return std::string();
  };
  CHECK(arguments("n0") == "--nodelist=n[1-2]");
  CHECK(arguments("n1").empty());
  request.nodes.clear();
  CHECK(arguments("n0").empty());
}

TEST_CASE("the best of srun's MPI types is chosen, by its whole name") {
  const char* both = "MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\n";
  CHECK(mpi_type_of(both, {}) == "pmix");
  CHECK(mpi_type_of("MPI plugin types are...\n\tcray_shasta\n\tpmi2\n\tnone", {}) == "pmi2");
  CHECK(mpi_type_of("\tpmix_v4\n\tnone\n", {}) == "none");
  CHECK(mpi_type_of("", {}) == "none");
  CHECK(mpi_type_of(both, {Mpi::mpich, "libmpi.so.12", false, true}) == "pmi2");
  CHECK(mpi_type_of(both, {Mpi::mpich, "libmpi.so.12", true, true}) == "pmix");
  CHECK(mpi_type_of("\tnone\n\tpmi2\n", {Mpi::open_mpi, "libmpi.so.40", true, false}) == "none");
}

TEST_CASE("in a job with spares only the chosen nodes are used") {
  LaunchRequest request = request_for(3, 4);
  const Words all = srun_command(request, "none").argv;
  CHECK(std::none_of(all.begin(), all.end(), [](const std::string& word) {
    return word.rfind("--nodelist", 0) == 0;
  }));
  request.dtsubmit = "/opt/dtsubmit";
  request.nodes = {"n0", "n2", "n3"};
  for (const unsigned release : {4U, 5U})
    CHECK(has_run_of(mpirun_command(request, release).argv, {"--host", "n0:4,n2:4,n3:4"}));
  CHECK(has_run_of(srun_command(request, "none").argv, {"--nodelist=n[0,2-3]", "--overlap"}));
}

TEST_CASE("only a later attempt shares its cores with a step that may not be over") {
  LaunchRequest request = request_for(2, 4);
  const auto shares = [&request] {
    const Words argv = srun_command(request, "none").argv;
    const auto by_mpirun = mpirun_command(request, 4).environment;
    const bool by_srun = std::find(argv.begin(), argv.end(), "--overlap") != argv.end();
    CHECK(by_srun == std::any_of(by_mpirun.begin(), by_mpirun.end(), [](const auto& variable) {
            return variable.first == "SLURM_OVERLAP";
          }));
    return by_srun;
  };
  CHECK_FALSE(shares());
  request.attempt = 2;
  CHECK(shares());
}

TEST_CASE("the step that measures nodes takes one task on each and no resources from the ranks") {
  const Words argv = check_command({"n0", "n1"}, GpuUse::none, {"/opt/dtsubmit", "measure"});
  CHECK(argv.front() == "srun");
  for (const char* word : {"--overlap",
                           "--nodelist=n[0-1]",
                           "--nodes=2",
                           "--ntasks=2",
                           "--ntasks-per-node=1",
                           "--mem=0",
                           "--gres=none",
                           "--kill-on-bad-exit=0"})
    CHECK_MESSAGE(has_run_of(argv, {word}), std::string(word));
  CHECK(Words(argv.end() - 2, argv.end()) == Words{"/opt/dtsubmit", "measure"});
  CHECK_FALSE(has_run_of(check_command({"n0"}, GpuUse::all, {}), {"--gres=none"}));
}
