// SPDX-License-Identifier: Apache-2.0
// A rank's state as text, and read from the real kernel.
#include "core/launch/binding/binding.hpp"
#include "core/launch/binding/memory_binding.hpp"
#include "core/launch/binding/read_binding.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace {

using namespace dts;
using namespace dts::launch;
using tests::in_child;
using Kind = plan::MemoryPolicy::Kind;

}  // namespace

TEST_CASE("a state of a node of 256 PUs round-trips in less than a kilobyte") {
  BoundState state;
  for (unsigned cpu = 0; cpu < 256; ++cpu) state.inherited.push_back(cpu);
  state.cpus = state.cgroup = state.inherited;
  state.memory = {Kind::prefer, {0, 1}};
  state.memory_nodes = {0, 1, 2, 3};
  state.gpus_visible = 8;
  CHECK(parse_bound_state(to_text(state)) == state);
  state.settled = true;
  state.cgroup_now = {0, 1};
  state.inherited_from = "SLURM_CPU_BIND=quiet,mask_cpu:0x1";
  state.memory_error = "Operation not permitted";
  state.allotted = 128;
  state.gpus_open = 4;
  state.threads = {{"python3", "", {3}, 12, 4}, {"python3", "NCCL", {0, 1}, 4, 4}};
  state.openmp = {"libgomp"};
  state.places = {"OMP_PROC_BIND=true"};
  state.pages_on = {1};
  state.thread_places = "OpenMP threads by OMP_PLACES: the program is linked with libgomp";
  CHECK(parse_bound_state(to_text(state)) == state);
  CHECK(to_text(state).size() < 1000);
  CHECK(parse_bound_state(to_text(BoundState{})) == BoundState{});
}

TEST_CASE("an invalid state is refused") {
  const std::string good = to_text(BoundState{});
  REQUIRE(parse_bound_state(good));
  for (const auto& [part, wrong] : {std::pair{R"("cpus":"")", R"("cpus":"a")"},
                                    {R"("cpus":"")", R"("cpus":[1])"},
                                    {R"("cpus":"")", R"("cpus":"0-99999")"},
                                    {R"("memory":"none")", R"("memory":"all")"},
                                    {R"("allotted":0)", R"("allotted":-1)"},
                                    {R"("allotted":0)", R"("allotted":0,"threads":[])"},
                                    {R"("allotted":0)", R"("allot":0)"}}) {
    std::string text = good;
    REQUIRE(text.find(part) != std::string::npos);
    text.replace(text.find(part), std::string(part).size(), wrong);
    CAPTURE(text);
    CHECK_FALSE(parse_bound_state(text));
  }
  CHECK_FALSE(parse_bound_state(""));
  CHECK_FALSE(parse_bound_state("[]"));
}

TEST_CASE("the cpuset is searched from the inside out, version 1 before version 2") {
  using Files = std::vector<std::string>;

  struct {
    const char* proc_cgroup;
    Files files;
  } const table[] = {
      {"0::/a/b\n",
       {"/sys/fs/cgroup/a/b/cpuset.cpus.effective",
        "/sys/fs/cgroup/a/cpuset.cpus.effective",
        "/sys/fs/cgroup/cpuset.cpus.effective"}},
      {"3:cpuset:/slurm/job_1\n0::/x\n",
       {"/sys/fs/cgroup/cpuset/slurm/job_1/cpuset.effective_cpus",
        "/sys/fs/cgroup/cpuset/slurm/cpuset.effective_cpus",
        "/sys/fs/cgroup/cpuset/cpuset.effective_cpus",
        "/sys/fs/cgroup/x/cpuset.cpus.effective",
        "/sys/fs/cgroup/cpuset.cpus.effective"}},
      {"5:cpuset,cpu:/\n", {"/sys/fs/cgroup/cpuset/cpuset.effective_cpus"}},
      {"4:memory:/m\n", {}},
      {"0::/a:b\n",
       {"/sys/fs/cgroup/a:b/cpuset.cpus.effective", "/sys/fs/cgroup/cpuset.cpus.effective"}},
      {"nonsense\n:\n1:cpuset:x\n", {}},
      {"", {}},
  };

  for (const auto& row : table) {
    CAPTURE(row.proc_cgroup);
    CHECK(cpuset_files(row.proc_cgroup) == row.files);
  }
}

