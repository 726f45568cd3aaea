// SPDX-License-Identifier: Apache-2.0
// What is refused, with which words.
#include "tests/unit/plan/requests.hpp"

namespace dts::plan {

TEST_CASE("a node too small in one way is still held against the rest of the request") {
  spec::JobSpec spec = request(5, 9);
  spec.memory_mib = 900 * 1024;
  spec.cpus_per_task = 100;
  const Diagnostics problems = refused(spec, cluster());
  REQUIRE(problems.size() == 4);
  CHECK(problems[0].where == "--nodes");
  CHECK(problems[1].where == "--gpus-per-node");
  CHECK(problems[2].where == "--mem");
  CHECK(problems[3].where == "--cpus-per-task");
}

TEST_CASE("each refusal names the option, the numbers and what exists") {
  struct Row {
    const char* option;
    const char* message;
    const char* hint;
    void (*change)(spec::JobSpec&);
  };

  const Row table[] = {
      {"--nodes", "at least 1, not 0", "", [](auto& s) { s.nodes = 0; }},
      {"--nodes",
       "4 nodes requested, but there are 3 in partition low",
       "ask for 3 or fewer",
       [](auto& s) { s.nodes = 4; }},
      {"--partition",
       "no partition `lwo`",
       "did you mean `low`? there are: low, cpu",
       [](auto& s) { s.partition = "lwo"; }},
      {"--partition",
       "no partition `xyzzy`",
       "there are: low, cpu",
       [](auto& s) { s.partition = "xyzzy"; }},
      {"--partition",
       "no partition `lwo`",
       "did you mean `low`?",
       [](auto& s) { s.partition = "cpu,lwo"; }},
      {"--gpus-per-node",
       "9 GPUs per node requested, but the maximum in partition cpu,low is 8",
       "nodes n[0-1] have 8",
       [](auto& s) {
         s.gpus_per_node = 9;
         s.partition = "cpu,low";
       }},
      {"--gpus-per-node",
       "9 GPUs per node requested, but the maximum in partition low is 8",
       "nodes n[0-1] have 8",
       [](auto& s) { s.gpus_per_node = 9; }},
      {"--gpus-per-node",
       "only 2 nodes in partition low have 8 GPUs, 3 requested",
       "n[0-1]",
       [](auto& s) {
         s.gpus_per_node = 8;
         s.nodes = 3;
       }},
      {"--gpus-per-node",
       "2 GPUs per node requested, but the maximum in partition cpu is 0",
       "nodes c[0-1] have 0",
       [](auto& s) {
         s.gpus_per_node = 2;
         s.partition = "cpu";
       }},
      {"--gpus-per-node",
       "no node in partition low has GPUs of type `h100`",
       "there are: a100",
       [](auto& s) {
         s.gpus_per_node = 8;
         s.gpu_type = "h100";
       }},
      {"--gpus-per-node",
       "only 1 node in partition low has 8 GPUs of type a100, 2 requested",
       "n0",
       [](auto& s) {
         s.gpus_per_node = 8;
         s.gpu_type = "a100";
         s.nodes = 2;
       }},
      {"--gpus-per-node",
       "no node in partition low without n0 has GPUs of type `a100`",
       "the site names no types of GPUs there; use --gpus-per-node 8",
       [](auto& s) {
         s.gpus_per_node = 8;
         s.gpu_type = "a100";
         s.exclude = "n0";
       }},
      {"--gpus-per-node",
       "8 GPUs per node requested, but the maximum in partition cpu is 0",
       "nodes c[0-1] have 0",
       [](auto& s) {
         s.gpus_per_node = 8;
         s.gpu_type = "a100";
         s.partition = "cpu";
       }},
      {"--ntasks-per-node",
       "9 ranks per node for 8 GPUs: 1 would have none",
       "--ntasks-per-node 8",
       [](auto& s) {
         s.gpus_per_node = 8;
         s.ntasks_per_node = 9;
       }},
      {"--ntasks-per-node",
       "33 CPUs per node requested, but the maximum in partition low is 32",
       "nodes n[0-1] have 32",
       [](auto& s) { s.ntasks_per_node = 33; }},
      {"--cpus-per-task",
       "40 CPUs per node requested, but the maximum in partition low is 32",
       "n[0-1]",
       [](auto& s) {
         s.gpus_per_node = 8;
         s.cpus_per_task = 5;
       }},
      {"--cpus-per-task", "at least 1, not 0", "", [](auto& s) { s.cpus_per_task = 0; }},
      {"--mem",
       "65000 MiB of memory per node requested, but the maximum in partition low is 64000",
       "n[0-1]",
       [](auto& s) { s.memory_mib = 65000; }},
      {"--time",
       "01:00:01 exceeds partition low's limit of 01:00:00",
       "",
       [](auto& s) { s.time = seconds(3601); }},
      {"--job-name", "contains a byte that is not", "", [](auto& s) { s.job_name = "a\nb"; }},
      {"--signal-margin",
       "600 s + 60 s",
       "use at most 539",
       [](auto& s) {
         s.time = seconds(600);
         s.signal_margin = seconds(600);
       }},
      {"--stop-signal", "cannot be caught", "", [](auto& s) { s.stop_signal = 9; }},
      {"--qos", "not part of a printable UTF-8", "", [](auto& s) { s.slurm["qos"] = "a\nb"; }},
      {"command",
       "argument 1 holds a NUL byte",
       "",
       [](auto& s) {
         s.command = {"a", std::string("b\0c", 3)};
       }},
      {"command",
       "the program and its 60 arguments are 600006 bytes long, at most 524288",
       "in a file",
       [](auto& s) {
         s.command.assign(61, std::string(9'999, 'x'));
         s.command.front() = "a.out";
       }},
      {"command", "the program's name is empty", "--", [](auto& s) { s.command = {""}; }},
  };
  for (const Row& row : table) {
    spec::JobSpec spec = request(2);
    row.change(spec);
    const Diagnostics problems = refused(spec, cluster());
    CAPTURE(to_error(problems).message);
    CAPTURE(std::string(row.message));
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].where == row.option);
    CHECK(contains(problems[0].message, row.message));
    CHECK(contains(problems[0].hint, row.hint));
  }
}

TEST_CASE("a type of GPUs is not refused if the scheduler names no types at all") {
  spec::JobSpec spec = request(2);
  spec.gpus_per_node = 8;
  spec.gpu_type = "h100";
  ClusterView view = cluster();
  CHECK_FALSE(make_plan(spec, view, "").has_value());
  for (ClusterView::Node& node : view.nodes) node.gpu_types.clear();
  CHECK(make_plan(spec, view, "").has_value());
}

TEST_CASE("more ranks than GPUs are planned with --ntasks-per-gpu") {
  spec::JobSpec spec = request(2);
  spec.gpus_per_node = 4;
  spec.ntasks_per_node = 8;
  CHECK_FALSE(make_plan(spec, {}, "").has_value());
  spec.slurm["ntasks-per-gpu"] = "2";
  const auto plan = make_plan(spec, {}, "");
  REQUIRE(plan.has_value());
  CHECK(plan->ntasks_per_node == 8);
}

TEST_CASE("all problems of a request are reported at once") {
  spec::JobSpec spec = request(0, 4);
  spec.job_name = "a\nb";
  spec.ntasks_per_node = 5;
  CHECK(refused(spec).size() == 3);
}

TEST_CASE("a cluster without a default partition needs --partition") {
  ClusterView view = cluster();
  view.partitions[0].is_default = false;
  CHECK(refused(request(1), view)[0].message == "none given, and the cluster has no default");
}

TEST_CASE("counts that multiply past any machine are refused, not wrapped around") {
  spec::JobSpec spec = request(65535);
  spec.ntasks_per_node = 65535;
  CHECK(contains(refused(spec)[0].message, "4294836225 ranks in all"));
  spec.ntasks_per_node = 4294967295U;
  CHECK_FALSE(refused(spec).empty());
}

TEST_CASE("a job whose partitions are all down is planned, and told to wait") {
  ClusterView view = cluster();
  view.partitions[0].up = false;
  CHECK(why(planned(request(1), view), "waits") ==
        "partition low is not up now: jobs may wait in it, none starts");
  spec::JobSpec spec = request(1);
  spec.partition = "low,cpu";
  CHECK(why(planned(spec, view), "waits") == "(no reason)");
  view.partitions[1].up = false;
  CHECK(why(planned(spec, view), "waits").starts_with("partition low,cpu is not up"));
}

TEST_CASE("a job in a partition without nodes is planned, and told to wait") {
  ClusterView view = cluster();
  view.partitions.push_back({.name = "later", .nodes = {}});
  spec::JobSpec spec = request(1);
  spec.partition = "later";
  CHECK(why(planned(spec, view), "waits") ==
        "partition later has no nodes now: jobs may wait in it, none starts");
  spec.partition = "later,low";
  CHECK(why(planned(spec, view), "waits") == "(no reason)");
  view.partitions[0].up = false;
  CHECK(why(planned(spec, view), "waits").starts_with("partition later,low is not up"));
  // The nodes are hidden, or not named.
  spec.partition = "later";
  for (ClusterView::Partition& partition : view.partitions) partition.nodes.clear();
  CHECK(why(planned(spec, view), "waits") == "(no reason)");
}

TEST_CASE("more ranks on a node than srun starts are refused with srun only") {
  spec::JobSpec spec = request(2);
  spec.ntasks_per_node = 4;
  ClusterView view = cluster();
  view.max_step_ranks_per_node = 3;
  CHECK(why(planned(spec, view), "not by srun") ==
        "srun starts at most 3 ranks on a node (MaxTasksPerNode)");
  const auto reread = plan_from_json(to_json(planned(spec, view)));
  REQUIRE(reread);
  CHECK(reread->most_srun_ranks == 3);
  spec.launcher = spec::Launcher::mpirun;
  CHECK(why(planned(spec, view), "not by srun") == "(no reason)");
  spec.launcher = spec::Launcher::srun;
  const Diagnostics problems = refused(spec, view);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].where == "--ntasks-per-node");
  CHECK(problems[0].message ==
        "4 ranks per node requested, but srun starts at most 3 ranks on a node (MaxTasksPerNode)");
  CHECK(problems[0].hint == "ask for fewer, or use --launcher mpirun");
  for (const unsigned enough : {0U, 4U}) {
    view.max_step_ranks_per_node = enough;
    CHECK(planned(spec, view).ntasks_per_node == 4);
  }
}

