// SPDX-License-Identifier: Apache-2.0
// Injected faults are named wherever they are; noise is not.
#include "tests/support/contains.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/check/clusters.hpp"

#include <doctest/doctest.h>

#include <functional>

namespace {

using namespace dts;
using namespace dts::check;
using namespace dts::tests;

// A fault of one node, and what the report must say after its name.
struct Injected {
  const char* name;
  const char* says;
  std::function<void(Facts&, std::size_t)> inject;
};

const std::vector<Injected>& injected() {
  static const std::vector<Injected> all{
      {"slowed by 20 %",
       "GEMM rate is 7",
       [](Facts& f, std::size_t i) { value_of(f, i, "gemm_fp32") = 7.0e11 * 0.78; }},
      {"half the memory bandwidth",
       "memory bandwidth of NUMA node 1 is ",
       [](Facts& f, std::size_t i) { value_of(f, i, "memory", 1) *= 0.48; }},
      {"a core less",
       "cores is 87 % of its peers' (7 of 8)",
       [](Facts& f, std::size_t i) { value_of(f, i, "cores") = 7; }},
      {"throttled",
       "clock rate is ",
       [](Facts& f, std::size_t i) { value_of(f, i, "clock") = 2.0e9; }},
      {"a slow disk",
       "writing and syncing to the scratch folder (/tmp) is ",
       [](Facts& f, std::size_t i) { value_of(f, i, "write", 1) *= 0.05; }},
      {"a dead disk",
       "reading the run folder (/runs/x) is 0 % of its peers'",
       [](Facts& f, std::size_t i) { value_of(f, i, "read") = 0; }},
      {"a slow adapter",
       "bandwidth to ",
       [](Facts& f, std::size_t i) {
         for (Pair& pair : f.pairs)
           if (pair.a == f.nodes[i].name || pair.b == f.nodes[i].name) *pair.bandwidth *= 0.15;
       }},
      {"a clock off by 2 s",
       "its clock is 2.00 s ",
       [](Facts& f, std::size_t i) {
         for (std::size_t k = 1; k < f.nodes.size(); ++k)
           if (i == 0)
             value_of(f, k, "clock_offset") -= 2;
           else if (k == i)
             value_of(f, k, "clock_offset") -= 2;
       }},
      {"other bits",
       "gave other bits than on its peers (ffffffffffff, but 1e4dbeef0011 on ",
       [](Facts& f, std::size_t i) { f.nodes[i].steps.digest = "ffffffffffffffff"; }},
      {"bits that change",
       "2 of 100 repeats of the same training step gave other bits than the first",
       [](Facts& f, std::size_t i) {
         f.nodes[i].steps.odd_repeats = {17, 40};
       }}};
  return all;
}

}  // namespace

TEST_CASE("an injected fault is named at every place, and nothing else") {
  const std::vector<unsigned> few{4, 8}, many{4, 8, 64, 100};
  for (const unsigned nodes : k_sanitized ? few : many)
    for (const Injected& fault : injected())
      for (const std::size_t place :
           {std::size_t{0}, std::size_t{nodes / 2}, std::size_t{nodes - 1}}) {
        CAPTURE(nodes);
        CAPTURE(doctest::String(fault.name));
        CAPTURE(place);
        Facts facts = healthy_cluster(nodes, 7, {0.01, 0.02, 0.1, 0.04});
        fault.inject(facts, place);
        const auto all = judged(facts);
        REQUIRE(all.size() == 1);
        CAPTURE(all.front());
        CHECK(all.front().starts_with(facts.nodes[place].name + ": "));
        CHECK(contains(all.front(), fault.says));
      }
}

TEST_CASE("a slow link between two healthy nodes is named by both") {
  for (const std::size_t place : {0, 9, 27}) {
    Facts facts = healthy_cluster(8, 3);
    *facts.pairs[place].latency *= 40;
    const auto all = judged(facts);
    REQUIRE(all.size() == 1);
    CHECK(all.front().starts_with(
        fmt::format("{} - {}: latency is ", facts.pairs[place].a, facts.pairs[place].b)));
    CHECK(contains(all.front(), "times the other pairs' ("));
  }
}

TEST_CASE("a link that was never left alone is not judged, and is no reference for others") {
  Facts facts = healthy_cluster(4, 3);
  *facts.pairs[0].latency *= 4000;
  *facts.pairs[0].bandwidth /= 4000;
  facts.pairs[0].disturbed = true;
  CHECK(judged(facts).empty());
  CHECK(judged(healthy_cluster(4, 4), &facts).empty());
  facts.pairs[0].disturbed = false;
  CHECK_FALSE(judged(facts).empty());
}

