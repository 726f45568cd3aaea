// SPDX-License-Identifier: Apache-2.0
// The CPUs that ranks get by default, and requests for more than a site gives, as a real Slurm
// accepts and refuses them (tests/integration/node_cpus.py).
#include "tests/unit/plan/requests.hpp"

#include <utility>

namespace dts::plan {
namespace {

using Slurm = std::map<std::string, std::string>;

// Nodes of 8 cores with two threads each.
ClusterView threaded(unsigned reserved_cpus = 0, unsigned max_cpus_per_node = 0) {
  ClusterView view;
  for (const char* name : {"n0", "n1"}) {
    ClusterView::Node node{name, 16, 4, 8000};
    node.cpus_per_core = 2;
    node.reserved_cpus = reserved_cpus;
    view.nodes.push_back(node);
  }
  ClusterView::Partition low{"low", true, {"n0", "n1"}, std::chrono::seconds(0)};
  low.max_cpus_per_node = max_cpus_per_node;
  view.partitions.push_back(low);
  return view;
}

spec::JobSpec with(Slurm options, std::optional<unsigned> cpus_per_task = std::nullopt) {
  spec::JobSpec spec = request(2, 4);
  spec.slurm = std::move(options);
  spec.cpus_per_task = cpus_per_task;
  return spec;
}

}  // namespace

TEST_CASE("ranks get the CPUs of the threads that the job uses") {
  struct Row {
    Slurm options;
    unsigned cpus, smt;
  };

  for (const Row& row : {Row{{}, 4, 0},
                         {{{"hint", "multithread"}}, 4, 0},
                         {{{"hint", "nomultithread"}}, 2, 1},
                         {{{"hint", "compute_bound"}}, 2, 1},
                         {{{"hint", "memory_bound"}}, 2, 1},
                         {{{"threads-per-core", "1"}}, 2, 1},
                         {{{"threads-per-core", "2"}}, 4, 2},
                         {{{"extra-node-info", "*:*:1"}}, 2, 1},
                         {{{"extra-node-info", "1:8"}}, 4, 0}}) {
    const Plan plan = planned(with(row.options), threaded());
    CHECK(plan.cpus_per_task == row.cpus);
    CHECK(plan.smt == row.smt);
  }
  const Plan plan = planned(with({{"hint", "nomultithread"}}), threaded());
  CHECK(why(plan, "cpus-per-task = 2") == "8 CPUs per node with 1 thread per core / 4 ranks");
}

TEST_CASE("ranks that share no core get whole ones, and no more of them than a node has") {
  ClusterView view = threaded(2);
  const auto planned_with = [&](Slurm options) { return planned(with(std::move(options)), view); };
  CHECK(planned_with({}).cpus_per_task == 3);
  CHECK(planned_with({{"ntasks-per-core", "1"}}).cpus_per_task == 2);
  view.one_rank_per_core = true;
  CHECK(planned_with({}).cpus_per_task == 2);
  CHECK(why(planned_with({}), "cpus-per-task") == "14 CPUs per node in whole cores / 4 ranks");
  CHECK(planned_with({{"ntasks-per-core", "2"}}).cpus_per_task == 3);
  CHECK(planned_with({{"hint", "nomultithread"}}).cpus_per_task == 1);
  CHECK(planned_with({{"hint", "multithread"}}).cpus_per_task == 2);  // with GPUs
  CHECK(planned_with({{"overcommit", ""}}).cpus_per_task == 3);
  spec::JobSpec spec = with({}, 1);
  spec.gpus_per_node.reset();
  CHECK(planned(spec, view).ntasks_per_node == 7);
  spec.slurm = {{"hint", "multithread"}};
  CHECK(planned(spec, view).ntasks_per_node == 14);
  spec.slurm["ntasks-per-core"] = "1";
  CHECK(planned(spec, view).ntasks_per_node == 7);
  spec.slurm.clear();
  spec.cpus_per_task = 3;
  CHECK(planned(spec, view).ntasks_per_node == 3);
  spec.ntasks_per_node = 4;
  const Diagnostics problems = refused(spec, view);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message ==
        "16 CPUs per node requested, but the maximum in partition low, where no two ranks share a "
        "core, is 14");
}

