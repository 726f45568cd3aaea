// SPDX-License-Identifier: Apache-2.0
// What looked slow once is no fault; what is slow twice is, and so are bits that change.
#include "core/check/best_of.hpp"

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

TEST_CASE("what is worse both times stays a fault") {
  Facts first = healthy_cluster(4, 1, {0.01, 0.02, 0.1, 0.04}),
        second = healthy_cluster(4, 2, {0.01, 0.02, 0.1, 0.04});
  for (Facts* facts : {&first, &second}) value_of(*facts, 2, "memory", 1) *= 0.4;
  const auto all = judged(best_of(first, second));
  REQUIRE(all.size() == 1);
  CHECK(all.front().starts_with("n3: memory bandwidth of NUMA node 1"));
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
