// SPDX-License-Identifier: Apache-2.0
// GPUs that are slow or missing are named, whichever of the cluster they are.
#include "core/check/best_of.hpp"
#include "core/check/measures.hpp"
#include "tests/support/contains.hpp"
#include "tests/unit/check/clusters.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::check;
using namespace dts::tests;

namespace {

constexpr unsigned k_gpus = 4;  // of each node

void add_gpus(Node& node, unsigned gpus, double scale, Random& random) {
  node.measures.push_back({"gpus", static_cast<double>(gpus), ""});
  for (unsigned gpu = 0; gpu < gpus; ++gpu)
    for (const auto& [key, value] :
         {std::pair{"h2d", 5.5e10}, std::pair{"d2h", 5.2e10}, std::pair{"hbm", 2.9e12}}) {
      Measured one{key, value * scale * std::exp(0.01 * normal(random)), "B/s"};
      one.gpu = gpu;
      one.model = "NVIDIA H100";
      one.path = fmt::format("0000:{:02x}:00.0", 0x3b + gpu);
      node.measures.push_back(one);
    }
}

Facts gpu_cluster(unsigned nodes, std::uint64_t seed) {
  Random random(seed, 77);
  Facts facts = healthy_cluster(nodes, seed);
  for (Node& node : facts.nodes) add_gpus(node, k_gpus, 1, random);
  return facts;
}

void remove_gpus(Node& node) {
  std::erase_if(node.measures,
                [](const Measured& one) { return one.gpu.has_value() || one.key == "gpus"; });
}

}  // namespace

TEST_CASE("each of a GPU's rates is compared with those of the same GPU of other nodes") {
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const unsigned nodes : {1U, 2U, 3U, 8U}) CHECK(judged(gpu_cluster(nodes, seed)).empty());
  for (const char* key : {"h2d", "d2h", "hbm"})
    for (const unsigned gpu : {0U, 3U})
      for (const std::size_t place : {0, 2, 7}) {
        Facts facts = gpu_cluster(8, 1);
        value_of(facts, place, key, gpu) *= 0.5;
        const auto all = judged(facts);
        REQUIRE(all.size() == 1);
        CAPTURE(all.front());
        CHECK(all.front().starts_with(facts.nodes[place].name + ": "));
        CHECK(contains(all.front(),
                       fmt::format("GPU {} (NVIDIA H100, 0000:{:02x}:00.0) is ", gpu, 0x3b + gpu)));
        CHECK(contains(all.front(), "% of its peers' ("));
      }
}

TEST_CASE("a GPU's rates have a baseline, alone or not") {
  const Facts baseline = gpu_cluster(4, 2);
  Facts one = gpu_cluster(1, 3);
  CHECK(judged(one, &baseline).empty());
  value_of(one, 0, "hbm", 2) *= 0.6;
  REQUIRE(judged(one, &baseline).size() == 1);
  CHECK(contains(judged(one, &baseline).front(), "n1: memory bandwidth of GPU 2 (NVIDIA H100, "));
  CHECK(contains(judged(one, &baseline).front(), "the baseline of 2026-11-23T15:40:00Z's"));
}

TEST_CASE("GPUs of another model are not compared, and fewer of them are") {
  Random random(1, 1);
  Facts facts = gpu_cluster(4, 4);
  remove_gpus(facts.nodes[1]);
  add_gpus(facts.nodes[1], k_gpus, 0.4, random);
  for (Measured& one : facts.nodes[1].measures)
    if (one.gpu) one.model = "NVIDIA A100";
  CHECK(judged(facts).empty());
  value_of(facts, 1, "gpus") = 3;
  REQUIRE(judged(facts).size() == 1);
  CHECK(judged(facts).front() == "n2: number of working GPUs is 75 % of its peers' (3 of 4)");
}

TEST_CASE("a node without GPUs among nodes with GPUs is named, wherever it is") {
  for (const std::size_t place : {0, 1, 3}) {
    Facts facts = gpu_cluster(4, 5);
    remove_gpus(facts.nodes[place]);
    REQUIRE(judged(facts).size() == 1);
    CHECK(judged(facts).front() ==
          facts.nodes[place].name + ": it has no GPU that works, but its peers have 4");
    // Its driver says so itself.
    facts.nodes[place].measures.push_back({"gpus", 0, ""});
    REQUIRE(judged(facts).size() == 1);
    CHECK(judged(facts).front() ==
          facts.nodes[place].name + ": number of working GPUs is 0 % of its peers' (0 of 4)");
  }
  // One node with a GPU is no reason for the others to have one; nor are those with another CPU.
  Facts facts = gpu_cluster(4, 6);
  for (const std::size_t node : {0, 1, 2}) remove_gpus(facts.nodes[node]);
  CHECK(judged(facts).empty());
  facts = gpu_cluster(4, 6);
  remove_gpus(facts.nodes[3]);
  facts.nodes[3].cpu = "Intel";
  CHECK(judged(facts).empty());
  CHECK(judged(healthy_cluster(4, 7)).empty());
}

