// SPDX-License-Identifier: Apache-2.0
// A node as pictures show it: what is in what, and which ranks have it. Pure.
#pragma once

#include "core/plan/binding/binding.hpp"
#include "core/topo/topology.hpp"

#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

// The ranks that have a core or a device.
struct Use {
  std::vector<unsigned> ranks;  // ascending; empty: nobody
  bool annex = false;           // of the first of them
  bool closed = false;          // no rank may
  bool everybody = false;       // all ranks, of several

  bool operator==(const Use&) const = default;
};

struct SceneCore {
  unsigned first_pu = 0;
  unsigned threads = 1;
  Use use;
  std::string words;  // "core of CPUs 3,67: rank 0, home"
};

// Cores of one L3 and of one kind.
struct SceneCache {
  std::optional<unsigned> l3;  // absent: the machine has only one, or none
  std::string kind;            // "P", "E" on a hybrid processor, else empty
  std::vector<SceneCore> cores;
};

struct SceneDevice {
  std::string name;  // "GPU 3", "mlx5_0"
  std::string pci;   // "0000:3b:00.0", with "#1" for a part
  bool gpu = true;   // else a network adapter
  Use use;           // closed: not the job's
};

struct SceneNuma {
  unsigned index = 0;             // in NodeTopology::numas
  std::vector<unsigned> numbers;  // as Linux counts: its own, and of those folded into it
  std::string size;               // of the memory: "64 GiB"; empty: not known
  std::string title;              // "NUMA 0  64 GiB"
  std::vector<SceneCache> caches;
  std::vector<SceneDevice> devices;
};

// One package, or a run of small identical ones.
struct ScenePackage {
  std::vector<unsigned> numbers;
  std::string title;                 // "Package 0", "Packages 0-31"
  std::vector<SceneNuma> numas;      // with cores, in the order of Linux's numbers
  std::vector<SceneDevice> devices;  // at none of these in particular
  std::vector<std::string> memory;   // NUMA nodes without cores, "NUMA 4-7: 16 GiB each, no cores"
};

struct Scene {
  std::vector<ScenePackage> packages;
  std::vector<SceneDevice> devices;  // at no package in particular
  std::vector<std::string> memory;
  unsigned ranks = 0;
};

// `gpus`: those of the job, as BindRequest::gpus.
[[nodiscard]] Scene make_scene(const topo::NodeTopology& node,
                               const std::vector<unsigned>& gpus,
                               const plan::NodeBinding& binding);

// "r3", "r0,2", "all", "-" for nobody, "x" where no rank may.
[[nodiscard]] std::string ranks_in_words(const Use& use);

// The text in a core's cell: "3" for the home of rank 3, "(3)" for its annex, "3+" if rank 3 shares
// it, "*" for all ranks, "." for none, "x" for a core that is not allowed.
[[nodiscard]] std::string mark(const Use& use);

// "64 GiB"; empty for 0.
[[nodiscard]] std::string memory_in_words(std::uint64_t bytes);

}  // namespace dts::cli
