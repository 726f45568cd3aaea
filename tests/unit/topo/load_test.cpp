// SPDX-License-Identifier: Apache-2.0
// Topologies of this machine, of descriptions, and of recorded machines.
#include "core/topo/hwloc/load.hpp"

#include "core/base/files/files.hpp"
#include "core/topo/hwloc/xml_file.hpp"
#include "tests/support/described.hpp"
#include "tests/support/recorded.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <random>
#include <set>

namespace dts::topo {
namespace {

using tests::have_recorded;
using tests::k_recorded;

void check_sane(const NodeTopology& node) {
  REQUIRE_FALSE(node.cores.empty());
  std::set<unsigned> pus;
  for (const Core& core : node.cores) {
    REQUIRE_FALSE(core.pus.empty());
    CHECK(std::is_sorted(core.pus.begin(), core.pus.end()));
    for (const unsigned pu : core.pus) CHECK(pus.insert(pu).second);  // no PU belongs to two cores
  }
  std::set<std::string> gpus;
  for (const Gpu& gpu : node.gpus)
    CHECK(gpus.insert(gpu.pci + "/" + std::to_string(gpu.part)).second);
}

std::size_t threads(const NodeTopology& node) {
  std::size_t count = 0;
  for (const Core& core : node.cores) count += core.pus.size();
  return count;
}

constexpr unsigned k_none = 99;  // hangs from more than one NUMA node

std::vector<unsigned> gpu_numas(const NodeTopology& node) {
  std::vector<unsigned> numas;
  for (const Gpu& gpu : node.gpus) numas.push_back(gpu.numa.value_or(k_none));
  return numas;
}

// MI300A in CPX mode is six GPUs at one PCI address.
std::vector<unsigned> six_each(const std::vector<unsigned>& numas) {
  std::vector<unsigned> all;
  for (const unsigned numa : numas) all.insert(all.end(), 6, numa);
  return all;
}

class Affinity {  // restores the mask it found
 public:
  Affinity() { ::sched_getaffinity(0, sizeof saved_, &saved_); }

  ~Affinity() { ::sched_setaffinity(0, sizeof saved_, &saved_); }

  [[nodiscard]] std::vector<unsigned> pus() const {
    std::vector<unsigned> list;
    for (unsigned pu = 0; pu < CPU_SETSIZE; ++pu)
      if (CPU_ISSET(pu, &saved_)) list.push_back(pu);
    return list;
  }

