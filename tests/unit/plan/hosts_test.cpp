// SPDX-License-Identifier: Apache-2.0
// --hosts: the nodes of a run without a scheduler.
#include "core/plan/layout/json.hpp"
#include "tests/unit/plan/requests.hpp"

#include <algorithm>

namespace dts::plan {

TEST_CASE("--hosts names the nodes, and how many ranks each has") {
  struct Case {
    const char* hosts;
    std::optional<unsigned> tasks;
    std::vector<unsigned> ranks;
  };

  for (const Case& c : {Case{"n[1-2]", std::nullopt, {1, 1}},
                        {"n[1-2]:4", std::nullopt, {4, 4}},
                        {"n1,n2:4", std::nullopt, {1, 4}},
                        {"n1,n2:4", 2, {2, 4}},
                        {"n1:1,n2", 3, {1, 3}}}) {
    CAPTURE(c.hosts);
    spec::JobSpec spec = request(1);
    spec.hosts = c.hosts;
    spec.ntasks_per_node = c.tasks;
    const Plan plan = planned(spec);
    unsigned sum = 0, most = 0;
    REQUIRE(plan.hosts.size() == c.ranks.size());
    for (std::size_t i = 0; i < c.ranks.size(); ++i) {
      CHECK(plan.hosts[i].slots == c.ranks[i]);
      sum += c.ranks[i];
      most = std::max(most, c.ranks[i]);
    }
    CHECK(plan.nodes == 2);
    CHECK(plan.world_size == sum);
    CHECK(plan.ntasks_per_node >= most);
    CHECK(plan.launcher == spec::Launcher::ssh);
    CHECK(contains(why(plan, "launcher"), "--hosts"));
    CHECK(plan.ssh == std::vector<std::string>{"ssh"});
    const auto back = plan_from_json(to_json(plan));
    REQUIRE(back);
    CHECK(to_json(*back) == to_json(plan));
    CHECK(back->hosts.back().host == "n2");
  }
}

TEST_CASE("the words that reach a host are split at blanks") {
  spec::JobSpec spec = request(1);
  spec.hosts = "n1";
  spec.ssh_command = " ssh  -F file -p 2222 ";
  CHECK(planned(spec).ssh == std::vector<std::string>{"ssh", "-F", "file", "-p", "2222"});
}

TEST_CASE("what --hosts cannot go with is refused") {
  struct Case {
    const char* hosts;
    spec::Launcher launcher;
    unsigned nodes;
    const char* option;
    const char* words;
  };

  for (const Case& c :
       {Case{"n1,,n2", spec::Launcher::automatic, 1, "--hosts", "column 4"},
        {"n1,n2,n1:2", spec::Launcher::automatic, 1, "--hosts", "n1 is named twice"},
        {"n1,n2", spec::Launcher::automatic, 3, "--nodes", "3, but --hosts names 2"},
        {"n1,n2", spec::Launcher::mpirun, 1, "--launcher", "environment"},
        {"n1,n2", spec::Launcher::srun, 1, "--launcher", "Slurm job"},
        {"", spec::Launcher::ssh, 2, "--launcher", "outside of the job"}}) {
    CAPTURE(c.hosts);
    CAPTURE(spec::to_string(c.launcher));
    spec::JobSpec spec = request(c.nodes);
    spec.hosts = c.hosts;
    spec.launcher = c.launcher;
    const Diagnostics problems = refused(spec);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].where == c.option);
    CHECK(contains(problems[0].message, c.words));
  }
  spec::JobSpec trainer = request(1);
  trainer.hosts = "n1,n2";
  trainer.command.clear();
  CHECK(contains(refused(trainer).front().message, "MPI"));
}

}  // namespace dts::plan
