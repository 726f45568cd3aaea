// SPDX-License-Identifier: Apache-2.0
// Memory by request or by the site's default, as a real Slurm gives and refuses it
// (tests/integration/partition_limits.py).
#include "tests/unit/plan/requests.hpp"

#include <map>

namespace dts::plan {
namespace {

// Nodes of 8 CPUs, 2 GPUs and 12000 MiB.
ClusterView with_rules(const MemoryRules& rules, std::uint64_t max_memory_mib = 0) {
  ClusterView view;
  view.nodes = {{"n0", 8, 2, 12000}, {"n1", 8, 2, 12000}};
  ClusterView::Partition low{"low", true, {"n0", "n1"}, seconds(0)};
  low.memory = rules;
  low.max_memory_mib = max_memory_mib;
  view.partitions = {low};
  return view;
}

spec::JobSpec asking(std::map<std::string, std::string> options,
                     std::optional<std::uint64_t> memory = std::nullopt,
                     std::optional<unsigned> cpus_per_task = std::nullopt) {
  spec::JobSpec spec = request(2, 2);
  for (auto& [name, value] : options) spec.slurm[name] = value;
  spec.memory_mib = memory;
  spec.cpus_per_task = cpus_per_task;
  return spec;
}

constexpr MemoryRules k_default_per_cpu{.default_per_cpu_mib = 2500, .is_shared_out = true};
constexpr MemoryRules k_most_per_cpu{.max_per_cpu_mib = 500, .is_shared_out = true};

}  // namespace

TEST_CASE("ranks share the CPUs for which a node has memory") {
  const Plan plan = planned(asking({}), with_rules(k_default_per_cpu));
  CHECK(plan.cpus_per_task == 2);
  CHECK(why(plan, "cpus-per-task = 2") == "4 CPUs per node with 2500 MiB each / 2 ranks");
  CHECK(planned(asking({{"mem-per-cpu", "6000"}}), with_rules({.is_shared_out = true}))
            .cpus_per_task == 1);
  CHECK(planned(asking({}, 1000), with_rules(k_default_per_cpu)).cpus_per_task == 4);
  CHECK(planned(asking({{"mem-per-cpu", "100"}}), with_rules({}, 500)).cpus_per_task == 2);
  // Slurm doubles the CPUs of such a job.
  CHECK(planned(asking({{"mem-per-cpu", "600"}}), with_rules(k_most_per_cpu)).cpus_per_task == 2);
  // Jobs do not compete for memory there.
  MemoryRules not_shared = k_default_per_cpu;
  not_shared.is_shared_out = false;
  CHECK(planned(asking({}), with_rules(not_shared)).cpus_per_task == 4);
}

TEST_CASE("a job whose memory the site never gives is refused with the limit") {
  struct Row {
    spec::JobSpec spec;
    ClusterView view;
    const char *where, *message, *hint;
  };

  const Row rows[] = {
      {asking({}),
       with_rules({}, 500),
       "--mem",
       "none requested, so the job gets all memory of a node, 12000 MiB, but partition low gives a "
       "job at most 500 of a node",
       "--mem 500M"},
      {asking({}, 0), with_rules({}, 500), "--mem", "all memory of a node requested", "--mem 500M"},
      {asking({{"mem-per-cpu", "100"}}, std::nullopt, 4),
       with_rules({}, 500),
       "--mem-per-cpu",
       "8 CPUs of a node with 100 MiB each, 800 in all",
       "fewer CPUs"},
      {asking({}, std::nullopt, 4),
       with_rules(k_default_per_cpu),
       "--mem",
       "8 CPUs of a node with 2500 MiB each by the site's default, 20000 in all",
       "--mem 12000M"},
      {asking({}),
       with_rules({.default_per_gpu_mib = 9000, .is_shared_out = true}),
       "--mem",
       "2 GPUs of a node with 9000 MiB each by the site's default",
       "--mem 12000M"},
      {asking({}),
       with_rules({.default_mib = 20000, .is_shared_out = true}),
       "--mem",
       "none requested, and the site's default is 20000 MiB",
       "--mem 12000M"},
      {asking({}),
       with_rules(k_most_per_cpu),
       "--mem",
       "but partition low gives a job at most 500 MiB with each CPU, and a node has 8 CPUs",
       "--mem 4000M"},
      {asking({}, 9000), with_rules(k_most_per_cpu), "--mem", "9000 MiB requested", "--mem 4000M"},
      {asking({{"mem-per-cpu", "600"}}, std::nullopt, 3),
       with_rules(k_most_per_cpu),
       "--mem-per-cpu",
       "at most 500 MiB with each CPU",
       "fewer CPUs"}};
  for (const Row& row : rows) {
    const Diagnostics problems = refused(row.spec, row.view);
    REQUIRE(problems.size() == 1);
    CAPTURE(problems[0].message);
    CHECK(problems[0].where == row.where);
    CHECK(contains(problems[0].message, row.message));
    CHECK(contains(problems[0].hint, row.hint));
  }
}

TEST_CASE("memory within the limits is not refused") {
  CHECK(planned(asking({}), with_rules({.default_mib = 400}, 500)).nodes == 2);
  CHECK(planned(asking({}), with_rules({}, 12000)).nodes == 2);
  CHECK(planned(asking({}, 3000), with_rules(k_most_per_cpu)).nodes == 2);
  ClusterView other = with_rules({}, 500);
  other.partitions[0].memory.reset();  // another scheduler, whose default is not known
  CHECK(planned(asking({}), other).nodes == 2);
  // Slurm compares the partition's first node, which here has no GPU.
  ClusterView mixed = with_rules({}, 5000);
  mixed.nodes.push_back({"small", 8, 0, 4000});
  mixed.partitions[0].nodes.insert(mixed.partitions[0].nodes.begin(), "small");
  CHECK(planned(asking({}), mixed).nodes == 2);
}

TEST_CASE("a job that names no CPUs takes what the site gives with its GPUs") {
  ClusterView view = with_rules({});
  view.partitions[0].cpus_per_gpu = 2;
  CHECK(planned(asking({}), view).cpus_per_task == 2);
  CHECK(why(planned(asking({}), view), "cpus-per-task = 2") ==
        "2 CPUs per GPU by the site's default, 2 GPUs shared by 2 ranks");
  CHECK(planned(asking({{"exclusive", ""}}), view).cpus_per_task == 4);
  CHECK(planned(asking({}, std::nullopt, 3), view).cpus_per_task == 3);
  view.partitions[0].cpus_per_gpu = 20;  // more than there are
  CHECK(planned(asking({}), view).cpus_per_task == 4);
}

TEST_CASE("one of several partitions must take the whole job") {
  ClusterView view = with_rules({});
  view.partitions[0].max_time = seconds(600);
  ClusterView::Partition narrow = view.partitions[0];
  narrow.name = "narrow";
  narrow.max_time = seconds(3600);
  narrow.max_nodes = 1;
  view.partitions.push_back(narrow);
  spec::JobSpec spec = asking({});
  spec.partition = "low,narrow";
  spec.time = seconds(1200);
  const Diagnostics problems = refused(spec, view);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message == "none of them takes the job");
  CHECK(contains(problems[0].hint, "--time: 00:20:00 exceeds partition low's limit of 00:10:00; "));
  CHECK(contains(problems[0].hint, "--nodes: 2 nodes requested, but partition narrow gives"));
  spec.time = seconds(300);
  CHECK(planned(spec, view).nodes == 2);
}

}  // namespace dts::plan