TEST_CASE("a job that exceeds a limit of its partition is refused") {
  ClusterView view = cluster();
  ClusterView::Partition& low = view.partitions[0];
  low.min_nodes = 2;
  low.max_nodes = 2;
  low.max_memory_mib = 2000;
  spec::JobSpec spec = request(3);
  spec.memory_mib = 4000;
  const Diagnostics many = refused(spec, view);
  REQUIRE(many.size() == 2);
  CHECK(many[0].message == "3 nodes requested, but partition low gives a job at most 2");
  CHECK(many[1].message ==
        "4000 MiB requested, but partition low gives a job at most 2000 of a node");
  const Diagnostics few = refused(request(1), view);
  REQUIRE(few.size() == 1);
  CHECK(few[0].message == "1 node requested, but partition low gives a job at least 2");
  // Spare nodes are part of the job.
  spec = request(1);
  spec.spares = 1;
  CHECK(planned(spec, view).nodes == 1);
  // A QOS may lift both limits on nodes, and that on time.
  spec = request(3);
  spec.slurm["qos"] = "wide";
  spec.time = seconds(3601);
  CHECK(planned(spec, view).nodes == 3);
  // One of several partitions permits it.
  spec.slurm.clear();
  spec.time.reset();
  spec.nodes = 1;
  spec.partition = "low,cpu";
  CHECK(planned(spec, view).nodes == 1);
}

}  // namespace dts::plan
