// SPDX-License-Identifier: Apache-2.0
// Hydra's command line, and the launcher that the MPI of a program asks for.
#include "core/launch/launcher/mpiexec.hpp"

#include "tests/unit/launch/launch_request.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::launch;

TEST_CASE("mpiexec gets the layout, unbound, and its proxies are shielded") {
  struct Case {
    const char* what;
    bool local, of_intel;
    const char *dtsubmit, *given;
    Words words;  // between "mpiexec -launcher" and the rank's
    std::vector<std::pair<std::string, std::string>> environment;
  };

  const std::string srun = "--ntasks-per-node=1 --kill-on-bad-exit=1 --mpi=none";
  const Words unbound{"-rmk", "user", "-bind-to", "none", "-genvnone"};
  const Words nodes{"-hosts", "n0,n1", "-ppn", "2", "-n", "4"};
  const Words here{"-hosts", "localhost", "-ppn", "4", "-n", "4"};
  const char *mpich = "HYDRA_LAUNCHER_EXTRA_ARGS", *intel = "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS";
  const std::pair<std::string, std::string> unpinned{"I_MPI_PIN", "off"};
  const auto all = [](Words words, const Words& more, const Words& last) {
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), last.begin(), last.end());
    return words;
  };
  for (const Case& c :
       {Case{"MPICH",
             false,
             false,
             "/opt/dtsubmit",
             "",
             all({"slurm"}, unbound, nodes),
             {{mpich, srun + " /opt/dtsubmit hydra"}}},
        {"with the user's options",
         false,
         false,
         "/opt/dtsubmit",
         "--immediate=9",
         all({"slurm"}, unbound, nodes),
         {{mpich, "--immediate=9 " + srun + " /opt/dtsubmit hydra"}}},
        {"a path that Hydra would split",
         false,
         false,
         "/my programs/dtsubmit",
         "",
         all({"slurm"}, unbound, nodes),
         {{mpich, srun}}},
        {"Intel MPI",
         false,
         true,
         "/opt/dtsubmit",
         "",
         all({"slurm"}, all(unbound, {"-launcher-exec", "/opt/dtsubmit"}, {}), nodes),
         {{intel, "hydra-srun " + srun}, unpinned}},
        {"this machine", true, false, "/opt/dtsubmit", "", all({"fork"}, unbound, here), {}},
        {"Intel MPI, this machine",
         true,
         true,
         "/opt/dtsubmit",
         "",
         all({"fork"}, unbound, here),
         {unpinned}}}) {
    CAPTURE(c.what);
    LaunchRequest request = request_for(2, 2);
    request.local = c.local;
    request.dtsubmit = c.dtsubmit;
    request.all_nodes = {"n0", "n1"};
    const Hydra hydra{"mpiexec", "HYDRA 4.0.2", c.of_intel};
    const LauncherCommand command = mpiexec_command(request, hydra, c.given);
    CHECK_FALSE(command.needs_sentinel);  // the proxy of a single node is in a step, too
    CHECK(command.argv == all({"mpiexec", "-launcher"}, c.words, k_rank));
    CHECK(command.environment == c.environment);
  }
  LaunchRequest request = request_for(1, 2);
  request.plan.component = 1;
  request.nodes = request.all_nodes = {"n3"};
  const auto environment = mpiexec_command(request, {"mpiexec", "", false}, "").environment;
  CHECK(environment.at(0).second.starts_with("--het-group=1 "));
  CHECK(environment.at(1) == std::pair<std::string, std::string>{"SLURM_OVERLAP", "1"});
}

TEST_CASE("Intel MPI's srun gets the shield before the proxy") {
  CHECK(
      shielded_srun(
          {"-N", "2", "hydra-srun", "--mpi=none", "--input", "none", "/i/hydra_bstrap_proxy", "-x"},
          "/opt/dtsubmit") == Words{"srun",
                                    "-N",
                                    "2",
                                    "--mpi=none",
                                    "--input",
                                    "none",
                                    "/opt/dtsubmit",
                                    "hydra",
                                    "/i/hydra_bstrap_proxy",
                                    "-x"});
  CHECK(shielded_srun({"-N", "2", "/i/other"}, "/opt/dtsubmit") ==
        Words{"srun", "-N", "2", "/i/other"});
}

TEST_CASE("Hydra is recognised by the output of mpiexec --version") {
  const auto hydra = hydra_of(
      "mpiexec.hydra\nHYDRA build details:\n    Version:      4.0.2\n    Release Date:  Thu\n");
  REQUIRE(hydra);
  CHECK(hydra->program == "mpiexec.hydra");
  CHECK(hydra->release == "HYDRA 4.0.2");
  CHECK_FALSE(hydra->of_intel);
  const auto intel = hydra_of(
      "mpiexec\nIntel(R) MPI Library for Linux* OS, Version 2021.19.0 Build 20260929 (id: 1)\n");
  REQUIRE(intel);
  CHECK(intel->of_intel);
  CHECK(intel->release == "Intel(R) MPI Library 2021.19.0");
  for (const char* other : {"mpiexec\nmpiexec (OpenRTE) 4.1.4", "mpiexec", "", "HYDRA"})
    CHECK_FALSE(hydra_of(other));
}

