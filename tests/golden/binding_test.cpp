// SPDX-License-Identifier: Apache-2.0
// golden_binding FOLDER [--bless]: placements on kinds of machines against FOLDER's files. The
// files have been read by hand once; what to look for in each is said with its machine.
#include "core/plan/binding/binding.hpp"

#include "core/base/text/number_list.hpp"
#include "core/topo/distance.hpp"
#include "core/topo/hwloc/load.hpp"
#include "core/topo/restrict.hpp"
#include "tests/golden/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dts {
namespace {

using Numbers = std::vector<unsigned>;
using topo::NodeTopology;

struct Case {
  const char* name;     // of the file
  const char* why;      // what is right on this machine
  const char* machine;  // hwloc's synthetic description
  Numbers gpus, nics;   // the NUMA node of each
  unsigned behind;      // GPUs and adapters behind one PCI switch, in order; 0: none
  Numbers counts;       // of ranks
  void (*change)(NodeTopology&);
};

void nothing(NodeTopology&) {}

const Case k_cases[] = {
    {"dgx-a100",
     "8 GPUs on 4 of 8 NUMA nodes: 8 home cores beside each GPU, 8 annex cores from the GPU-less\n"
     "# neighbour in the same package, so that no core is idle. Two GPUs share the adapter of "
     "their\n"
     "# switch. 4 ranks have the two GPUs of a NUMA node each; 16 ranks share GPUs by twos.",
     "package:2 numa:4 l3:4 core:4 pu:1",
     {3, 3, 1, 1, 7, 7, 5, 5},
     {3, 1, 7, 5},
     2,
     {4, 8, 16},
     nothing},
    {"hgx-h100",
     "4 GPUs and 4 adapters a socket, each pair behind a switch of its own: every rank has a "
     "quarter\n"
     "# of its socket and the adapter behind its GPU's switch. 2 ranks have a socket each.",
     "package:2 numa:1 core:48 pu:1",
     {0, 0, 0, 0, 1, 1, 1, 1},
     {0, 0, 0, 0, 1, 1, 1, 1},
     1,
     {2, 8, 16},
     nothing},
    {"jureca",
     "4 GPUs on the odd ones of 8 NUMA nodes, in another order than theirs: rank 0 is in node 3,\n"
     "# where GPU 0 is, with node 2 or 0 of the same package as annex. 8 ranks share GPUs by twos.",
     "package:2 numa:4 core:16 pu:2",
     {3, 1, 7, 5},
     {3, 1, 7, 5},
     1,
     {2, 4, 8},
     nothing},
    {"frontier",
     "PCI order is not NUMA order: GPUs 0 and 1 are in node 3. 8 ranks have an L3 each in their\n"
     "# GPU's node. With 7 ranks one GPU is left over, which is said. 1 rank has all.",
     "package:1 numa:4 l3:2 core:8 pu:2",
     {3, 3, 1, 1, 0, 0, 2, 2},
     {3, 1, 0, 2},
     0,
     {1, 7, 8},
     nothing},
    {"grace-hopper",
     "4 sockets of 72 cores, a GPU each, whose memory is a NUMA node without cores: ranks are on\n"
     "# the nodes with cores, and memory comes from these (0, 2, 4, 6 as hwloc counts).",
     "package:4 numa:1 core:72 pu:1",
     {0, 1, 2, 3},
     {0, 1, 2, 3},
     0,
     {1, 4, 8},
     [](NodeTopology& node) {
       std::vector<topo::NumaNode> numas;
       for (const topo::NumaNode& numa : node.numas) {
         numas.push_back(numa);
         numas.push_back({numa.os + 4, numa.package, 96ULL << 30, false});
       }
       node.numas = numas;
       for (auto* devices : {&node.gpus, &node.nics})
         for (topo::Device& device : *devices) device.numa = 2 * *device.numa;
       for (topo::Core& core : node.cores) core.numa *= 2;
     }},
    {"power9-smt4",
     "4 hardware threads a core, of which --smt 2 takes two: 4 ranks have 11 cores beside their "
     "GPU\n"
     "# and 22 threads; 88 ranks share cores by twos, and have a thread each.",
     "package:2 numa:1 core:22 pu:4",
     {0, 0, 1, 1},
     {0, 0, 1, 1},
     0,
     {2, 4, 88},
     nothing},
    {"mi300a-cpx",
     "24 GPUs at 4 PCI addresses, 6 a socket: each rank has 4 cores of its socket, and 6 ranks "
     "share\n"
     "# the adapter of theirs. 4 ranks have the 6 GPUs of a socket. 8 ranks have 3 each.",
     "package:4 numa:1 l3:3 core:8 pu:1",
     {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3},
     {0, 1, 2, 3},
     0,
     {4, 8, 24},
     [](NodeTopology& node) {
       for (unsigned gpu = 0; gpu < 24; ++gpu) {
         node.gpus[gpu].pci = node.gpus[gpu / 6 * 6].pci;
         node.gpus[gpu].part = gpu % 6;
       }
     }},
    {"hybrid",
     "6 fast cores and 8 slow ones: ranks have as many of each kind as can be, the fast ones at "
     "home,\n"
     "# the slow ones as annex.",
     "package:1 core:14 pu:1",
     {},
     {},
     0,
     {1, 2, 4},
     [](NodeTopology& node) {
       for (unsigned core = 0; core < 14; ++core) node.cores[core].kind = core < 6 ? 1 : 0;
     }},
    {"half-a-node",
     "The first package of a DGX A100 is all that the job may use: GPUs 4 to 7 are not lost, "
     "their\n"
     "# ranks have as many cores as the others, and it is said that these are far. GPUs that have\n"
     "# cores near them keep these.",
     "package:2 numa:4 core:16 pu:1",
     {3, 3, 1, 1, 7, 7, 5, 5},
     {3, 1, 7, 5},
     2,
     {2, 4, 8},
     [](NodeTopology& node) {
       Numbers first(64);
       std::iota(first.begin(), first.end(), 0U);
       node = topo::restrict_to(node, first);
     }},
    {"nvlink-pairs",
     "4 GPUs that are equally near, linked as 0-2 and 1-3: 2 ranks have a linked pair each.",
     "package:1 numa:1 core:16 pu:2",
     {0, 0, 0, 0},
     {0},
     0,
     {1, 2, 4},
     [](NodeTopology& node) {
       node.links = {{0, 2, 50}, {1, 3, 50}};
     }},
    {"no-gpu",
     "Nothing to be near to: runs of neighbours, as many cores each, or one more. 48 ranks on 24\n"
     "# cores have a hardware thread each.",
     "package:2 numa:1 core:12 pu:2",
     {},
     {},
     0,
     {2, 5, 48},
     nothing},
    {"uneven-6-of-8",
     "8 GPUs on 6 of 8 NUMA nodes, two of them with two: 16 cores each, at home in the GPU's "
     "node,\n"
     "# annex from the nodes without GPU in the same package. With 4 ranks the two GPUs of a NUMA "
     "node\n"
     "# go to different ranks: together they would have its 16 cores near, and their neighbours "
     "32.\n"
     "# With 3 ranks GPUs 1 and 3 are left over, so that the two ranks of package 1 have 24 of its "
     "48 "
     "near\n"
     "# cores each: any other choice leaves one of them 16.",
     "package:2 numa:4 core:16 pu:1",
     {0, 0, 1, 2, 4, 4, 5, 6},
     {0, 4},
     0,
     {3, 4, 8},
     nothing},
    {"two-cores",
     "The smallest: a rank has both, two have one each, four share them.",
     "package:1 core:2 pu:1",
     {},
     {},
     0,
     {1, 2, 4},
     nothing},
};

// Devices of the list are behind host bridges of their NUMA nodes, `behind` of each kind at a time
// behind one switch there.
void add(std::vector<topo::Device>& devices,
         const Case& c,
         const Numbers& numas,
         const NodeTopology& node) {
  const bool gpus = &devices == &node.gpus;
  const std::size_t each =
      gpus || c.gpus.empty() ? c.behind : c.behind * numas.size() / c.gpus.size();
  for (unsigned i = 0; i < numas.size(); ++i) {
    topo::Device& device = devices.emplace_back();
    device.pci = fmt::format("0000:{:02x}:00.0", (gpus ? 0x10 : 0x80) + i);
    device.package = node.numas[numas[i]].package;
    device.numa = numas[i];
    device.bridges = {numas[i]};
    if (each > 0) device.bridges.push_back(100 + i / static_cast<unsigned>(each));
    device.bridges.push_back(gpus ? 200 + i : 300 + i);
    if (!gpus) device.name = fmt::format("mlx5_{}", i);
  }
}

NodeTopology machine_of(const Case& c) {
  NodeTopology node = *topo::load_synthetic(c.machine);
  add(node.gpus, c, c.gpus, node);
  add(node.nics, c, c.nics, node);
  c.change(node);
  return node;
}

std::string line_of(const NodeTopology& node, std::size_t rank, const plan::RankBinding& r) {
  std::string line = fmt::format(
      "rank {:<2} cpus {}; home cores {}", rank, fold_numbers(r.cpus), fold_numbers(r.home));
  if (!r.annex.empty()) line += "; annex " + fold_numbers(r.annex);
  line += "; memory " + fold_numbers(r.numas);
  if (!r.gpus.empty()) line += "; GPU " + fold_numbers(r.gpus);
  for (const unsigned nic : r.nics) line += "; " + node.nics[nic].name;
  return line + "\n";
}

std::string render(const Case& c, const NodeTopology& node, unsigned count) {
  plan::BindRequest request;
  request.ranks = count;
  request.smt = std::string(c.name) == "power9-smt4" ? 2 : 0;
  request.gpus.resize(node.gpus.size());
  std::iota(request.gpus.begin(), request.gpus.end(), 0U);
  const auto binding = plan::bind_node(node, request);
  if (!binding) return binding.error().message + "\n";
  std::string text = fmt::format("\n{} ranks\n", count);
  for (std::size_t rank = 0; rank < binding->ranks.size(); ++rank)
    text += line_of(node, rank, binding->ranks[rank]);
  for (const std::string& reason : binding->reasons) text += "because: " + reason + "\n";
  for (const std::string& warning : binding->warnings) text += "warning: " + warning + "\n";
  const plan::BindingScore &s = binding->score, &b = binding->bound;
  return text + fmt::format(
                    "score: home {:.2f} (bound {:.2f}), mean {:.2f} ({:.2f}), cores {}-{}, "
                    "unused {}, adapters {:.2f} at most {}, linked {}\n",
                    s.home_distance,
                    b.home_distance,
                    s.mean_distance,
                    b.mean_distance,
                    s.fewest_cores,
                    s.most_cores,
                    s.unused_cores,
                    s.nic_distance,
                    s.nic_load,
                    s.linked);
}

}  // namespace
}  // namespace dts

int main(int argc, char** argv) {
  using namespace dts;
  if (argc < 2) return 2;
  golden::Files files;
  for (const Case& c : k_cases) {
    const NodeTopology node = machine_of(c);
    std::string text = fmt::format("# {}: {}\n# {}\n", c.name, c.machine, c.why);
    for (const unsigned count : c.counts) text += render(c, node, count);
    files.emplace_back(std::string(c.name) + ".txt", text);
  }
  return golden::compare(argv[1], files, argc > 2 && std::string(argv[2]) == "--bless");
}