TEST_CASE("ranks that share no core take the CPUs of a core of each node, not of the largest one") {
  ClusterView view = threaded();
  view.one_rank_per_core = true;
  view.nodes[0].cpus = view.nodes[1].cpus = 8;
  view.nodes[1].cpus_per_core = 1;
  spec::JobSpec spec = request(1);
  spec.ntasks_per_node = 8;
  CHECK(planned(spec, view).cpus_per_task == 1);
  const auto problem = [&] {
    const Diagnostics problems = refused(spec, view);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].where == "--ntasks-per-node");
    return problems[0].message + "; " + problems[0].hint;
  };
  spec.nodes = 2;
  CHECK(
      problem() ==
      "only 1 node in partition low, where no two ranks share a core, has room for 8 ranks with 1 "
      "CPU, 2 requested; n1: ask for fewer nodes or fewer ranks with 1 CPU");
  spec.ntasks_per_node = 9;
  CHECK(
      problem() ==
      "9 ranks with 1 CPU per node requested, but the maximum in partition low, where no two ranks "
      "share a core, is 8; node n1 has room for 8");
}

TEST_CASE("the number of threads for binding is the job's own, if it names one") {
  spec::JobSpec spec = with({{"threads-per-core", "1"}});
  spec.smt = 2;
  CHECK(planned(spec, threaded()).smt == 2);
}

TEST_CASE("where the site counts cores as CPUs, threads change nothing") {
  ClusterView view = threaded();
  for (ClusterView::Node& node : view.nodes) node.cpus_per_core = 1;
  CHECK(planned(with({{"hint", "nomultithread"}}), view).cpus_per_task == 4);
}

TEST_CASE("ranks get no CPUs that the system or the partition withholds") {
  CHECK(planned(with({}), threaded(2)).cpus_per_task == 3);
  CHECK(planned(with({}), threaded(0, 12)).cpus_per_task == 3);
  CHECK(planned(with({{"hint", "nomultithread"}}), threaded(0, 12)).cpus_per_task == 2);
  CHECK(planned(with({{"hint", "nomultithread"}}), threaded(0, 4)).cpus_per_task == 1);
  // A site may ignore both options, so a job relies neither on more nor on fewer reserved cores.
  CHECK(planned(with({{"core-spec", "2"}}), threaded(2)).cpus_per_task == 3);
  CHECK(planned(with({{"core-spec", "0"}}), threaded(4)).cpus_per_task == 3);
  CHECK(planned(with({{"thread-spec", "4"}}), threaded()).cpus_per_task == 3);
  CHECK(planned(with({{"core-spec", "0"}}, 4), threaded(4)).cpus_per_task == 4);
}

TEST_CASE("requests for withheld CPUs are refused") {
  const auto problem = [](const spec::JobSpec& spec, const ClusterView& view) {
    const Diagnostics problems = refused(spec, view);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].where == "--cpus-per-task");
    return problems[0].message + "; " + problems[0].hint;
  };
  CHECK(problem(with({}, 4), threaded(2)) ==
        "16 CPUs per node requested, but the maximum in partition low is 14; nodes n[0-1] have 14");
  CHECK(problem(with({{"hint", "nomultithread"}}, 4), threaded()) ==
        "16 CPUs per node requested, but the maximum in partition low with 1 thread per core is 8; "
        "nodes n[0-1] have 8");
  CHECK(problem(with({}, 4), threaded(0, 12)) ==
        "16 CPUs per node requested, but partition low gives a job at most 12 of a node; ask for "
        "fewer, or for another partition");
}

}  // namespace dts::plan
