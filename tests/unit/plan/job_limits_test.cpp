// SPDX-License-Identifier: Apache-2.0
// Limits that a job exceeds by itself, as a real Slurm keeps it waiting for them
// (tests/integration/accounting_limits.py).
#include "core/plan/layout/job_limits.hpp"

#include "tests/unit/plan/requests.hpp"

#include <initializer_list>
#include <utility>

namespace dts::plan {
namespace {

using Of = JobLimit::Of;

JobLimit limit(Of of, std::uint64_t amount) {
  JobLimit made;
  made.of = of;
  made.amount = amount;
  made.name = "Max=" + std::to_string(amount);
  made.place = "QOS small gives a job";
  made.instead = "another --qos";
  return made;
}

JobLimit of_type(const char* type, JobLimit made) {
  made.gpu_type = type;
  return made;
}

JobLimit per_node(JobLimit made) {
  made.is_per_node = true;
  return made;
}

JobLimit at_least(JobLimit made) {
  made.is_least = true;
  return made;
}

JobLimit with_time(JobLimit made) {
  made.is_with_time = true;
  return made;
}

// Nodes of 8 CPUs, 4 GPUs and 12000 MiB that jobs share.
ClusterView with_limits(std::initializer_list<JobLimit> limits) {
  ClusterView view;
  view.nodes = {{"n0", 8, 4, 12000}, {"n1", 8, 4, 12000}};
  ClusterView::Partition low{"low", true, {"n0", "n1"}, seconds(0)};
  low.memory = MemoryRules{.is_shared_out = true};
  low.limits = limits;
  ClusterView::Partition free{"free", false, {"n0", "n1"}, seconds(0)};
  view.partitions = {low, free};
  return view;
}

// Two nodes with 2 GPUs and 2 ranks each, 2 CPUs for each of them, for an hour.
spec::JobSpec job() {
  spec::JobSpec spec = request(2, 2);
  spec.cpus_per_task = 2;
  spec.memory_mib = 500;
  spec.time = seconds(3600);
  return spec;
}

// The option at fault; empty: the job is accepted.
std::string fault_at(const JobLimit& one, const spec::JobSpec& spec = job()) {
  const auto plan = make_plan(spec, with_limits({one}), "trainer");
  if (plan) return "";
  REQUIRE(plan.error().size() == 1);
  return plan.error().front().where;
}

}  // namespace

TEST_CASE("a job beyond a limit is refused, with the option at fault") {
  const std::pair<JobLimit, const char*> cases[] = {
      {limit(Of::nodes, 1), "--nodes"},
      {limit(Of::nodes, 2), ""},
      {limit(Of::cpus, 7), "--cpus-per-task"},
      {limit(Of::cpus, 8), ""},
      {per_node(limit(Of::cpus, 3)), "--cpus-per-task"},
      {per_node(limit(Of::cpus, 4)), ""},
      {limit(Of::memory, 999), "--mem"},
      {limit(Of::memory, 1000), ""},
      {limit(Of::gpus, 3), "--gpus-per-node"},
      {limit(Of::gpus, 4), ""},
      {per_node(limit(Of::gpus, 1)), "--gpus-per-node"},
      {of_type("a100", limit(Of::gpus, 0)), ""},  // which GPUs it gets is not known
      {limit(Of::time, 59), "--time"},
      {limit(Of::time, 60), ""},
      {with_time(limit(Of::cpus, 479)), "--cpus-per-task"},
      {with_time(limit(Of::cpus, 480)), ""},
      {at_least(limit(Of::nodes, 3)), "--nodes"},
      {at_least(limit(Of::nodes, 2)), ""},
      {at_least(limit(Of::gpus, 5)), "--gpus-per-node"},
      {at_least(limit(Of::gpus, 4)), ""},
      {at_least(limit(Of::cpus, 16)), ""},  // Slurm may give it whole nodes
      {at_least(limit(Of::cpus, 17)), "--cpus-per-task"},
      {at_least(limit(Of::memory, 99999)), ""},
      {limit(Of::elements, 1), ""},
      {limit(Of::billing, 7), "--cpus-per-task"},  // each processor is one unit
      {limit(Of::billing, 8), ""},
      {with_time(limit(Of::billing, 479)), "--cpus-per-task"},
      {with_time(limit(Of::billing, 480)), ""},
      {at_least(limit(Of::billing, 99)), ""},
  };
  for (const auto& one : cases) {
    CAPTURE(static_cast<int>(one.first.of));
    CAPTURE(one.first.amount);
    CHECK(fault_at(one.first) == one.second);
  }
}

TEST_CASE("billing units are counted with the weights of the partition") {
  const auto fault = [](std::uint64_t most, BillingRule rule) -> std::string {
    ClusterView view = with_limits({limit(Of::billing, most)});
    view.partitions[0].billing =
        BillingWeights{.processor = 1, .memory_mib = 0.01, .gpu = 5, .gpu_types = {{"a100", 10}}};
    view.billing_rule = rule;
    spec::JobSpec spec = job();
    spec.gpu_type = "A100";
    const auto plan = make_plan(spec, view, "trainer");
    return plan ? "" : plan.error().front().where;
  };
  // 8 processors, 1000 MiB, 4 GPUs, and 4 of this type: 8, 10, 20 and 40 units.
  for (const auto& [rule, units] : {std::pair{BillingRule::sum, 78U},
                                    {BillingRule::largest, 40U},
                                    {BillingRule::largest_and_gpus, 70U}}) {
    CHECK(fault(units - 1, rule) == "--gpus-per-node");
    CHECK(fault(units, rule).empty());
  }
}

TEST_CASE("a job without a time limit has the default one of its partition") {
  ClusterView view = with_limits({limit(Of::time, 29)});
  view.partitions[0].default_time = seconds(1800);
  spec::JobSpec spec = job();
  CHECK(!make_plan(spec, view, "trainer"));
  spec.time.reset();
  const auto plan = make_plan(spec, view, "trainer");
  REQUIRE(!plan);
  CHECK(
      plan.error().front().message ==
      "no --time requested, and the partition's default is 00:30:00, but QOS small gives a job at "
      "most 00:29:00 (Max=29)");
  spec.time = seconds(1740);
  CHECK(make_plan(spec, view, "trainer"));
  spec.time.reset();
  view.partitions[0].limits = {with_time(limit(Of::cpus, 239))};
  const auto with_minutes = make_plan(spec, view, "trainer");
  REQUIRE(!with_minutes);
  CHECK(with_minutes.error().front().message ==
        "8 CPUs requested, for 30 minutes by the partition's default (240 CPU-minutes), but QOS "
        "small gives a job at most 239 CPU-minutes (Max=239)");
  CHECK(contains(with_minutes.error().front().hint, "or for a shorter --time"));
  view.may_change_jobs = true;  // the site may set another time limit
  CHECK(make_plan(spec, view, "trainer"));
}

TEST_CASE("a limit about which the request says nothing is left to Slurm") {
  spec::JobSpec spec = job();
  spec.time.reset();
  spec.memory_mib.reset();
  CHECK(fault_at(limit(Of::time, 1), spec).empty());
  CHECK(fault_at(with_time(limit(Of::cpus, 1)), spec).empty());
  CHECK(fault_at(limit(Of::memory, 1), spec).empty());
  spec.time = seconds::max();
  CHECK(fault_at(limit(Of::time, 99999), spec) == "--time");
  spec.slurm["time-min"] = "10";
  CHECK(fault_at(limit(Of::time, 1), spec).empty());
  spec.slurm["overcommit"] = "";
  CHECK(fault_at(limit(Of::cpus, 1), spec).empty());
  spec.slurm["exclusive"] = "";
  CHECK(fault_at(at_least(limit(Of::gpus, 8)), spec).empty());
}

TEST_CASE("the message names the limit, its place, both amounts, and what to do") {
  const auto plan = make_plan(job(), with_limits({with_time(limit(Of::cpus, 10))}), "trainer");
  REQUIRE(!plan);
  CHECK(plan.error().front().message ==
        "8 CPUs for 60 minutes (480 CPU-minutes) requested, but QOS small gives a job at most 10 "
        "CPU-minutes (Max=10)");
  CHECK(plan.error().front().hint == "ask for less, or for another --qos");
  JobLimit closed = limit(Of::every_job, 0);
  closed.place = "partition low starts no job of account physics (AllowAccounts=chemistry)";
  closed.instead = "another --account or --partition";
  CHECK(fault_at(closed) == "--account");
}

TEST_CASE("a job is refused only if it exceeds a limit in each of its partitions") {
  spec::JobSpec spec = job();
  spec.partition = "low,free";
  CHECK(fault_at(limit(Of::nodes, 1), spec).empty());
  ClusterView view = with_limits({limit(Of::nodes, 1)});
  view.partitions[1].limits = {limit(Of::gpus, 1)};
  const auto plan = make_plan(spec, view, "trainer");
  REQUIRE(!plan);
  CHECK(plan.error().size() == 2);
}

TEST_CASE("where the site may change a job, a limit is only a remark") {
  ClusterView view = with_limits({limit(Of::nodes, 1)});
  view.may_change_jobs = true;
  const Plan plan = planned(job(), view);
  CHECK(why(plan, "may never start") ==
        "--nodes: 2 nodes requested, but QOS small gives a job at most 1 node (Max=1)");
}

TEST_CASE("a held job may be changed before it starts, and a reservation has its own partition") {
  spec::JobSpec spec = job();
  spec.slurm["hold"] = "";
  CHECK(fault_at(limit(Of::nodes, 1), spec).empty());
  spec = job();
  spec.slurm["reservation"] = "course";
  CHECK(fault_at(limit(Of::nodes, 1), spec).empty());
  spec.partition = "low";
  CHECK(fault_at(limit(Of::nodes, 1), spec) == "--nodes");
}

TEST_CASE("GPUs that are requested in another way may be enough") {
  spec::JobSpec spec = job();
  CHECK(fault_at(at_least(limit(Of::gpus, 8)), spec) == "--gpus-per-node");
  spec.slurm_site["tres-per-job"] = "gres/gpu:8";
  CHECK(fault_at(at_least(limit(Of::gpus, 8)), spec).empty());
}

TEST_CASE("the option at fault, whichever way CPUs were requested") {
  spec::JobSpec spec = job();
  spec.time = seconds::max();
  CHECK(fault_at(with_time(limit(Of::cpus, 10)), spec) == "--time");
  spec.cpus_per_task.reset();
  spec.cpus_per_gpu = 4;
  CHECK(fault_at(limit(Of::cpus, 5), spec) == "--cpus-per-gpu");
}

TEST_CASE("ranks that request no CPUs get no more than a limit allows") {
  spec::JobSpec spec = job();
  spec.cpus_per_task.reset();
  CHECK(planned(spec, with_limits({})).cpus_per_task == 4);
  const Plan plan = planned(spec, with_limits({limit(Of::cpus, 8), per_node(limit(Of::cpus, 7))}));
  CHECK(plan.cpus_per_task == 2);
  CHECK(why(plan, "cpus-per-task = 2") == "the most within Max=8");
  CHECK(fault_at(limit(Of::cpus, 3), spec) == "--ntasks-per-node");
  ClusterView view = with_limits({limit(Of::cpus, 8)});
  view.may_change_jobs = true;
  CHECK(planned(spec, view).cpus_per_task == 4);
}

TEST_CASE("more elements than one may submit") {
  Diagnostics problems;
  check_elements(3, job(), with_limits({limit(Of::elements, 3)}), problems);
  CHECK(problems.empty());
  check_elements(4, job(), with_limits({limit(Of::elements, 3)}), problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().where == "--array");
}

}  // namespace dts::plan
