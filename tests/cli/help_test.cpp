// SPDX-License-Identifier: Apache-2.0
// Help texts, typing errors, and a standard output that rejects writes.
#include "core/base/text/text.hpp"
#include "tests/cli/session.hpp"

#include <fcntl.h>

#include <algorithm>

namespace {

using namespace dts;
using namespace dts::tests;

// A typing error, and what the help must say about it.
struct Slip {
  Words words;
  const char* says;
  const char* helps;
};

}  // namespace

TEST_CASE("help of the program and of every verb is as it was") {
  const Session session;
  for (const char* verb : {"",
                           "submit",
                           "run",
                           "status",
                           "why",
                           "logs",
                           "stop",
                           "cancel",
                           "requeue",
                           "topo",
                           "nodes",
                           "lint",
                           "convert",
                           "simulate",
                           "drill",
                           "check",
                           "beat"}) {
    CAPTURE(verb);
    const Words words = *verb == '\0' ? Words{"--help"} : Words{verb, "--help"};
    const Output output = session.dtsubmit(words);
    CHECK(output.exit_code == 0);
    CHECK(output.err.empty());
    check_golden(*verb == '\0' ? "help.txt" : "help-" + std::string(verb) + ".txt", output.out);
    CHECK(std::count(output.out.begin(), output.out.end(), '\n') <= 50);  // one screen
    for (const std::string& line : split(output.out, '\n')) CHECK_MESSAGE(line.size() <= 80, line);
  }
}

TEST_CASE("help fits 80 columns, also where it has no golden file") {
  const Session session;
  for (const Words& verb : std::vector<Words>{{"config"},
                                              {"render"},
                                              {"list"},
                                              {"plan"},
                                              {"doctor"},
                                              {"cluster", "up"},
                                              {"submit", "--help-all"},
                                              {"run", "--help-all"}}) {
    Words words = verb;
    words.emplace_back("--help");
    for (const std::string& line : split(session.dtsubmit(words).out, '\n'))
      CHECK_MESSAGE(line.size() <= 80, line);
  }
}

TEST_CASE("--help-all shows the rare options that --help leaves out") {
  const Session session;
  for (const char* verb : {"submit", "run"}) {
    CHECK(session.dtsubmit({verb, "--help"}).out.find("--per-rank") == std::string::npos);
    const Output all = session.dtsubmit({verb, "--help-all"});
    CHECK(all.exit_code == 0);
    CHECK(all.out.find("  --per-rank  ") != std::string::npos);
    CHECK(all.out.find("-N,--nodes N") != std::string::npos);
  }
}

TEST_CASE("no word at all, -h and --help are the same; --version names the scheduler, too") {
  const Session session;
  const std::string help = session.dtsubmit({"--help"}).out;
  CHECK(session.dtsubmit({}).out == help);
  CHECK(session.dtsubmit({"-h"}).out == help);
  const Output version = session.dtsubmit({"--version"});
  CHECK(version.exit_code == 0);
  CHECK(version.out.find("dtsubmit ") == 0);
  CHECK(version.out.find("\nscheduler: ") != std::string::npos);
  CHECK(std::count(version.out.begin(), version.out.end(), '\n') == 2);
}

TEST_CASE("a private cluster that does not exist is answered with what does") {
  const Session session;
  const Output status = session.dtsubmit({"cluster", "status", "--name", "mien"});
  CHECK(status.exit_code == 6);
  CHECK(contains(status.err,
                 "there is no cluster mien\n  help: start it: dtsubmit cluster up --name mien"));
  REQUIRE(make_folders(session.file(".local/state/dtsubmit/clusters/mine")));
  const Output down = session.dtsubmit({"cluster", "down", "--name", "mien"});
  CHECK(down.exit_code == 0);
  CHECK(contains(down.err, "warning: there is no cluster mien, so nothing was ended"));
  CHECK(contains(session.dtsubmit({"cluster", "status"}).err,
                 "there is no cluster default\n  help: those that exist: mine (--name NAME)"));
}

