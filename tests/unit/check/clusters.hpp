// SPDX-License-Identifier: Apache-2.0
// Checks of clusters that do not exist: healthy ones with noise, to inject one fault into.
#pragma once

#include "core/base/random.hpp"
#include "core/check/facts.hpp"
#include "core/check/verdict.hpp"

#include <fmt/format.h>

#include <cmath>

namespace dts::tests {

// Roughly normal, with mean 0 and variance 1 (the sum of twelve uniform numbers).
inline double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

struct Noise {
  double processor = 0.02, memory = 0.04, disk = 0.2, network = 0.08;
};

inline check::Node healthy_node(unsigned index, const Noise& noise, Random& random) {
  const auto around = [&](double value, double sigma) {
    return value * std::exp(sigma * normal(random));
  };
  check::Node node;
  node.name = fmt::format("n{}", index + 1);
  node.rank = index;
  node.cpu = "AMD EPYC 7763 64-Core Processor";
  node.measures = {{"cores", 8, ""},
                   {"clock", around(3.1e9, noise.processor), "Hz"},
                   {"clock_slowest", around(2.9e9, noise.processor), "Hz"},
                   {"gemm_fp32_core", around(9.1e10, noise.processor), "FLOP/s"},
                   {"gemm_fp32", around(7.0e11, noise.processor), "FLOP/s"},
                   {"memory", around(2.1e10, noise.memory), "B/s", 0},
                   {"memory", around(2.1e10, noise.memory), "B/s", 1},
                   {"write", around(4e8, noise.disk), "B/s", {}, "run", "/runs/x"},
                   {"read", around(2e9, noise.disk), "B/s", {}, "run", "/runs/x"},
                   {"write", around(8e8, noise.disk), "B/s", {}, "scratch", "/tmp"},
                   {"read", around(3e9, noise.disk), "B/s", {}, "scratch", "/tmp"}};
  if (index > 0) node.measures.push_back({"clock_offset", 1e-4 * normal(random), "s"});
  node.steps = {100, "1e4dbeef00112233", {}};
  return node;
}

inline check::Facts healthy_cluster(unsigned nodes, std::uint64_t seed, const Noise& noise = {}) {
  Random random(seed, nodes);
  check::Facts facts;
  facts.trainer = "0.1.0";
  facts.began = "2026-11-23T15:40:00Z";
  for (unsigned i = 0; i < nodes; ++i) facts.nodes.push_back(healthy_node(i, noise, random));
  for (unsigned a = 0; a < nodes; ++a)
    for (unsigned b = a + 1; b < nodes; ++b)
      facts.pairs.push_back({facts.nodes[a].name,
                             facts.nodes[b].name,
                             1.2e-6 * std::exp(noise.network * normal(random)),
                             1.1e10 * std::exp(noise.network * normal(random))});
  return facts;
}

// The n-th of this node's measures with this key.
inline double& value_of(check::Facts& facts, std::size_t node, const char* key, unsigned nth = 0) {
  for (check::Measured& measured : facts.nodes.at(node).measures)
    if (measured.key == key && nth-- == 0) return measured.value;
  throw std::out_of_range(key);
}

inline std::vector<std::string> judged(const check::Facts& facts,
                                       const check::Facts* baseline = nullptr) {
  const check::Verdict verdict = check::judge(facts, {}, baseline);
  std::vector<std::string> all = check::faults(facts, verdict);
  if (verdict.fit != all.empty()) all.emplace_back("a verdict without a reason");
  return all;
}

}  // namespace dts::tests