TEST_CASE("noise is no fault: not of quiet, of loaded or of small clusters") {
  const Noise loaded{0.15, 0.2, 0.35, 0.25};  // in turns on too few cores
  const std::uint64_t seeds = k_sanitized ? 30 : 500;
  std::uint64_t checks = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed)
    for (const unsigned nodes : {3U, 4U, 5U, 8U, 17U}) {
      const auto quiet = judged(healthy_cluster(nodes, seed));
      CAPTURE(seed);
      CAPTURE(nodes);
      CHECK_MESSAGE(quiet.empty(), (quiet.empty() ? "" : quiet.front()));
      if (nodes >= 4) {
        const auto busy = judged(healthy_cluster(nodes, seed, loaded));
        CHECK_MESSAGE(busy.empty(), (busy.empty() ? "" : busy.front()));
      }
      ++checks;
    }
  CHECK(checks == 5 * seeds);
}

TEST_CASE("two nodes: twice the tolerance, and a tie is called one") {
  Facts facts = healthy_cluster(2, 1);
  CHECK(judged(facts).empty());
  value_of(facts, 1, "gemm_fp32") = 5.5e11;
  CHECK(judged(facts).empty());
  value_of(facts, 1, "gemm_fp32") = 3.8e11;
  REQUIRE(judged(facts).size() == 1);
  CHECK(judged(facts).front().starts_with("n2: fp32 GEMM rate is 5"));

  facts = healthy_cluster(2, 1);
  facts.nodes[1].steps.digest = "ffffffffffffffff";
  value_of(facts, 1, "clock_offset") = 2;
  const auto all = judged(facts);
  REQUIRE(all.size() == 2);
  CHECK(contains(all[0],
                 "no majority says which are right: n1 computed 1e4dbeef0011; n2 computed f"));
  CHECK(contains(all[1], "the clocks of n1 and n2 differ by 2.00 s, and no majority"));
  // One that contradicts itself has no vote.
  facts.nodes[1].steps.odd_repeats = {3};
  CHECK(contains(judged(facts).front(), "n2: 1 of 100 repeats"));
}

TEST_CASE("half of the nodes against the other half is a tie") {
  Facts facts = healthy_cluster(4, 1);
  facts.nodes[0].steps.digest = facts.nodes[3].steps.digest = "ffffffffffffffff";
  const Verdict verdict = judge(facts, {}, nullptr);
  CHECK_FALSE(verdict.fit);
  REQUIRE(verdict.cluster.size() == 1);
  CHECK(contains(verdict.cluster.front(), "n2, n3 computed 1e4dbeef0011; n1, n4 computed ffff"));
  for (const NodeVerdict& node : verdict.nodes) CHECK(node.fit);
}

TEST_CASE("nodes with another CPU are compared with their kind") {
  Facts facts = healthy_cluster(8, 1);
  for (std::size_t i = 4; i < 8; ++i) {
    facts.nodes[i].cpu = "Intel";
    value_of(facts, i, "gemm_fp32") *= 3;
    facts.nodes[i].steps.digest = "2222222222222222";
  }
  CHECK(judged(facts).empty());
  CHECK(judge(facts, {}, nullptr).notes.size() == 2);
  value_of(facts, 6, "gemm_fp32") /= 3;
  REQUIRE(judged(facts).size() == 1);
  CHECK(judged(facts).front().starts_with("n7: fp32 GEMM rate is 3"));
}

TEST_CASE("a baseline: one node alone, a node that was not there, all of them, disks not at all") {
  const Facts baseline = healthy_cluster(8, 5);
  Facts one = healthy_cluster(1, 6);
  CHECK(judged(one, &baseline).empty());
  value_of(one, 0, "memory", 1) *= 0.4;
  value_of(one, 0, "write") *= 0.01;
  REQUIRE(judged(one, &baseline).size() == 1);
  CHECK(contains(judged(one, &baseline).front(), "the baseline of 2026-11-23T15:40:00Z's"));
  CHECK(judged(one).empty());
  one.nodes[0].name = "n99";
  CHECK(judged(one, &baseline).size() == 1);

  Facts all = healthy_cluster(8, 9);
  for (std::size_t i = 0; i < 8; ++i) value_of(all, i, "gemm_fp32") *= 0.5;
  const auto slower = judged(all, &baseline);
  REQUIRE(slower.size() == 1);
  CHECK(contains(slower.front(), "fp32 GEMM rate is behind the baseline of"));
  CHECK(contains(slower.front(), "on 8 of 8 nodes"));

  Facts alone = healthy_cluster(1, 6);
  alone.nodes[0].steps.digest = "ffffffffffffffff";
  CHECK(contains(judged(alone, &baseline).front(), "n1: its training step gives other bits"));
  alone.trainer = "0.2.0";
  CHECK(judged(alone, &baseline).empty());
}

