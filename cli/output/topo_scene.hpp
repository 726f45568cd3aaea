// SPDX-License-Identifier: Apache-2.0
// Model of a node for pictures: how it is nested, and which ranks use what. Pure.
#pragma once

#include "core/plan/binding/binding.hpp"
#include "core/topo/topology.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

// The ranks that have a core or a device.
struct Use {
  std::vector<unsigned> ranks;  // ascending; empty: unused
  bool annex = false;           // annex of the first rank
  bool closed = false;          // not available to any rank
  bool everybody = false;       // used by all ranks, if there are several

  bool operator==(const Use&) const = default;
};

struct SceneCore {
  unsigned first_pu = 0;
  unsigned threads = 1;
  Use use;
  std::string words;  // "core of CPUs 3,67: rank 0, home"
};

// Cores of the same L3 and kind.
struct SceneCache {
  std::optional<unsigned> l3;  // absent: the machine has at most one
  std::string kind;            // "P", "E" on a hybrid processor, otherwise empty
  std::vector<SceneCore> cores;
};

struct SceneDevice {
  std::string name;  // "GPU 3", "mlx5_0"
  std::string pci;   // "0000:3b:00.0", with "#1" for a partition
  bool gpu = true;   // otherwise a network adapter
  Use use;           // closed: not part of the job
};

struct SceneNuma {
  unsigned index = 0;             // in NodeTopology::numas
  std::vector<unsigned> numbers;  // Linux's numbers: its own, and those of nodes folded into it
  std::string size;               // memory size: "64 GiB"; empty: unknown
  std::string title;              // "NUMA 0  64 GiB"
  std::vector<SceneCache> caches;
  std::vector<SceneDevice> devices;
};

// One package, or a run of identical small ones.
struct ScenePackage {
  std::vector<unsigned> numbers;
  std::string title;                 // "Package 0", "Packages 0-31"
  std::vector<SceneNuma> numas;      // those with cores, by Linux's number
  std::vector<SceneDevice> devices;  // at no particular NUMA node
  std::vector<std::string> memory;   // NUMA nodes without cores, "NUMA 4-7: 16 GiB each, no cores"
};

struct Scene {
  std::vector<ScenePackage> packages;
  std::vector<SceneDevice> devices;  // at no particular package
  std::vector<std::string> memory;
  unsigned ranks = 0;
};

// `gpus`: the job's GPUs, as in BindRequest::gpus.
[[nodiscard]] Scene make_scene(const topo::NodeTopology& node,
                               const std::vector<unsigned>& gpus,
                               const plan::NodeBinding& binding);

// "r3", "r0,2", "all", "-" if unused, "x" if unavailable to all ranks.
[[nodiscard]] std::string ranks_in_words(const Use& use);

// The text in a core's cell: "3" for the home of rank 3, "(3)" for its annex, "3+" if rank 3 shares
// it, "*" for all ranks, "." for none, "x" for an unavailable core.
[[nodiscard]] std::string mark(const Use& use);

// "64 GiB"; empty for 0.
[[nodiscard]] std::string memory_in_words(std::uint64_t bytes);

}  // namespace dts::cli