TEST_CASE("as many GPUs as were asked for, on every node") {
  Facts facts = gpu_cluster(4, 8);
  facts.gpus_asked = k_gpus;
  CHECK(judged(facts).empty());
  facts.gpus_asked = 2;
  CHECK(judged(facts).empty());
  facts.gpus_asked = 8;
  REQUIRE(judged(facts).size() == 4);
  CHECK(judged(facts).back() == "n4: it has 4 working GPUs, not 8 as asked for");
  Facts one = healthy_cluster(1, 9);
  one.gpus_asked = 1;
  REQUIRE(judged(one).size() == 1);
  CHECK(judged(one).front() == "n1: it has 0 working GPUs, not 1 as asked for");
  // What the peers say already is not said twice.
  facts.gpus_asked = k_gpus;
  value_of(facts, 2, "gpus") = 3;
  CHECK(judged(facts).size() == 1);
}

TEST_CASE("on one node alone, GPUs of a model are compared with each other") {
  for (const char* key : {"hbm", "gpu_bf16", "h2d"})
    for (const unsigned gpu : {0U, 3U}) {
      Random random(3, 4);
      Facts facts = healthy_cluster(1, 11);
      add_gpus(facts.nodes[0], 8, 1, random);
      for (unsigned one = 0; one < 8; ++one) {
        Measured rate = facts.nodes[0].measures.back();
        rate.key = "gpu_bf16";
        rate.gpu = one;
        rate.path = fmt::format("0000:{:02x}:00.0", 0x3b + one);
        rate.value = 6e14 * std::exp(0.01 * normal(random));
        facts.nodes[0].measures.push_back(rate);
      }
      REQUIRE(judged(facts).empty());
      value_of(facts, 0, key, gpu) *= 0.7;
      REQUIRE(judged(facts).size() == 1);
      CAPTURE(judged(facts).front());
      CHECK(contains(judged(facts).front(), fmt::format(" GPU {} (", gpu)));
      CHECK(contains(judged(facts).front(), "% of that of other GPUs of its model ("));
    }
}

TEST_CASE("a copy between GPUs and one from a NUMA node are measures of their own") {
  Measured one{"peer", 4e11, "B/s"};
  one.gpu = 1;
  one.peer = 0;
  one.model = "NVIDIA H100";
  CHECK(identity(one) == "peer/1/0/NVIDIA H100");
  CHECK(label(one) == "bandwidth to GPU 1 (NVIDIA H100) from GPU 0");
  one.peer.reset();
  one.key = "d2h";
  one.numa = 1;
  CHECK(label(one) == "bandwidth from GPU 1 (NVIDIA H100) to NUMA node 1");
  Measured ring{"nccl", 3e11, "B/s"};
  ring.what = "1 MiB";
  CHECK(identity(ring) == "nccl/1 MiB");
  CHECK(label(ring) == "NCCL between GPUs, messages of 1 MiB");
  CHECK(heading(ring) == "NCCL 1 MiB");
}

namespace {

Facts with_steps(unsigned nodes, unsigned gpus) {
  Facts facts = healthy_cluster(nodes, 12);
  for (Node& node : facts.nodes)
    for (unsigned gpu = 0; gpu < gpus; ++gpu)
      node.gpu_steps.push_back({gpu,
                                "NVIDIA H100",
                                fmt::format("0000:{:02x}:00.0", 0x3b + gpu),
                                {1000, "aaaaaaaaaaaaaaaa", {}}});
  return facts;
}

}  // namespace

TEST_CASE("a GPU that gives other bits is named, from repeat to repeat and beside others") {
  CHECK(judged(with_steps(3, 4)).empty());
  for (const std::size_t node : {0, 2}) {
    Facts facts = with_steps(3, 4);
    facts.nodes[node].gpu_steps[1].steps.odd_repeats = {699};
    REQUIRE(judged(facts).size() == 1);
    CHECK(judged(facts).front() ==
          facts.nodes[node].name +
              ": GPU 1 (NVIDIA H100, 0000:3c:00.0): 1 of 1000 repeats of the same training step "
              "gave other bits than the first, the first of them repeat 700");
    facts = with_steps(3, 4);
    facts.nodes[node].gpu_steps[3].steps.digest = "bbbbbbbbbbbbbbbb";
    REQUIRE(judged(facts).size() == 1);
    CHECK(judged(facts).front() ==
          facts.nodes[node].name +
              ": GPU 3 (NVIDIA H100, 0000:3e:00.0): the same training step gave other bits than "
              "on other GPUs of its model (bbbbbbbbbbbb, but aaaaaaaaaaaa on 11 of them)");
    // Another model has other bits, and may.
    facts.nodes[node].gpu_steps[3].model = "NVIDIA A100";
    CHECK(judged(facts).empty());
  }
  Facts two = with_steps(1, 2);
  two.nodes[0].gpu_steps[1].steps.digest = "bbbbbbbbbbbbbbbb";
  REQUIRE(judged(two).size() == 1);
  CHECK(contains(judged(two).front(), "no majority says which are right: n1 GPU 0 computed aaaa"));
  // What looks unfit is measured again: wrong bits are not forgiven.
  const Facts merged = best_of(with_steps(1, 2), two);
  REQUIRE(judged(merged).size() == 1);
  CHECK(contains(judged(merged).front(), "GPU 1 (NVIDIA H100, 0000:3c:00.0): 1 of 2000 repeats"));
}
