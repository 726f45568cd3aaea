// SPDX-License-Identifier: Apache-2.0
// What builds without hwloc know of a node.
#include "core/topo/sysfs/sysfs.hpp"

#include "core/base/files/files.hpp"
#include "core/topo/hwloc/load.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace dts::topo {
namespace {

void put(const std::string& path, const std::string& text) {
  REQUIRE(make_folders(path.substr(0, path.rfind('/'))));
  REQUIRE(write_file(path, text + "\n"));
}

// Two packages of one NUMA node and two cores with two threads each; the kernel numbers the second
// threads last.
void put_machine(const std::string& system) {
  put(system + "/cpu/online", "0-7");
  for (unsigned cpu = 0; cpu < 8; ++cpu) {
    const std::string folder = system + "/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const unsigned core = cpu % 4;
    put(folder + "thread_siblings_list", std::to_string(core) + "," + std::to_string(core + 4));
    put(folder + "physical_package_id", core < 2 ? "0" : "36");
  }
  put(system + "/node/online", "0,8");
  put(system + "/node/node0/cpulist", "0-1,4-5");
  put(system + "/node/node8/cpulist", "2-3,6-7");
  put(system + "/node/node0/meminfo", "Node 0 MemTotal:  2048 kB\nNode 0 MemFree: 1 kB");
  put(system + "/node/node8/meminfo", "Node 8 MemTotal:  1024 kB");
}

}  // namespace

TEST_CASE("cores, threads, packages and NUMA nodes come from /sys") {
  const tests::TemporaryFolder folder;
  put_machine(folder.path);
  const auto node = read_sysfs(folder.path, {0, 2, 4, 6});
  REQUIRE(node);
  REQUIRE(node->cores.size() == 2);
  CHECK(node->cores[0].pus == std::vector<unsigned>{0, 4});
  CHECK(node->cores[1].pus == std::vector<unsigned>{2, 6});
  CHECK(node->cores[1].package == 1);
  CHECK(node->cores[1].numa == 1);
  REQUIRE(node->closed.size() == 2);
  CHECK(node->closed[0].pus == std::vector<unsigned>{1, 5});
  REQUIRE(node->numas.size() == 2);
  CHECK(node->numas[1].os == 8);
  CHECK(node->numas[1].bytes == 1024 * 1024);
  CHECK(node->numas[1].package == 1U);
  REQUIRE(node->notes.size() == 1);
  CHECK(node->notes[0].find("without hwloc") != std::string::npos);
}

TEST_CASE("a GPU's NUMA node is looked up by its address") {
  const tests::TemporaryFolder folder;
  put_machine(folder.path);
  put(folder.path + "/devices/0000:3b:00.0/numa_node", "8");
  put(folder.path + "/devices/0000:5e:00.0/numa_node", "-1");
  NodeTopology node = *read_sysfs(folder.path, {0});
  node.gpus = {{"0000:3b:00.0"}, {"0000:5e:00.0"}, {"0000:ff:00.0"}};
  node = with_places(std::move(node), folder.path + "/devices");
  CHECK(node.gpus[0].numa == 1U);
  CHECK(node.gpus[0].package == 1U);
  CHECK_FALSE(node.gpus[1].numa);
  CHECK_FALSE(node.gpus[2].numa);
}

TEST_CASE("a machine whose /sys is missing or closed is refused with what to do") {
  const tests::TemporaryFolder folder;
  const auto none = read_sysfs(folder.path, {0});
  REQUIRE_FALSE(none);
  CHECK(none.error().hint.find("/sys") != std::string::npos);
  put_machine(folder.path);
  CHECK_FALSE(read_sysfs(folder.path, {}));
}

TEST_CASE("/sys and hwloc agree on this machine's cores") {
  const auto by_hwloc = load_live();
  REQUIRE(by_hwloc);
  std::vector<unsigned> allowed;
  for (const Core& core : by_hwloc->cores)
    allowed.insert(allowed.end(), core.pus.begin(), core.pus.end());
  std::sort(allowed.begin(), allowed.end());
  const auto by_sysfs = read_sysfs("/sys/devices/system", allowed);
  REQUIRE(by_sysfs);
  REQUIRE(by_sysfs->cores.size() == by_hwloc->cores.size());
  for (std::size_t i = 0; i < by_sysfs->cores.size(); ++i) {
    CHECK(by_sysfs->cores[i].pus == by_hwloc->cores[i].pus);
    CHECK(by_sysfs->cores[i].numa == by_hwloc->cores[i].numa);
  }
}

}  // namespace dts::topo