TEST_CASE("a slip of the pen is a usage error that names what was meant") {
  const Session session;
  for (const Slip& slip : std::vector<Slip>{
           {{"--nodse", "2", "--", "x"}, "unknown option `--nodse`", "`--nodes`"},
           {{"--nodse=2", "--", "x"}, "unknown option `--nodse`", "`--nodes`"},
           {{"submit", "--partiton", "gpu", "--", "x"},
            "unknown option `--partiton`",
            "`--partition`"},
           {{"run", "--gpu-per-node", "2", "--", "x"},
            "unknown option `--gpu-per-node`",
            "`--gpus-per-node`"},
           {{"--clusters", "c2", "--", "x"},
            "`--clusters` is an option of sbatch only",
            "SLURM_CONF"},
           {{"--wrap=hostname"}, "`--wrap` is an option of sbatch only", "after `--`"},
           {{"--name", "x", "--", "x"}, "`--name` is an option of other launchers", "--job-name"},
           {{"run", "--nproc_per_node=2", "--", "x"},
            "`--nproc_per_node` is an option of other launchers",
            "--ntasks-per-node"},
           {{"status", "--name"}, "unknown option `--name`", "help"},
           {{"status", "--jsno"}, "unknown option `--jsno`", "`--json`"},
           {{"logs", "--folow"}, "unknown option `--folow`", "`--follow`"},
           {{"logs", "--zzzzzzzzzz"}, "unknown option `--zzzzzzzzzz`", "dtsubmit logs --help"},
           {{"run", "--partition", "gpu", "--", "x"},
            "`--partition` is an option of `submit`, not of `run`",
            "dtsubmit run --help"},
           {{"run", "--json", "--", "x"},
            "`--json` is an option of `submit`, not of `run`",
            "help"},
           {{"cluster", "up", "--gpus", "2"},
            "`--gpus` is an option of `submit`, not of `up`",
            "a similar option exists: `--gpus-per-node`"},
           {{"status", "-N", "2"}, "`-N` is an option of `submit`, not of `status`", "help"},
           {{"sumbit"}, "unknown command `sumbit`", "`submit`"},
           {{"stauts"}, "unknown command `stauts`", "`status`"},
           {{"reqeue", "7"}, "unknown command `reqeue`", "`requeue`"},
           {{"sumbit", "--nodes", "2", "--", "x"}, "unknown command `sumbit`", "`submit`"},
           {{"cluster", "dwn"}, "unknown command `dwn`", "`down`"},
           {{"frobnicate"}, "there is no command `frobnicate`", "after `--`"},
           {{"python3", "--nodes", "2"}, "there is no command `python3`", "after `--`"},
           {{"submit", "train.py"}, "unexpected argument `train.py`", "after `--`"},
           {{"--nodes", "2", "train.py"}, "unexpected argument `train.py`", "after `--`"},
           {{"plan", "python3", "train.py"}, "unexpected argument `train.py`", "after `--`"},
           {{"--nodes"}, "--nodes needs a value: --nodes N", "dtsubmit submit --help"},
           {{"--sweep"}, "--sweep needs a value: --sweep NAME=VALUES", "dtsubmit submit --help"},
           {{"status", "--json=x"}, "--json takes no value", "dtsubmit status --help"},
           {{"status", "--runs", "a", "--runs", "b"}, "--runs may be given only once", "help"},
           {{"cluster", "up", "--nodes", "x"}, "--nodes: `x` is not a whole number", "help"},
           {{"cluster", "up", "--auth", "x"}, "--auth: `x` is not one of none, munge", "help"},
           {{"cluster", "up", "--grace", "x"}, "--grace: `x` is not a time", "help"},
           {{"list", "-n", "0"}, "-n: `0` is not a whole number from 1 to", "help"},
           {{"beat", "-5"}, "step: `-5` is not a whole number", "help"},
           {{"beat", "5", "--saved", "long"}, "--saved: `long` is not a number of seconds", ""},
           {{"run", "--ranks", "4", "--", "true"}, "there is no rank 4", "rank 0"},
           {{"logs", "--attempt", "0"}, "--attempt: `0` is not a whole number from 1", "help"},
           {{"cancel"}, "job is required", "dtsubmit cancel --help"},
           {{"requeue"}, "job is required", "dtsubmit requeue --help"},
           {{"logs", "--rank", "three"}, "--ranks: `three`", "0,4-7"},
           {{"logs", "--rank", "-1"}, "--ranks: `-1`", "0,4-7"},
           {{"run", "--ranks", "0;1", "--", "x"}, "--ranks: `0;1`", "0,4-7"},
           {{"agent"}, "needs --run", ""},
           {{"rank", "--run", "x"}, "needs --attempt", ""},
           {{"rank", "--run"}, "pairs", ""},
       }) {
    CAPTURE(doctest::String(slip.words.front().c_str()));
    CAPTURE(slip.says);
    const Output output = session.dtsubmit(slip.words);
    CHECK(output.exit_code == 2);
    CHECK(output.out.empty());
    CAPTURE(output.err);
    CHECK(contains(output.err, slip.says));
    CHECK(contains(output.err, slip.helps));
  }
}

TEST_CASE("a standard output that takes nothing is an error, not half a script") {
  Session session;
  session.in_child = [] {
    return ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO) < 0 ? 1 : 0;
  };
  for (const Words& words : std::vector<Words>{
           {"--help"}, {"--dry-run", "--", "true"}, {"--dry-run", "--json", "--", "true"}}) {
    const Output output = session.dtsubmit(words);
    CHECK(output.exit_code == 74);
    CHECK(contains(output.err, "cannot write to standard output"));
  }
}

TEST_CASE("colour goes to terminals only") {
  CHECK_FALSE(contains(Session().dtsubmit({"sumbit"}).err, "\033"));
}
