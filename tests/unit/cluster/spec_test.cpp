// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/layout/spec.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace {

using namespace dts::cluster;

std::string problem_of(const ClusterSpec& spec) {
  const auto result = validate(spec);
  return result ? "" : result.error().message;
}

}  // namespace

TEST_CASE("the default cluster is valid and has a CPU for every GPU") {
  const ClusterSpec spec;
  CHECK(problem_of(spec).empty());
  CHECK(cpus_of(spec) == 8);
}

TEST_CASE("few GPUs still get four CPUs, rounded up to whole sockets") {
  ClusterSpec spec;
  spec.gpus_per_node = 1;
  CHECK(cpus_of(spec) == 4);
  spec.sockets = 3;
  CHECK(cpus_of(spec) == 6);
  CHECK(problem_of(spec).empty());
  spec.cpus_per_node = 2;
  CHECK(problem_of(spec).find("--sockets") != std::string::npos);
}

TEST_CASE("every bad option is named, all of them at once") {
  ClusterSpec spec;
  spec.name = "../x";
  spec.nodes = 0;
  spec.gpus_per_node = 65;
  spec.cpus_per_node = 5000;
  spec.sockets = 0;
  const std::string problem = problem_of(spec);
  for (const char* option :
       {"--name", "--nodes", "--gpus-per-node", "--cpus-per-node", "--sockets"}) {
    CAPTURE(option);
    CHECK(problem.find(option) != std::string::npos);
  }
}

TEST_CASE("jobs are held to cores by control groups only, and to real cores only") {
  ClusterSpec spec;
  CHECK(fit_machine(spec));
  CHECK(spec.cpus_per_node == 0);
  spec.constrain_cores = true;
  CHECK(problem_of(spec).find("--constrain-cores") != std::string::npos);
  spec.proctrack = Proctrack::cgroup;
  CHECK(problem_of(spec).empty());
  REQUIRE(fit_machine(spec));
  CHECK(spec.cpus_per_node >= 1);
  ++spec.cpus_per_node;
  CHECK(fit_machine(spec).error().message.find("--cpus-per-node") == 0);
}

TEST_CASE("the largest allowed cluster is allowed, one more node is not") {
  ClusterSpec spec;
  spec.nodes = 64;
  CHECK(problem_of(spec).empty());
  spec.nodes = 65;
  CHECK_FALSE(problem_of(spec).empty());
}

TEST_CASE("an extra line must be one KEY=VALUE that does not pull the ground away") {
  for (const char* line : {"",
                           "=x",
                           "KillWait",
                           "Kill Wait=1",
                           "A=1\nB=2",
                           "NodeName=x",
                           "slurmctldport=1",
                           "ProctrackType=proctrack/pgid",
                           "Include=/etc/passwd"}) {
    CAPTURE(line);
    ClusterSpec spec;
    spec.extra = {line};
    CHECK(problem_of(spec).find("--conf") != std::string::npos);
  }
  ClusterSpec spec;
  spec.extra = {"RequeueExit=85", "SchedulerParameters=a=1,b=2", "MailProg="};
  CHECK(problem_of(spec).empty());
}

TEST_CASE("a folder must be absolute and free of what slurm.conf would read as syntax") {
  for (const char* folder :
       {"", "relative", "/", "/with blank", "/with#hash", "/with[1-2]", "/with%n", "/a\"b"}) {
    CAPTURE(folder);
    CHECK_FALSE(validate_folder(folder));
  }
  CHECK(validate_folder("/home/ada/.local/state/dtsubmit/clusters/default"));
}

TEST_CASE("a folder is refused when the sockets below it would not fit in sockaddr_un") {
  const std::string longest = "/spool/n63/n63_4294967295.4294967295";
  const std::string fits(107 - longest.size() - 1, 'x');
  CHECK(validate_folder("/" + fits));
  const auto refused = validate_folder("/" + fits + "x");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().hint.find("--folder") != std::string::npos);
}

TEST_CASE("clusters live in XDG_STATE_HOME, else below HOME") {
  ::setenv("XDG_STATE_HOME", "/state", 1);
  CHECK(clusters_folder().value() == "/state/dtsubmit/clusters");
  ::setenv("XDG_STATE_HOME", "not/absolute", 1);
  ::setenv("HOME", "/home/ada", 1);
  CHECK(clusters_folder().value() == "/home/ada/.local/state/dtsubmit/clusters");
  ::unsetenv("XDG_STATE_HOME");
  ::unsetenv("HOME");
  CHECK_FALSE(clusters_folder());
}
