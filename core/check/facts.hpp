// SPDX-License-Identifier: Apache-2.0
// The measurements of `dttrain bench`, as stored in check.json: facts without a verdict. All values
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

// A value measured on a node. If a node has several values of one measure, they are distinguished
// by `numa`, `gpu`, `peer` and `model`, or `what`.
struct Measured {
  std::string key;
  double value = 0;  // finite, and not negative unless it is an offset
  std::string unit;
  std::optional<unsigned> numa{};  // for memory: its NUMA node
  std::string what{};              // for a disk: "run" or "scratch"
  std::string path{};              // for a disk: the folder; for a GPU: its PCI address
  std::optional<double> others{};  // share of processor time that other programs used meanwhile
  std::optional<unsigned> gpu{};   // for a GPU: its number
  std::string model{};             // for a GPU: its model
  std::optional<unsigned> peer{};  // for a copy between GPUs: the number of the GPU that is read
};

// Repeats of one training step from one state.
struct Steps {
  unsigned repeats = 0;
  std::string digest;                   // of the first repeat; empty: not measured
  std::vector<unsigned> odd_repeats{};  // repeats with a different digest than the first
};

// The same on one GPU of a node.
struct GpuSteps {
  unsigned gpu = 0;
  std::string model;
  std::string path;  // its PCI address
  Steps steps;
};

struct Node {
  std::string name;
  unsigned rank = 0;
  std::string cpu;  // model name
  std::vector<Measured> measures;
  Steps steps;
  std::vector<GpuSteps> gpu_steps{};
  std::vector<std::string> notes{};  // why something was not measured
};

struct Pair {
  std::string a, b;                   // nodes
  std::optional<double> latency{};    // one way, s
  std::optional<double> bandwidth{};  // B/s
  // Other programs used the processors all the time: the link is at least as fast as measured.
  bool disturbed = false;
};

// A row in the format of nccl-tests (whose PERFORMANCE.md defines the two bandwidths).
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
  unsigned gpus_asked = 0;  // per node, as requested; 0: any number
  std::vector<Node> nodes;
  std::vector<Pair> pairs;
  std::vector<Collective> collectives;
  std::vector<std::string> notes;
};

// Errc::invalid names every member that is not as expected by its place in the document, such as
// `nodes[2].measures[3].value`. Members of later releases are skipped.
[[nodiscard]] Result<Facts> parse_facts(std::string_view text);

}  // namespace dts::check
