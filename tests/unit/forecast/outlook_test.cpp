// SPDX-License-Identifier: Apache-2.0
// Facts of a site and a plan, and what is made of them.
#include "core/forecast/outlook.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace dts::forecast {
namespace {

Site usual_site() {
  Site site;
  for (const char* name : {"n1", "n2", "n3", "n4"}) {
    sched::NodeInfo node;
    node.name = name;
    node.memory_mib = 1000;
    site.queue.nodes.push_back(node);
  }
  site.queue.nodes[3].away = true;
  site.partitions.resize(2);
  site.partitions[0].name = "other";
  site.partitions[1].name = "low";
  site.partitions[1].is_default = true;
  site.partitions[1].nodes = "n[1-4]";
  site.partitions[1].max_time_seconds = 7200;
  const auto add = [&](const char* id, const char* partition, const char* nodes, int end) {
    sched::QueuedJob job;
    job.id = JobId::parse(id).value();
    job.waits = *nodes == '\0';
    job.partition = partition;
    job.nodes = nodes;
    job.end_time = end;
    site.queue.jobs.push_back(job);
  };
  add("1", "low", "n[1-2]", 500);
  add("2", "other", "n2", 900);
  add("3", "low", "n4", 0);
  add("4", "low,other", "", 0);
  add("5", "other", "", 0);
  return site;
}

spec::JobSpec usual_spec() {
  spec::JobSpec spec;
  spec.memory_mib = 500;
  spec.time = std::chrono::hours(1);
  return spec;
}

plan::Plan usual_plan() {
  plan::Plan plan;
  plan.nodes = 2;
  plan.ntasks_per_node = 4;
  plan.cpus_per_task = 2;
  plan.world_size = 8;
  plan.gpus_per_node = 4;
  plan.signal_margin = std::chrono::seconds(60);
  return plan;
}

Start on(const std::string& nodes) {
  sched::Expected expected;
  expected.nodes = nodes;
  expected.partition = "low";
  return start_of(expected);
}

reliability::Model assumed() {
  reliability::Model model;
  model.failures.node_rate = 2;
  return model;
}

bool warns(const Outlook& outlook, const std::string& words) {
  return std::any_of(outlook.warnings.begin(), outlook.warnings.end(), [&](const std::string& one) {
    return one.find(words) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("a queue counts nodes and jobs, and names who has the nodes that ours would get") {
  const Site site = usual_site();
  const Queue queue = queue_of(site.queue, site.partitions[1], "n[2-4]");
  CHECK(queue.nodes == 4);
  CHECK(queue.in_use == 2);
  CHECK(queue.idle == 1);
  CHECK(queue.away == 1);
  CHECK(queue.running == 2);
  CHECK(queue.waiting == 1);
  REQUIRE(queue.holders.size() == 3);
  CHECK(queue.holders[0].job.text() == "3");  // without a limit
  CHECK(queue.holders[1].job.text() == "2");
  CHECK(queue.holders[2].end_time == 500);
  CHECK(queue.holders[2].nodes == 1);
  CHECK(queue_of(site.queue, site.partitions[1], "").holders.empty());
}

TEST_CASE("a host list that cannot be read is none") {
  Site site = usual_site();
  site.partitions[1].nodes = "n[1-";
  CHECK(queue_of(site.queue, site.partitions[1], "n[").nodes == 0);
}

TEST_CASE("the partition is the scheduler's, otherwise the job's, otherwise the default") {
  const Site site = usual_site();
  spec::JobSpec spec;
  CHECK(partition_of(site, spec, Start{})->name == "low");
  spec.partition = "other,low";
  CHECK(partition_of(site, spec, Start{})->name == "other");
  CHECK(partition_of(site, spec, on("n1"))->name == "low");
  spec.partition = "none";
  CHECK(partition_of(site, spec, Start{}) == nullptr);
}

TEST_CASE("a rejected job never starts; after any other error its start is unknown") {
  CHECK(start_of(fail(Errc::rejected, "no")).answer == Start::Answer::never);
  CHECK(start_of(fail(Errc::unreachable, "no")).answer == Start::Answer::unknown);
  CHECK(start_of(fail(Errc::invalid, "no", "help")).hint == "help");
  CHECK(std::string(to_string(Start::Answer::never)) == "never");
}

TEST_CASE("an outlook has sums, cost and goodput of the job's own size and limit") {
  const Site site = usual_site();
  const spec::JobSpec spec = usual_spec();
  const plan::Plan plan = usual_plan();
  const Outlook outlook = predict_outlook({spec, plan, {}}, &site, on("n[1-2]"), assumed());
  CHECK(outlook.size.cores == 16);
  CHECK(outlook.size.gpus == 8);
  CHECK(outlook.size.memory_mib == 1000);
  REQUIRE(outlook.cost.has_value());
  CHECK(outlook.cost->total() == 16.0);
  REQUIRE(outlook.goodput.has_value());
  CHECK(outlook.goodput->model.nodes == 2);
  CHECK(outlook.goodput->model.wall == Seconds(3600));
  CHECK(outlook.goodput->estimate.goodput > 0.9);
  CHECK(
      predict_outlook({spec, plan, {}}, &site, on("n[1-2]"), assumed()).goodput->estimate.goodput ==
      outlook.goodput->estimate.goodput);
  CHECK(warns(outlook, "1 of the 4 nodes"));
}

TEST_CASE("a site that hides its nodes has no queue to speak of") {
  Site site = usual_site();
  const spec::JobSpec spec = usual_spec();
  const plan::Plan plan = usual_plan();
  CHECK(predict_outlook({spec, plan, {}}, &site, on("n[1-2]"), assumed()).queue.has_value());
  site.queue.nodes.clear();
  CHECK_FALSE(predict_outlook({spec, plan, {}}, &site, on("n[1-2]"), assumed()).queue.has_value());
}

TEST_CASE("nodes without power delay the program, and the site bounds by how much") {
  Site site = usual_site();
  site.power_up_seconds = 300;
  site.queue.nodes[1].powered_down = true;
  site.queue.nodes[2].powered_down = true;
  const spec::JobSpec spec = usual_spec();
  const plan::Plan plan = usual_plan();
  const Outlook outlook = predict_outlook({spec, plan, {}}, &site, on("n[1-2]"), assumed());
  CHECK(outlook.powered_down == 1);
  CHECK(outlook.power_up == std::chrono::seconds(300));
  const Outlook up = predict_outlook({spec, plan, {}}, &site, on("n1"), assumed());
  CHECK(up.powered_down == 0);
  CHECK(up.power_up == std::chrono::seconds(0));
}

TEST_CASE("no start is expected in a partition that is down") {
  Site site = usual_site();
  site.partitions[1].up = false;
  const spec::JobSpec spec = usual_spec();
  const plan::Plan plan = usual_plan();
  const Outlook outlook = predict_outlook({spec, plan, {}}, &site, on("n[1-2]"), assumed());
  CHECK(outlook.start.answer == Start::Answer::unknown);
  CHECK(outlook.start.why == "partition low is not up now");
  CHECK(warns(outlook, "none starts"));
}

TEST_CASE("without a site there are sums and goodput, but no cost") {
  spec::JobSpec spec = usual_spec();
  spec.time.reset();
  const plan::Plan plan = usual_plan();
  const Outlook outlook = predict_outlook(
      {spec, plan, {}}, nullptr, start_of(fail(Errc::unreachable, "no Slurm")), assumed());
  CHECK(outlook.start.answer == Start::Answer::unknown);
  CHECK_FALSE(outlook.cost.has_value());
  CHECK_FALSE(outlook.limit.has_value());
  CHECK_FALSE(outlook.goodput->is_of_limit);
  CHECK(warns(outlook, "no --time"));
}

TEST_CASE("unusual predictions have warnings") {
  const Site site = usual_site();
  spec::JobSpec spec;
  spec.requeue = false;
  plan::Plan plan = usual_plan();
  plan.ntasks_per_node = 3;
  plan.signal_margin = std::chrono::seconds(0);
  const Outlook outlook = predict_outlook({spec, plan, {}}, &site, on("n1"), assumed());
  for (const char* words : {"4 GPUs of each node for 3 ranks: one is left over",
                            "at most 02:00:00",
                            "--signal-margin",
                            "no --mem",
                            "--no-requeue"}) {
    CAPTURE(words);
    CHECK(warns(outlook, words));
  }
}

TEST_CASE("without --time the limit is the default of the partition") {
  Site site = usual_site();
  site.partitions[1].default_time_seconds = 1800;
  spec::JobSpec spec = usual_spec();
  spec.time.reset();
  const plan::Plan plan = usual_plan();
  const Outlook outlook = predict_outlook({spec, plan, {}}, &site, on("n1"), assumed());
  CHECK(outlook.limit == std::chrono::seconds(1800));
  CHECK(warns(outlook, "no --time: the default of partition low is 00:30:00"));
}

TEST_CASE("a job with whole nodes is billed for all GPUs on them") {
  Site site = usual_site();
  for (sched::NodeInfo& node : site.queue.nodes) node.gpus = 4;
  site.partitions[1].billing = BillingWeights{.gpu = 2};
  spec::JobSpec spec = usual_spec();
  plan::Plan plan = usual_plan();
  plan.gpus_per_node = 1;
  CHECK(predict_outlook({spec, plan, {}}, &site, on("n[1-2]"), assumed()).cost->units == 4);
  spec.slurm["exclusive"] = "";
  const Outlook outlook = predict_outlook({spec, plan, {}}, &site, on("n[1-2]"), assumed());
  CHECK(outlook.cost->units == 16);
  CHECK(warns(
      outlook,
      "--exclusive: the job gets, and is billed for, all 8 GPUs of its nodes, and asks for 2"));
  spec.slurm["exclusive"] = "user";
  CHECK(predict_outlook({spec, plan, {}}, &site, on("n[1-2]"), assumed()).cost->units == 4);
  site.partitions[1].gives_whole_nodes = true;
  const Outlook by_partition = predict_outlook({spec, plan, {}}, &site, on("n[1-2]"), assumed());
  CHECK(by_partition.cost->units == 16);
  CHECK(warns(by_partition, "the partition low gives whole nodes: the job gets"));
  plan.gpus_per_node = 4;
  Start start = on("n[1-2]");
  start.expected.processors = 64;
  CHECK(warns(predict_outlook({spec, plan, {}}, &site, start, assumed()),
              "all 64 processors of its nodes, and asks for 16"));
}

TEST_CASE("spares are nodes that are paid for, and the job goes on with") {
  const spec::JobSpec spec = usual_spec();
  plan::Plan plan = usual_plan();
  plan.spares = 1;
  const Outlook outlook = predict_outlook({spec, plan, {}}, nullptr, Start{}, assumed());
  CHECK(outlook.size.nodes == 3);
  CHECK(outlook.size.cores == 24);
  CHECK(outlook.size.memory_mib == 1500);
  CHECK(outlook.goodput->model.nodes == 2);
  CHECK(outlook.goodput->model.policy.spares == 1);
}

TEST_CASE("the roles of a heterogeneous job add up, each with its own memory") {
  spec::JobSpec spec = usual_spec();
  spec.heterogeneous = true;
  spec.roles.resize(2);
  spec.roles[0].job.memory_mib = 0;
  spec.roles[1].job.slurm["mem-per-gpu"] = "100M";
  spec.roles[1].job.gpu_type = "a100";
  plan::Plan server = usual_plan();
  server.gpus_per_node = 0;
  const Size size = size_of(spec, usual_plan(), {server, usual_plan()});
  CHECK(size.nodes == 4);
  CHECK(size.ranks == 16);
  CHECK(size.gpus == 8);
  CHECK(size.gpus_by_type.at("a100") == 8);
  CHECK(size.nodes_with_all_memory == 2);
  CHECK(size.memory_mib == 800);
}

}  // namespace dts::forecast
