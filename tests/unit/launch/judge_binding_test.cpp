// SPDX-License-Identifier: Apache-2.0
// What was found compared with the plan: the words for each deviation, and none for a match.
#include "core/launch/binding/judge_binding.hpp"

#include <doctest/doctest.h>

#include <functional>

namespace {

using namespace dts;
using namespace dts::launch;
using Kind = plan::MemoryPolicy::Kind;

// A rank on cores 0 to 3 of 8 whose memory is bound to node 0, all as planned.
PlannedBinding a_binding_plan() {
  return {{0, 1, 2, 3}, {Kind::bind, {0}}, 4, 4};
}

BoundState a_state() {
  BoundState state;
  state.inherited = state.cgroup = state.cgroup_now = {0, 1, 2, 3, 4, 5, 6, 7};
  state.cpus = {0, 1, 2, 3};
  state.memory = {Kind::bind, {0}};
  state.memory_nodes = {0, 1};
  state.gpus_visible = 4;
  state.settled = true;
  state.threads = {{"python3", "", {0, 1, 2, 3}, 20, 9}};
  state.openmp = {"libgomp"};
  state.pages_on = {0};
  return state;
}

ThreadGroup threads(std::vector<unsigned> cpus, unsigned count, unsigned working) {
  return {"python3", "", std::move(cpus), count, working};
}

using Change = std::function<void(PlannedBinding&, BoundState&)>;

std::vector<BindingFinding> after(const Change& change) {
  PlannedBinding planned = a_binding_plan();
  BoundState found = a_state();
  change(planned, found);
  return judge_binding(planned, found);
}

}  // namespace

TEST_CASE("a binding that is as planned, or may legitimately differ, is not mentioned") {
  struct {
    const char* what;
    Change change;
  } const table[] = {
      {"all as planned", [](auto&, auto&) {}},
      {"not bound: nothing is expected",
       [](auto& p, auto& f) {
         p.cpus = {};
         f.cpus = {5};
       }},
      {"the cgroup is not known", [](auto&, auto& f) { f.cgroup = f.cgroup_now = {}; }},
      {"the cgroup is not known any more", [](auto&, auto& f) { f.cgroup_now = {}; }},
      {"a cgroup that lost cores of others",
       [](auto&, auto& f) {
         f.cgroup_now = {0, 1, 2, 3, 4};
       }},
      {"a cgroup that got more than the rank was started with",
       [](auto& p, auto& f) {
         p.cpus = f.cpus = f.inherited = f.cgroup = {2};
         p.node_cpus = 1;
         f.threads = {threads({2}, 40, 9)};
       }},
      {"a cgroup of one core",
       [](auto& p, auto& f) {
         p.cpus = f.cpus = f.inherited = f.cgroup = f.cgroup_now = {2};
         f.threads = {threads({2}, 40, 9)};
       }},
      {"a narrow mask that did not narrow the plan",
       [](auto& p, auto& f) {
         p.node_cpus = 8;
         f.inherited = {0};
         f.inherited_from = "SLURM_CPU_BIND=cores";
       }},
      {"a job of one core on a node whose cgroup has all",
       [](auto& p, auto& f) {
         p.cpus = f.cpus = f.inherited = {2};
         f.allotted = 1;
         f.inherited_from = "SLURM_CPU_BIND=quiet,mask_cpu:0x4";
         f.threads = {threads({2}, 40, 9)};
       }},
      {"one thread a core",
       [](auto&, auto& f) {
         f.threads = {threads({0}, 1, 1), threads({1}, 1, 1), threads({2}, 1, 1)};
       }},
      {"threads on one core that do nothing",
       [](auto&, auto& f) { f.threads.push_back(threads({0}, 12, 1)); }},
      {"NCCL's own, near its GPU",
       [](auto&, auto& f) {
         f.threads.push_back({"python3", "NCCL", {0}, 4, 4});
       }},
      {"a user's memory policy where none was planned", [](auto& p, auto&) { p.memory = {}; }},
      {"a kernel that prefers one node only",
       [](auto& p, auto& f) {
         p.memory = {Kind::prefer, {0, 1}};
         f.memory = {Kind::prefer, {0}};
       }},
      {"fewer GPUs than the node has for a job without",
       [](auto& p, auto& f) {
         p.gpus_per_node = 0;
         f.gpus_visible = 0;
       }},
      {"KMP_AFFINITY for libiomp5",
       [](auto&, auto& f) {
         f.openmp = {"libiomp5"};
         f.places = {"KMP_AFFINITY=granularity=fine"};
       }},
      {"both variables, of which libgomp reads its own",
       [](auto&, auto& f) {
         f.places = {"KMP_AFFINITY=granularity=fine", "OMP_PLACES={0,1},{1}"};
       }},
      {"not settled: threads were not read",
       [](auto&, auto& f) {
         f.settled = false;
         f.threads = {threads({7}, 9, 9)};
       }},
  };

  for (const auto& row : table) {
    CAPTURE(row.what);
    for (const BindingFinding& finding : after(row.change)) FAIL_CHECK(in_words(finding));
  }
}

