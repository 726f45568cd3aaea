// SPDX-License-Identifier: Apache-2.0
// What `dttrain bench` has measured: facts without a verdict, all values in SI units. A value that
// could not be measured is absent, and a note says why. Plain data; the functions are pure.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::train::bench {

struct Measure {
  std::string key;
  double value = 0;
  std::string unit;
  std::optional<int> numa{};  // of memory: which NUMA node
  std::string what{};         // of a disk: "run" or "scratch"
  std::string path{};         // of a disk: the folder; of a GPU: its PCI address
  // The share of the processors' time that other programs had meanwhile, where that matters.
  std::optional<double> others{};
  std::optional<int> gpu{};   // of a GPU: its number among those that this process sees
  std::string model{};        // of a GPU
  std::optional<int> peer{};  // of a copy between GPUs: the number of the one that is read
};

// One training step, repeated from the same state.
struct Steps {
  int repeats = 0;
  std::string digest;      // of the state after the first
  std::vector<int> odd{};  // the repeats, from 0, whose digest is another
  double tokens = 0;       // a second, by the GPU's clock, the median; 0: not measured
};

// The same on a GPU.
struct GpuSteps {
  int gpu = 0;
  std::string model;  // of the GPU
  std::string path;   // its PCI address
  Steps steps;
};

// Between two ranks, in both directions alike.
struct PairFact {
  int a = 0;
  int b = 0;
  double latency = 0;    // one way, s
  double bandwidth = 0;  // B/s
  // Others had the processors all the time: the link is at least as fast as that.
  bool disturbed = false;
};

// What one rank knows.
struct RankFacts {
  std::string node;
  int rank = 0;
  std::string cpu{};
  int cores = 0;
  std::vector<Measure> measures{};
  std::optional<Steps> steps{};
  std::vector<GpuSteps> gpu_steps{};
  std::vector<PairFact> pairs{};  // that this rank has measured
  std::vector<std::string> notes{};

  void add(std::string key, double value, std::string unit) {
    measures.push_back({std::move(key), value, std::move(unit)});
  }

  void add(std::string key, double value, std::string unit, double others) {
    measures.push_back({std::move(key), value, std::move(unit), {}, "", "", others});
  }

  // Takes over what another process or phase of the same rank has measured.
  void append(RankFacts other);
};

struct CollectiveFact {
  std::string operation;
  std::uint64_t bytes = 0;
  double time = 0;  // s
};

struct Facts {
  std::string began;  // ISO 8601, UTC
  double seconds = 0;
  bool quick = false;
  std::uint64_t gpus_asked = 0;  // that each rank should find; 0: any number
  std::vector<RankFacts> ranks{};
  std::vector<CollectiveFact> collectives{};
  std::vector<std::string> notes{};
};

// The factor from algorithm bandwidth to bus bandwidth: 2(n-1)/n for all_reduce, (n-1)/n for
// all_gather, 1 for broadcast (nccl-tests, doc/PERFORMANCE.md).
[[nodiscard]] double bus_factor(std::string_view operation, int ranks);

// The text of check.json. Ranks that share a node's name are told apart by it: "n1:3" is rank 3.
[[nodiscard]] std::string encode(const Facts& facts, std::string_view trainer);

// One rank's facts on their way to another process. Errc::invalid if `text` is not such.
[[nodiscard]] std::string encode(const RankFacts& facts);
[[nodiscard]] Result<RankFacts> decode_rank(std::string_view text);

}  // namespace dts::train::bench
