// SPDX-License-Identifier: Apache-2.0
// What looked slow once is no fault; what is slow twice is, and so are bits that change.
#include "core/check/best_of.hpp"

#include "core/check/judge.hpp"
#include "tests/support/contains.hpp"
#include "tests/unit/check/clusters.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::check;
using namespace dts::tests;

TEST_CASE("a disturbance of one of two measurements is forgotten, wherever it was") {
  Facts first = healthy_cluster(4, 1), second = healthy_cluster(4, 2);
  value_of(first, 0, "gemm_fp32") *= 0.2;
  value_of(second, 3, "memory") *= 0.3;
  value_of(first, 2, "clock_offset") = 3;
  *first.pairs[1].latency *= 900;
  *second.pairs[4].bandwidth /= 50;
  CHECK_FALSE(judged(first).empty());
  CHECK_FALSE(judged(second).empty());
  for (Measured& measured : first.nodes[1].measures) measured.others = 0.6;
  for (Measured& measured : second.nodes[1].measures) measured.others = 0.02;
  const Facts best = best_of(first, second);
  CHECK(judged(best).empty());
  CHECK(best.nodes[1].measures.front().others == 0.02);
}

TEST_CASE("of two measurements of a link, what was left alone counts") {
  Facts first = healthy_cluster(4, 1), second = healthy_cluster(4, 2);
  first.pairs[2].latency = 1e-3;
  first.pairs[2].disturbed = true;
  second.pairs[3].bandwidth = 1e3;
  second.pairs[3].disturbed = true;
  const Facts best = best_of(first, second);
  CHECK_FALSE(best.pairs[2].disturbed);
  CHECK(best.pairs[2].latency == second.pairs[2].latency);
  CHECK_FALSE(best.pairs[3].disturbed);
  CHECK(best.pairs[3].bandwidth == first.pairs[3].bandwidth);
}

TEST_CASE("what is worse both times stays a fault") {
  Facts first = healthy_cluster(4, 1, {0.01, 0.02, 0.1, 0.04}),
        second = healthy_cluster(4, 2, {0.01, 0.02, 0.1, 0.04});
  for (Facts* facts : {&first, &second}) value_of(*facts, 2, "memory", 1) *= 0.4;
  const auto all = judged(best_of(first, second));
  REQUIRE(all.size() == 1);
  CHECK(all.front().starts_with("n3: memory bandwidth of NUMA node 1"));
}

TEST_CASE("what was as good as its peers once is forgiven, though the peers were better later") {
  // The whole machine is four times as fast from the middle of the first measurement on.
  const Noise quiet{0.01, 0.02, 0.1, 0.02};
  Facts first = healthy_cluster(8, 1, quiet), second = healthy_cluster(8, 2, quiet);
  for (std::size_t i = 0; i < first.pairs.size(); ++i) *first.pairs[i].bandwidth *= i == 0 ? 1 : 4;
  value_of(first, 2, "gemm_fp32") *= 0.5;
  value_of(second, 2, "gemm_fp32") *= 0.5;
  const Facts best = best_of(first, second);
  Verdict verdict = judge(best, {}, nullptr);
  CHECK_FALSE(verdict.links[0].fit());
  forgive(verdict, best, second, judge(second, {}, nullptr));
  CHECK(verdict.links[0].fit());
  CHECK_FALSE(verdict.fit);  // a node that is slow both times stays so
  REQUIRE(faults(best, verdict).size() == 1);
  CHECK(faults(best, verdict).front().starts_with("n3: fp32 GEMM rate is "));
  second = healthy_cluster(8, 2, quiet);
  verdict = judge(best_of(first, second), {}, nullptr);
  verdict.nodes[2].steps_fit = false;
  blame(verdict.nodes[2], "bits");
  forgive(verdict, best, second, judge(second, {}, nullptr));
  CHECK_FALSE(verdict.nodes[2].fit);
}

TEST_CASE("bits are not forgiven") {
  Facts first = healthy_cluster(4, 1), second = healthy_cluster(4, 2);
  second.nodes[1].steps.digest = "ffffffffffffffff";
  first.nodes[3].steps.odd_repeats = {7};
  const auto all = judged(best_of(first, second));
  REQUIRE(all.size() == 2);
  CHECK(contains(all[0], "n2: 1 of 200 repeats of the same training step gave other bits"));
  CHECK(contains(all[1], "n4: 1 of 200 repeats"));
}