TEST_CASE("each deviation has its words") {
  struct {
    const char* words;
    bool mismatch;
    Change change;
  } const table[] = {
      {"is bound to cores 4-7, planned 0-3",
       true,
       [](auto&, auto& f) {
         f.cpus = {4, 5, 6, 7};
       }},
      {"the cgroup leaves only cores 2,3 of the 4 planned (0-3)",
       true,
       [](auto&, auto& f) {
         f.cgroup = f.cgroup_now = f.inherited = {2, 3, 4, 5};
         f.cpus = {2, 3};
         f.threads = {};
       }},
      {"the cgroup now leaves only cores 2,3 of the 4 planned (0-3)",
       true,
       [](auto&, auto& f) {
         f.cgroup_now = {2, 3, 4, 5};
         f.threads = {threads({2, 3}, 20, 9)};
       }},
      {"the cgroup now leaves cores 4-7, none of the planned 0-3",
       true,
       [](auto&, auto& f) {
         f.cgroup_now = {4, 5, 6, 7};
         f.threads = {threads({4, 5, 6, 7}, 20, 9)};
       }},
      {"2 threads of python3 may run on cores 0-5, outside of the planned 0-3: moved by a change "
       "of the cgroup, or by the program itself",
       true,
       [](auto&, auto& f) {
         f.cgroup_now = {0, 1, 2, 3, 4, 5};
         f.threads.push_back(threads({0, 1, 2, 3, 4, 5}, 2, 2));
       }},
      {"was started on core 0 only, but has 8 cores: SLURM_CPU_BIND=quiet,map_cpu:0 leaked; "
       "unset it",
       true,
       [](auto&, auto& f) {
         f.inherited = {0};
         f.inherited_from = "SLURM_CPU_BIND=quiet,map_cpu:0";
       }},
      {"was started on cores 0,4 only, but has 6 cores: SLURM_CPU_BIND=cores leaked; unset it",
       true,
       [](auto&, auto& f) {
         f.inherited = {0, 4};
         f.allotted = 6;
         f.inherited_from = "SLURM_CPU_BIND=cores";
       }},
      {"was started on core 5 only, but has 8 cores: by taskset, or by what launched it",
       false,
       [](auto&, auto& f) { f.inherited = {5}; }},
      {"its memory policy is `none`, planned `bind 0`: Operation not permitted",
       true,
       [](auto&, auto& f) {
         f.memory = {};
         f.memory_error = "Operation not permitted";
       }},
      {"its memory policy is `bind 1`, planned `bind 0`: the cgroup allows memory of node 1 only",
       true,
       [](auto&, auto& f) {
         f.memory = {Kind::bind, {1}};
         f.memory_nodes = {1};
       }},
      {"its memory comes from node 1, planned 0",
       true,
       [](auto&, auto& f) {
         f.pages_on = {0, 1};
       }},
      {"its memory comes from nodes 1,2, planned 0",
       false,
       [](auto& p, auto& f) {
         p.memory.kind = f.memory.kind = Kind::prefer;
         f.pages_on = {1, 2};
       }},
      {"reaches 1 of the 4 GPUs that the job has on its node (CUDA_VISIBLE_DEVICES as it was "
       "started with): no peer-to-peer with the others; start without --gpus-per-task and "
       "--gpu-bind",
       true,
       [](auto&, auto& f) { f.gpus_visible = 1; }},
      {"reaches 1 of the 4 GPUs that the job has on its node (its cgroup): no peer-to-peer with "
       "the others; start without --gpus-per-task and --gpu-bind",
       true,
       [](auto&, auto& f) { f.gpus_visible = f.gpus_open = 1; }},
      {"12 threads of python3 share core 3 of the planned 0-3: moved by libgomp "
       "(GOMP_CPU_AFFINITY, OMP_PROC_BIND)",
       true,
       [](auto&, auto& f) {
         f.threads.push_back(threads({3}, 14, 12));
         f.places = {"GOMP_CPU_AFFINITY=3", "OMP_PROC_BIND=true"};
       }},
      {"3 threads of python3 share cores 0,1 of the planned 0-3: moved by the program itself",
       true,
       [](auto&, auto& f) {
         f.threads.push_back(threads({0, 1}, 3, 3));
         f.openmp = {};
       }},
      {"1 thread of python3 may run on core 7, outside of the planned 0-3: moved by libgomp or the "
       "program itself",
       true,
       [](auto&, auto& f) { f.threads.push_back(threads({7}, 1, 0)); }},
      {"4 threads of python3 may run on cores 0-7, outside of the planned 0-3: moved by NCCL",
       true,
       [](auto&, auto& f) {
         f.threads.push_back({"python3", "NCCL", {0, 1, 2, 3, 4, 5, 6, 7}, 4, 4});
       }},
      {"KMP_AFFINITY is set, but the program has loaded libgomp, which does not read it: "
       "--bind-threads auto",
       false,
       [](auto&, auto& f) { f.places = {"KMP_AFFINITY=compact"}; }},
      {"GOMP_CPU_AFFINITY is set and libgomp and libiomp5 are both loaded: the first binds the "
       "thread from which the other counts its cores; --bind-threads auto or none",
       false,
       [](auto&, auto& f) {
         f.openmp = {"libgomp", "libiomp5"};
         f.places = {"GOMP_CPU_AFFINITY=0 1 2 3"};
       }},
  };

  for (const auto& row : table) {
    CAPTURE(row.words);
    const auto findings = after(row.change);
    REQUIRE(findings.size() == 1);
    CHECK(in_words(findings[0]) == row.words);
    CHECK(findings[0].mismatch == row.mismatch);
    CHECK(has_mismatch(findings) == row.mismatch);
  }
}