TEST_CASE("a variable that narrows masks is named, any other is not") {
  struct {
    const char* name;
    const char* value;
    const char* told;
  } const table[] = {
      {"SLURM_CPU_BIND", "quiet,mask_cpu:0x1", "SLURM_CPU_BIND=quiet,mask_cpu:0x1"},
      {"SLURM_CPU_BIND", "cores", "SLURM_CPU_BIND=cores"},
      {"SLURM_CPU_BIND", "quiet,none", ""},
      {"SLURM_CPU_BIND", "", ""},
      {"OMPI_MCA_hwloc_base_binding_policy", "core", "OMPI_MCA_hwloc_base_binding_policy=core"},
      {"OMPI_MCA_hwloc_base_binding_policy", "none", ""},
      {"HOME", "core", ""},
  };

  for (const auto& row : table) {
    CAPTURE(row.value);
    const auto variable = [&](const char* name) {
      return std::string(name) == row.name ? std::optional<std::string>(row.value) : std::nullopt;
    };
    CHECK(mask_variable(variable) == row.told);
  }
}

TEST_CASE("this process is read as the kernel reports it, and the cpuset covers its mask") {
  const BoundState state = read_start_state({9}, "why not");
  CHECK(state.inherited == std::vector<unsigned>{9});
  CHECK(state.cpus == current_binding());
  CHECK(state.memory_error == "why not");
  CHECK_FALSE(state.memory_nodes.empty());
  CHECK_FALSE(state.settled);
  if (!state.cgroup.empty())
    CHECK(std::includes(
        state.cgroup.begin(), state.cgroup.end(), state.cpus.begin(), state.cpus.end()));
}

TEST_CASE("threads that were moved are distinguished from those that were not") {
  const std::vector<unsigned> all = current_binding();
  std::atomic<bool> moved = false, over = false;
  std::thread one([&] {
    CHECK(bind_to({all.front()}));
    moved = true;
    moved.notify_one();
    while (!over) {
    }
  });
  moved.wait(false);
  BoundState state;
  // Wait until the kernel has accounted for its time.
  for (bool works = false; !works;) {
    read_threads({::getpid()}, state);
    for (const ThreadGroup& group : state.threads)
      works = works || (group.cpus == std::vector<unsigned>{all.front()} && group.working > 0);
  }
  over = true;
  one.join();
  CHECK(state.settled);
  CHECK(state.cgroup_now == read_start_state({}, "").cgroup);
  unsigned on_all = 0;
  for (const ThreadGroup& group : state.threads)
    if (group.cpus == all) on_all += group.threads;
  CHECK(on_all >= 1);
}

TEST_CASE("a memory policy is set, read back and inherited, and a missing node is reported") {
  const std::vector<unsigned> there = read_start_state({}, "").memory_nodes;
  REQUIRE_FALSE(there.empty());
  CHECK(current_memory_policy() == plan::MemoryPolicy{});
  for (const Kind kind : {Kind::prefer, Kind::bind}) {
    const plan::MemoryPolicy policy{kind, {there.front()}};
    CHECK(in_child([&] {
            if (const auto set = bind_memory(policy); !set)  // a container's filter may forbid it
              return set.error().message.find("cannot set the memory policy") == 0 ? 0 : 1;
            if (current_memory_policy() != policy) return 2;
            return in_child([&] { return current_memory_policy() == policy ? 0 : 3; });
          }) == 0);
  }
  CHECK(in_child([] { return bind_memory({Kind::bind, {1000}}) ? 1 : 0; }) == 0);
  CHECK(bind_memory({}));
  CHECK(current_memory_policy() == plan::MemoryPolicy{});
}

TEST_CASE("the nodes of a process's pages are among its allowed ones") {
  const auto maps = read_file("/proc/self/maps");
  REQUIRE(maps);
  const std::vector<unsigned> on = nodes_of_pages(::getpid(), *maps);
  const std::vector<unsigned> allowed = read_start_state({}, "").memory_nodes;
  CHECK(std::includes(allowed.begin(), allowed.end(), on.begin(), on.end()));
  CHECK(nodes_of_pages(::getpid(), "").empty());
  CHECK(nodes_of_pages(::getpid(), "0-0 rw-p 00000000 00:00 0 \nnonsense\n").empty());
}