TEST_CASE("the MPI of a program, by what its loader lists") {
  const auto line = [](const std::string& name) {
    return "\tlinux-vdso.so.1 (0x1)\n\t" + name + " => /opt/lib/" + name + " (0x7f)\n";
  };
  const std::pair<std::string, Mpi> table[] = {
      {line("libmpi.so.40"), Mpi::open_mpi},
      {line("libmpi.so.12") + line("libopen-pal.so.13"), Mpi::open_mpi},
      {line("libmpi.so.12"), Mpi::mpich},
      {line("libmpich.so.12"), Mpi::mpich},
      {line("libmpi_cray.so.12"), Mpi::mpich},
      {line("libmpi_gnu_123.so.12"), Mpi::mpich},
      {"error while loading shared libraries: libmpi.so.12: cannot open", Mpi::mpich},
      {line("libmpi.so.120"), Mpi::unknown},
      {line("libmpi_abi.so.0"), Mpi::unknown},
      {line("libmpi_abi.so.1") + line("libopen_mpi.so.40"), Mpi::open_mpi},
      {line("xlibmpi.so.40"), Mpi::unknown},
      {"libc.so.6 => /opt/libmpi.so.40/libc.so.6 (0x1)", Mpi::unknown},
      {"is a script", Mpi::unknown},
      {"", Mpi::unknown}};
  for (const auto& row : table) {
    const auto& [text, mpi] = row;
    CAPTURE(row.first);
    CHECK(mpi_in(text).mpi == mpi);
    CHECK(mpi_in(text).library.empty() == (mpi == Mpi::unknown));
  }
  CHECK_FALSE(mpi_in(line("libmpi.so.12")).knows_pmix);
  CHECK(mpi_in(line("libmpi.so.12") + line("libpmix.so.2")).knows_pmix);
  CHECK(mpi_in(line("libmpi.so.40") + line("libopen-rte.so.40")).knows_pmi2);
  CHECK_FALSE(mpi_in(line("libmpi.so.40") + line("libpmix.so.2")).knows_pmi2);
  CHECK(mpi_of({"sh", "-c", "true"}).mpi == Mpi::unknown);
  CHECK(mpi_of({"env", "A=b"}).mpi == Mpi::unknown);
  CHECK(mpi_of({}).mpi == Mpi::unknown);
  CHECK(mpi_of({"/nowhere/program"}).mpi == Mpi::unknown);
}

TEST_CASE("the launcher is that of the program's MPI, never that of another") {
  using spec::Launcher;

  struct Case {
    Launcher asked;
    const char* library;
    bool mpirun, mpiexec;
    const char* types;  // srun --mpi=list
    std::optional<Launcher> chosen;
    const char* why;  // in the reason, or in the error
    unsigned ranks = 4;
    bool local = false;
    const char* type = "";  // --mpi
  };

  const char *all = "pmix\npmi2\nnone", *pmix = "pmix\nnone", *none = "none", *pmi2 = "pmi2\nnone";
  const char *open = "libmpi.so.40", *open4 = "libmpi.so.40 libopen-rte.so.40",
             *mpich = "libmpich.so.12", *twice = "a world of one";
  const auto automatic = Launcher::automatic;
  for (const Case& c : {
           Case{automatic, mpich, true, true, all, Launcher::mpiexec, "libmpich.so.12"},
           {automatic, open, true, true, all, Launcher::mpirun, "libmpi.so.40"},
           {automatic, "", true, true, all, Launcher::mpirun, "it is on this node"},
           {automatic, "", false, true, all, Launcher::srun, "no mpirun"},
           {automatic, "", false, true, all, Launcher::mpiexec, "no mpirun", 4, true},
           {automatic, mpich, true, false, all, Launcher::srun, "no mpiexec"},
           {automatic, mpich, true, false, pmix, {}, twice},
           {automatic, mpich, true, false, pmix, Launcher::mpirun, "no mpiexec", 1},
           {automatic, mpich, true, false, all, {}, twice, 4, true},
           {automatic, open, false, true, all, Launcher::srun, "no mpirun"},
           {automatic, open, false, true, none, {}, twice},
           {Launcher::mpirun, mpich, true, true, all, {}, twice},
           {Launcher::mpirun, mpich, true, true, all, Launcher::mpirun, "requested", 1},
           {Launcher::mpiexec, open, true, true, all, {}, twice},
           {Launcher::mpiexec, "", true, true, all, Launcher::mpiexec, "requested"},
           {Launcher::mpiexec, mpich, true, false, all, {}, "no mpiexec"},
           {Launcher::srun, mpich, true, true, pmix, {}, twice},
           {Launcher::srun, mpich, true, true, pmix, Launcher::srun, "", 4, false, "pmix"},
           {Launcher::srun, mpich, true, true, all, Launcher::srun, "requested"},
           {Launcher::srun, open, true, true, none, {}, twice},
           {Launcher::srun, open, true, true, pmi2, {}, twice},
           {Launcher::srun, open4, true, true, pmi2, Launcher::srun, "requested"},
           {Launcher::srun, "", true, true, none, Launcher::srun, "requested"},
       }) {
    CAPTURE(spec::to_string(c.asked));
    CAPTURE(c.library);
    CAPTURE(c.why);
    LaunchRequest request = request_for(1, c.ranks);
    request.plan.launcher = c.asked;
    request.plan.srun_mpi = c.type;
    request.local = c.local;
    request.program_mpi = mpi_in(c.library);
    const auto choice = choose_launcher(request, [&](Launcher one) -> Result<std::string> {
      if (one == Launcher::srun) return c.types;
      if (one == Launcher::mpirun && c.mpirun) return "mpirun (Open MPI) 4.1.4";
      if (one == Launcher::mpiexec && c.mpiexec) return "mpiexec\nHYDRA build details:";
      return fail(Errc::not_found, one == Launcher::mpiexec ? "no mpiexec" : "not here");
    });
    REQUIRE(choice.has_value() == c.chosen.has_value());
    if (choice) CHECK(choice->launcher == *c.chosen);
    CHECK((choice ? choice->why : choice.error().message).find(c.why) != std::string::npos);
    if (!choice) CHECK_FALSE(choice.error().hint.empty());
  }
}
