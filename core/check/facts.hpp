// SPDX-License-Identifier: Apache-2.0
// What `dttrain bench` measured, as it stands in check.json: facts without a verdict. All values
// are in SI units. Plain data; reading is pure and thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::check {

inline constexpr unsigned k_facts_schema = 1;
inline constexpr std::size_t k_most_nodes = 16384;
inline constexpr std::size_t k_largest_facts = std::size_t{256} << 20;  // bytes of a check.json

// One value of one node. A measure that a node has several times is told apart by `numa`, `gpu`,
// `peer` and `model`, or `what`.
struct Measured {
  std::string key;
  double value = 0;  // finite, not negative but for an offset
  std::string unit;
  std::optional<unsigned> numa{};  // of memory: its NUMA node
  std::string what{};              // of a disk: "run" or "scratch"
  std::string path{};              // of a disk: the folder; of a GPU: its PCI address
  std::optional<double> others{};  // the share of processor time that other programs had meanwhile
  std::optional<unsigned> gpu{};   // of a GPU: its number
  std::string model{};             // of a GPU
  std::optional<unsigned> peer{};  // of a copy between GPUs: the number of the one that is read
};

// The same training step from the same state, repeated.
struct Steps {
  unsigned repeats = 0;
  std::string digest;                   // of the first one; empty: not measured
  std::vector<unsigned> odd_repeats{};  // those with another digest than the first
};

// The same on one of a node's GPUs.
struct GpuSteps {
  unsigned gpu = 0;
  std::string model;
  std::string path;  // its PCI address
  Steps steps;
};

struct Node {
  std::string name;
  unsigned rank = 0;
  std::string cpu;  // model
  std::vector<Measured> measures;
  Steps steps;
  std::vector<GpuSteps> gpu_steps{};
  std::vector<std::string> notes{};  // why something was not measured
};

struct Pair {
  std::string a, b;                   // nodes
  std::optional<double> latency{};    // one way, s
  std::optional<double> bandwidth{};  // B/s
  // Other programs had the processors all the time: the link is at least as fast as that.
  bool disturbed = false;
};

// A row as nccl-tests print it (PERFORMANCE.md there defines the two bandwidths).
struct Collective {
  std::string operation;
  double bytes = 0;
  double time = 0;   // s
  double algbw = 0;  // B/s
  double busbw = 0;  // B/s
};

struct Facts {
  std::string trainer;  // version
  std::string began;    // ISO 8601 UTC
  double seconds = 0;
  bool quick = false;
  unsigned gpus_asked = 0;  // that each node should have; 0: any number
  std::vector<Node> nodes;
  std::vector<Pair> pairs;
  std::vector<Collective> collectives;
  std::vector<std::string> notes;
};

// Errc::invalid names every member that is not as expected, by its place in the document, such as
// `nodes[2].measures[3].value`. Members of later releases are skipped.
[[nodiscard]] Result<Facts> parse_facts(std::string_view text);

}  // namespace dts::check
