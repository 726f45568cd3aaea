// SPDX-License-Identifier: Apache-2.0
// What `dttrain bench` has measured: facts without a verdict, in SI units. A value that could not
// be measured is absent, and a note says why. Plain data; the functions are pure.
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
  std::optional<int> numa{};  // for memory: the NUMA node
  std::string what{};         // for a disk: "run" or "scratch"
  std::string path{};         // for a disk: the folder; for a GPU: its PCI address
  // The share of the processor time that other programs took, if that affects the value.
  std::optional<double> others{};
  std::optional<int> gpu{};   // for a GPU: its index among those that this process sees
  std::string model{};        // for a GPU
  std::optional<int> peer{};  // for a copy between GPUs: the index of the source
};

// One training step, repeated from the same initial state.
struct Steps {
  int repeats = 0;
  std::string digest;      // of the state after the first repeat
  std::vector<int> odd{};  // repeats, from 0, with a different digest
  double tokens = 0;       // per second of the GPU's clock, the median; 0: not measured
};

// The same for a GPU.
struct GpuSteps {
  int gpu = 0;
  std::string model;  // of the GPU
  std::string path;   // its PCI address
  Steps steps;
};

// The link between two ranks, averaged over both directions.
struct PairFact {
  int a = 0;
  int b = 0;
  double latency = 0;    // one way, s
  double bandwidth = 0;  // B/s
  // Others had the processors all the time: these values are only lower bounds of the link's speed.
  bool disturbed = false;
};

// The facts that one rank has.
struct RankFacts {
  std::string node;
  int rank = 0;
  std::string cpu{};
  int cores = 0;
  std::vector<Measure> measures{};
  std::optional<Steps> steps{};
  std::vector<GpuSteps> gpu_steps{};
  std::vector<PairFact> pairs{};  // measured by this rank
  std::vector<std::string> notes{};

  void add(std::string key, double value, std::string unit) {
    measures.push_back({std::move(key), value, std::move(unit)});
  }

  void add(std::string key, double value, std::string unit, double others) {
    measures.push_back({std::move(key), value, std::move(unit), {}, "", "", others});
  }

  // Adds the measurements of another process or phase of the same rank.
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
  std::uint64_t gpus_asked = 0;  // expected per rank; 0: any number
  std::vector<RankFacts> ranks{};
  std::vector<CollectiveFact> collectives{};
  std::vector<std::string> notes{};
};

// The factor from algorithm bandwidth to bus bandwidth: 2(n-1)/n for all_reduce, (n-1)/n for
// all_gather, 1 for broadcast (nccl-tests, doc/PERFORMANCE.md).
[[nodiscard]] double bus_factor(std::string_view operation, int ranks);

// The text of check.json. Ranks on the same node are called "n1:3", here rank 3.
[[nodiscard]] std::string encode(const Facts& facts, std::string_view trainer);

// One rank's facts as a message to another process. decode_rank() returns Errc::invalid for other
// text.
[[nodiscard]] std::string encode(const RankFacts& facts);
[[nodiscard]] Result<RankFacts> decode_rank(std::string_view text);

}  // namespace dts::train::bench