TEST_CASE("tolerances and the multiple of the noise are a user's to choose") {
  Facts facts = healthy_cluster(8, 1);
  value_of(facts, 2, "gemm_fp32") = 7.0e11 * 0.6;
  Limits limits;
  for (const char* text : {"gemm_fp32=60%", "noise=8", "clock_offset=500", "latency=300"})
    CHECK(set_limit(text, limits));
  CHECK(judge(facts, limits, nullptr).fit);
  value_of(facts, 3, "clock_offset") = 0.4;
  CHECK(judge(facts, limits, nullptr).fit);
  for (const char* text :
       {"gemm=60", "gemm_fp32", "gemm_fp32=", "gemm_fp32=-1", "gemm_fp32=96", "noise=0", "=", ""}) {
    CAPTURE(text);
    const auto refused = set_limit(text, limits);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::usage);
  }
}

TEST_CASE("cores are compared to the hundredth: control groups grant parts of them") {
  Facts facts = healthy_cluster(4, 1);
  for (std::size_t i = 0; i < 4; ++i) value_of(facts, i, "cores") = 1.75;
  CHECK(judged(facts).empty());
  value_of(facts, 2, "cores") = 1.4;
  REQUIRE(judged(facts).size() == 1);
  CHECK(judged(facts).front() == "n3: cores is 80 % of its peers' (1.4 of 1.75)");
}

TEST_CASE("a measure that one node lacks is a note") {
  Facts facts = healthy_cluster(4, 1);
  facts.nodes[2].measures.erase(facts.nodes[2].measures.begin() + 4);
  CHECK(judged(facts).empty());
  const Verdict verdict = judge(facts, {}, nullptr);
  REQUIRE(verdict.notes.size() == 1);
  CHECK(verdict.notes.front() == "fp32 GEMM rate was not measured on n3");
}

TEST_CASE(
    "a cluster of 500 nodes with a baseline: one fault of a node and one of a link are named") {
  // 125,000 pairs: judging that took time with their square would not end while someone waits.
  const unsigned nodes = k_sanitized ? 100 : 500;
  Facts facts = healthy_cluster(nodes, 11);
  const Facts baseline = healthy_cluster(nodes, 12);
  CHECK(judged(facts, &baseline).empty());
  value_of(facts, nodes / 2, "memory", 1) *= 0.4;
  Pair& pair = facts.pairs[facts.pairs.size() / 3];
  *pair.bandwidth *= 0.2;
  const auto all = judged(facts, &baseline);
  REQUIRE(all.size() == 2);
  CHECK(all[0].starts_with(fmt::format("n{}: memory bandwidth of NUMA node 1", nodes / 2 + 1)));
  CHECK(all[1].starts_with(fmt::format("{} - {}: bandwidth is ", pair.a, pair.b)));
}

namespace {

// Every rate of every node, as if other programs had had this share of the processors meanwhile.
Facts busy_cluster(const std::vector<double>& shares) {
  Facts facts = healthy_cluster(static_cast<unsigned>(shares.size()), 1, {0.01, 0.02, 0.1, 0.04});
  for (std::size_t i = 0; i < shares.size(); ++i)
    for (Measured& measured : facts.nodes[i].measures)
      if (measured.key.starts_with("gemm") || measured.key == "memory") measured.others = shares[i];
  return facts;
}

}  // namespace

TEST_CASE("a node on which other programs run is named, a busy cluster is not") {
  for (const std::size_t place : {0, 2, 3}) {
    std::vector<double> shares{0.01, 0.02, 0, 0.01};
    shares[place] = 0.21;
    const auto all = judged(busy_cluster(shares));
    REQUIRE(all.size() == 1);
    CHECK(contains(all.front(),
                   fmt::format("n{}: other programs took 21 % of its processors' time, on its "
                               "peers at most",
                               place + 1)));
  }
  CHECK(judged(busy_cluster({0.7, 0.5, 0.9, 0.75})).empty());
  CHECK(judged(busy_cluster({0.3, 0.21, 0.05, 0.1})).empty());  // one peer is busy, too
  CHECK(judged(busy_cluster({0.9})).empty());                   // nobody to compare with
  CHECK(judged(busy_cluster({0.9, 0.01})).size() == 1);
  // A burst disturbs one measure, not all.
  Facts burst = busy_cluster({0.01, 0.01, 0.5, 0.01});
  for (Measured& measured : burst.nodes[2].measures)
    if (measured.key == "memory") measured.others = 0;
  CHECK(judged(burst).empty());
  // Of many nodes, two at fault do not hide each other.
  std::vector<double> many(40, 0.01);
  many[3] = many[30] = 0.4;
  CHECK(judged(busy_cluster(many)).size() == 2);
  Limits limits;
  CHECK(set_limit("others=50", limits));
  CHECK(judge(busy_cluster(many), limits, nullptr).fit);
}