 private:
  cpu_set_t saved_{};
};

}  // namespace

TEST_CASE("this machine shows exactly the processors we may run on") {
  const Affinity affinity;
  const auto node = load_live();
  REQUIRE(node);
  check_sane(*node);
  std::vector<unsigned> pus;
  for (const Core& core : node->cores) pus.insert(pus.end(), core.pus.begin(), core.pus.end());
  std::sort(pus.begin(), pus.end());
  CHECK(pus == affinity.pus());
}

TEST_CASE("a narrower affinity mask narrows the live topology") {
  const Affinity affinity;
  const unsigned last = affinity.pus().back();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  const auto node = load_live();
  REQUIRE(node);
  REQUIRE(node->cores.size() == 1);
  CHECK(node->cores[0].pus == std::vector<unsigned>{last});
}

TEST_CASE("loading this machine asks no probe that computes for long") {
  (void)load_live();                        // the first one opens hwloc's plugins
  const std::clock_t start = std::clock();  // processor time: other work does not count
  for (int i = 0; i < 11; ++i) REQUIRE(load_live());
  const double ms = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / 11;
  MESSAGE("load_live: " << ms << " ms of processor time");
  CHECK(ms < 200);
}

TEST_CASE("a described machine has the cores, packages and NUMA nodes it says") {
  const auto node = load_synthetic("package:2 numa:2 l3:1 core:4 pu:2");
  REQUIRE(node);
  check_sane(*node);
  REQUIRE(node->cores.size() == 16);
  CHECK(threads(*node) == 32);
  CHECK(node->cores[0].package == 0);
  CHECK(node->cores[15].package == 1);
  CHECK(node->cores[15].numa == 3);
  CHECK(node->cores[4].l3 == 1);
  CHECK(node->cores[3].pus == std::vector<unsigned>{6, 7});
}

TEST_CASE("a machine without named cores counts each thread as one") {
  const auto node = load_synthetic("numa:2 pu:3");
  REQUIRE(node);
  CHECK(node->cores.size() == 6);
  CHECK(node->cores[5].numa == 1);
}

TEST_CASE("an invalid topology is an error that names its source") {
  CHECK(load_synthetic("no such thing").error().message.find("no such thing") != std::string::npos);
  CHECK(load_synthetic("").error().code == Errc::invalid);
  CHECK(load_xml("/no/such/file.xml").error().code == Errc::not_found);
  CHECK(load_xml("/").error().code == Errc::invalid);
  CHECK(load_xml(tests::in_source("LICENSE")).error().code == Errc::invalid);
}

TEST_CASE("described machines: cores, threads and each GPU's NUMA node") {
  struct Expected {
    const char* name;
    std::size_t cores, threads;
    std::vector<unsigned> gpu_numas;
  };

  // By their makers' data sheets. gpus-out-of-reach: no processor of the GPUs' NUMA nodes may be
  // used.
  const Expected table[] = {
      {"aurora", 104, 208, {1, 1, 1, 3, 3, 3}},
      {"corona", 48, 96, {1, 2, 5, 7}},
      {"cpuset-part-of-nodes", 10, 10, {}},
      {"dgx-a100", 128, 256, {3, 3, 1, 1, 7, 7, 5, 5}},
      {"dgx-spark", 20, 20, {0}},
      {"frontier", 64, 128, {3, 3, 1, 1, 0, 0, 2, 2}},
      {"gb200-tray", 144, 144, {2, 2, 5, 5}},
      {"gh200-quad", 288, 288, {1, 3, 5, 7}},
      {"gpus-at-the-machine", 16, 32, {k_none, k_none}},
      {"gpus-on-one-socket", 36, 72, {0, 0}},
      {"gpus-out-of-reach", 16, 16, {4, 7}},
      {"hgx-h100", 112, 224, {0, 0, 0, 0, 1, 1, 1, 1}},
      {"jureca-dc", 128, 256, {3, 1, 7, 5}},
      {"juwels-booster", 48, 96, {3, 1, 7, 5}},
      {"knl-snc4-cache", 68, 272, {}},
      {"knl-snc4-flat", 68, 272, {}},
      {"laptop-hybrid", 14, 20, {}},
      {"lumi-low-noise", 56, 112, {3, 3, 1, 1, 0, 0, 2, 2}},
      {"mi300a-cpx", 96, 192, six_each({0, 1, 2, 3})},
      {"mi300a-spx", 96, 192, {0, 1, 2, 3}},
      {"offline-cores", 6, 7, {}},
      {"one-core", 1, 1, {}},
      {"power9-lassen", 40, 160, {0, 0, 1, 1}},
      {"power9-summit-smt2", 44, 88, {0, 0, 0, 1, 1, 1}},
      {"spr-snc4-h100", 112, 224, {3, 1, 7, 5}},
      {"thirty-two-sockets", 128, 256, {}},
      {"two-sockets", 36, 36, {}},
  };
  for (const Expected& expected : table) {
    CAPTURE(std::string(expected.name));
    const auto node = tests::load_machine(expected.name);
    REQUIRE(node);
    check_sane(*node);
    CHECK(node->cores.size() == expected.cores);
    CHECK(threads(*node) == expected.threads);
    CHECK(gpu_numas(*node) == expected.gpu_numas);
  }
}

TEST_CASE("recorded machines: cores, threads and each GPU's NUMA node") {
  if (!have_recorded()) return;

  struct Expected {
    const char* file;
    std::size_t cores, threads;
    std::vector<unsigned> gpu_numas;
  };

  // Counted from the XML by another program. condor: no processor of its GPUs' NUMA nodes is
  // allowed.
  const Expected table[] = {
      {"8gpu-4nic-2xEPYC7742-NPS4-dgxa100like.xml", 128, 128, {3, 3, 1, 1, 7, 7, 5, 5}},
      {"azure-ndv5-8xH100-8ib-2xSPR48c-nosmt.xml", 96, 96, {0, 0, 0, 0, 1, 1, 1, 1}},
      {"cgroup-cpuset-restricted_8n2c.xml", 10, 10, {}},
      {"condor_irregular-groups_48PU-disallowed_2gpu.xml", 16, 16, {4, 7}},
      {"corona_2xEPYC7401-8numa_4gpu-uneven.xml", 48, 96, {1, 2, 5, 7}},
      {"frontier-tioga_1xEPYC7A53-NPS4_8xMI250X-GCD_4xSlingshot.xml",
       64,
       128,
       {3, 3, 1, 1, 0, 0, 2, 2}},
      {"gh200-quad-gpunuma-kept.xml", 288, 288, {0, 2, 4, 6}},
      {"inti_KNL7250-SNC4-cache_smt4_v2.xml", 68, 272, {}},
      {"ipa20_2xSPR8480-SNC4_4xH100_ib.xml", 112, 224, {3, 1, 7, 5}},
      {"jureca-dc_2xEPYC7742-NPS4_4xA100_4ib+gpuos.xml", 128, 256, {3, 1, 7, 5}},
      {"juropa3_2xSNB_2xK20_gpus-at-machine-level_v2.xml", 16, 32, {k_none, k_none}},
      {"jusuf_2xEPYC7742-NPS4_1xV100_v2.xml", 128, 256, {3}},
      {"juwels-booster_2xEPYC7402-NPS4_4xA100_4ib.xml", 48, 96, {3, 1, 7, 5}},
      {"laptop-hybrid_i7-1370P_6P+8E.xml", 14, 20, {}},
      {"lassen_2xPOWER9-SMT4_4xV100_4ib_16disallowedPU.xml", 40, 160, {0, 0, 1, 1}},
      {"offline-cpus_4s2c2t.xml", 6, 7, {}},
      {"pascal_2xBDW_2xP100-both-socket0.xml", 36, 72, {0, 0}},
      {"quartz_2xBDW_nogpu_smtoff.xml", 36, 36, {}},
      {"tuolumne-elcap_4xMI300A_CPX_24gpu.xml", 96, 192, six_each({0, 1, 2, 3})},
      {"tuolumne-elcap_4xMI300A_SPX_4gpu.xml", 96, 192, {0, 1, 2, 3}},
  };
  for (const Expected& expected : table) {
    CAPTURE(std::string(expected.file));
    if (!have_recorded(expected.file)) continue;
    const auto node = load_xml(k_recorded + expected.file);
    REQUIRE(node);
    check_sane(*node);
    CHECK(node->cores.size() == expected.cores);
    CHECK(threads(*node) == expected.threads);
    CHECK(gpu_numas(*node) == expected.gpu_numas);
  }
}

TEST_CASE("a crash of hwloc and a reading that does not end are distinguished") {
  const auto words = [](int number) {
    const auto read = [number](int) -> Result<NodeTopology> {
      ::raise(number);
      return NodeTopology{};
    };
    return in_child(read, "x.xml").error().message;
  };
  CHECK(words(SIGSEGV) == "hwloc crashes while it reads x.xml: Segmentation fault");
  CHECK(words(SIGALRM) == "hwloc does not finish reading x.xml in 10 s");
}

TEST_CASE("damaged recordings are loaded or refused, and nothing else") {
  const tests::TemporaryFolder folder;
  const std::string damaged = folder.file("machine.xml");
  const std::string whole = tests::to_hwloc(*tests::read_machine("laptop-hybrid"));
  unsigned refused = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    std::string text = whole;
    if (seed == 0)  // hwloc 2.9.0 dies of SIGSEGV on a core without it
      text.replace(text.find("complete_cpuset", text.find("type=\"Core\"")), 3, "xxx");
    else
      for (unsigned i = 0; i <= seed % 4; ++i)
        text.erase(random() % text.size(), 1 + random() % 200);
    REQUIRE(write_file(damaged, text));
    const auto node = load_xml(damaged);
    if (node) check_sane(*node);
    refused += node ? 0 : 1;
  }
  CHECK(refused > 0);
}

}  // namespace dts::topo
