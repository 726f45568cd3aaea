// SPDX-License-Identifier: Apache-2.0
// What is answered from what a probe's ranks found.
#include "core/doctor/questions.hpp"

#include <doctest/doctest.h>

#include <string>

namespace dts::doctor {
namespace {

// Two nodes on which all is well.
Facts probed_well() {
  Facts facts;
  facts.job.nodes = 2;
  facts.machine.runs = "/shared/runs";
  facts.probed.emplace();
  Probed& probed = *facts.probed;
  probed.job = "12";
  probed.nodes = "n[0-1]";
  probed.asked_nodes = 2;
  probed.waited = std::chrono::seconds(3);
  probed.cores = {4, 4};
  for (unsigned rank = 0; rank < 2; ++rank) {
    probe::Facts one;
    one.rank = rank;
    one.world = 2;
    one.host = rank == 0 ? "n0" : "n1";
    one.other_host = rank == 0 ? "n1" : "n0";
    one.where = "n0 port 29500";
    one.met_after = 0.25;
    one.file_after = 0.02;
    one.other_resolves = true;
    one.cores = {0, 1, 2, 3};
    one.reachable = {0, 1, 2, 3};
    one.machine_cores = 64;
    one.scratch = "/tmp";
    one.scratch_free = std::uint64_t{100} << 30U;
    one.warned_after = 0.5 + rank;
    probed.ranks.push_back(std::move(one));
  }
  probed.ranks[0].clocks = probe::Clocks{0.0031, 0.0004, 16};
  probed.ranks[0].ssh = probe::Ssh{true, ""};
  return facts;
}

probe::Facts& rank(Facts& facts, unsigned number) {
  return facts.probed->ranks[number];
}

bool told(const Verdict& verdict, const std::string& words) {
  return verdict.why.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a probe that finds all well answers yes, with numbers") {
  Facts facts = probed_well();
  for (const Question& question : probe_questions()) {
    CAPTURE(question.id);
    CHECK(question.judge(facts).answer == Answer::yes);
  }
  CHECK(examine(facts).size() == questions().size() + probe_questions().size());
  CHECK(told(judge_probe_start(facts), "job 12 ran on n[0-1] after 3 s"));
  CHECK(told(judge_probe_clocks(facts), "n1 is 3.1 ms ahead of that of n0 (within 0.20 ms"));
  CHECK(told(judge_probe_warning(facts), "within 1.50 s"));
  CHECK(told(judge_probe_scratch(facts), "100.0 GiB free in /tmp of n0, 100.0"));
}

TEST_CASE("a job that does not begin answers nothing else") {
  Facts facts = probed_well();
  facts.probed->ranks.clear();
  facts.probed->nodes.clear();
  facts.probed->no_start = "job 12 did not begin within 60 s";
  for (const Question& question : probe_questions()) {
    CAPTURE(question.id);
    CHECK(question.judge(facts).answer == Answer::unknown);
  }
  facts.probed->is_refused = true;
  CHECK(judge_probe_start(facts).answer == Answer::no);
  facts.probed->no_start.clear();
  facts.probed->failure = "rank 1 said nothing";
  CHECK(judge_probe_start(facts).answer == Answer::no);
  CHECK(told(judge_probe_clocks(facts), "rank 1 said nothing"));
}

TEST_CASE("one node has nothing between nodes") {
  Facts facts = probed_well();
  facts.probed->asked_nodes = 1;
  facts.probed->ranks.resize(1);
  for (auto* judge : {judge_probe_ranks,
                      judge_probe_folder,
                      judge_probe_clocks,
                      judge_probe_names,
                      judge_probe_ssh})
    CHECK(told(judge(facts), "one node"));
  CHECK(judge_probe_warning(facts).answer == Answer::yes);
}

TEST_CASE("what is wrong between two nodes") {
  Facts facts = probed_well();
  rank(facts, 1).file_after.reset();
  CHECK(told(judge_probe_folder(facts), "n1 does not see in /shared/runs"));
  facts.probed->failure = "n1 cannot read /shared/runs/doctor-probe/channel.json";
  CHECK(told(judge_probe_folder(facts), "n1 cannot read"));
  facts.probed->failure.clear();
  rank(facts, 0).clocks->offset = -2;
  CHECK(judge_probe_clocks(facts).answer == Answer::partly);
  CHECK(told(judge_probe_clocks(facts), "2000.0 ms behind"));
  rank(facts, 0).clocks->offset = 301;
  CHECK(judge_probe_clocks(facts).answer == Answer::no);
  rank(facts, 0).other_resolves = false;
  CHECK(told(judge_probe_names(facts), "n0 does not know the name of n1"));
  rank(facts, 0).ssh = probe::Ssh{false, "Connection refused"};
  CHECK(judge_probe_ssh(facts).answer == Answer::partly);
  facts.job.starts_by_ssh = true;
  CHECK(judge_probe_ssh(facts).answer == Answer::no);
  rank(facts, 0).met_after.reset();
  rank(facts, 0).trouble = "nobody came";
  CHECK(told(judge_probe_ranks(facts), "nobody came"));
  facts.probed->ranks.pop_back();
  CHECK(told(judge_probe_folder(facts), "what rank 1 wrote"));
}

TEST_CASE("what is wrong on a node") {
  Facts facts = probed_well();
  rank(facts, 1).memlock = std::uint64_t{8} << 20U;
  CHECK(judge_probe_limits(facts).wishes.front().wanted == "MEMLOCK");
  rank(facts, 0).nofile = 1024;
  CHECK(judge_probe_limits(facts).wishes.size() == 2);
  rank(facts, 1).reachable.push_back(4);
  CHECK(judge_probe_cores(facts).answer == Answer::partly);
  facts.probed->cores.clear();
  CHECK(judge_probe_cores(facts).answer == Answer::unknown);
  rank(facts, 1).warned_after.reset();
  CHECK(told(judge_probe_warning(facts), "rank 1 on n1 got no SIGTERM"));
  rank(facts, 0).not_warned = "no scancel";
  CHECK(judge_probe_warning(facts).answer == Answer::unknown);
  rank(facts, 1).scratch_free = 1 << 20U;
  CHECK(judge_probe_scratch(facts).answer == Answer::partly);
}

}  // namespace dts::doctor
