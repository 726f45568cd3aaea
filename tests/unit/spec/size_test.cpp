// SPDX-License-Identifier: Apache-2.0
// The size of a job in every spelling of sbatch, and what is impossible.
#include "core/spec/size.hpp"

#include "core/spec/option.hpp"
#include "core/spec/validate.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace dts::spec {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

struct Settled {
  JobSpec spec;
  Diagnostics problems;
};

Settled settled(const Words& words) {
  Settled result;
  for (const Option& row : options())
    for (const auto& [name, text] : words)
      if (row.long_name() == name)
        if (const auto parsed = row.value.parse(text, result.spec); !parsed)
          result.problems.push_back({name, parsed.error().message, parsed.error().hint});
  settle_size(result.spec, result.problems);
  return result;
}

struct Size {
  unsigned nodes;
  std::optional<unsigned> tasks, gpus;

  bool operator==(const Size&) const = default;
};

Size size_of(const Words& words) {
  const Settled result = settled(words);
  CHECK(result.problems.empty());
  return {result.spec.nodes, result.spec.ntasks_per_node, result.spec.gpus_per_node};
}

}  // namespace

TEST_CASE("nothing is derived if no other spelling is used") {
  CHECK(size_of({}) == Size{1, {}, {}});
  CHECK(size_of({{"--nodes", "2"}, {"--gpus-per-node", "8"}}) == Size{2, {}, 8});
}

TEST_CASE("a total of ranks is divided among the nodes") {
  CHECK(size_of({{"--ntasks", "16"}, {"--nodes", "2"}}) == Size{2, 8, {}});
  CHECK(size_of({{"--ntasks", "16"}, {"--ntasks-per-node", "8"}}) == Size{2, 8, {}});
  CHECK(size_of({{"--ntasks", "16"}, {"--gpus-per-node", "8"}}) == Size{2, 8, 8});
  CHECK(size_of({{"--ntasks", "4"}}) == Size{1, 4, {}});
  CHECK(size_of({{"--ntasks", "4"}, {"--gpus-per-node", "8"}}) == Size{1, 4, 8});
}

TEST_CASE("a total of GPUs is divided among the nodes") {
  CHECK(size_of({{"--gpus", "16"}, {"--nodes", "2"}}) == Size{2, {}, 8});
  CHECK(size_of({{"--gpus", "a100:16"}, {"--gpus-per-node", "8"}}) == Size{2, {}, 8});
  CHECK(size_of({{"--gpus", "4"}}) == Size{1, {}, 4});
  CHECK(size_of({{"--gpus", "16"}, {"--ntasks", "16"}, {"--nodes", "4"}}) == Size{4, 4, 4});
}

TEST_CASE("GPUs per rank, and ranks per GPU") {
  CHECK(size_of({{"--gpus-per-task", "1"}, {"--ntasks", "8"}, {"--nodes", "2"}}) == Size{2, 4, 4});
  CHECK(size_of({{"--gpus-per-task", "2"}, {"--ntasks-per-node", "4"}}) == Size{1, 4, 8});
  CHECK(size_of({{"--gpus-per-task", "4"}, {"--nodes", "2"}}) == Size{2, 1, 4});
  CHECK(size_of({{"--ntasks-per-gpu", "2"}, {"--gpus-per-node", "4"}}) == Size{1, 8, 4});
  CHECK(size_of({{"--gpus-per-task", "1"}, {"--gpus-per-node", "4"}, {"--ntasks", "8"}}) ==
        Size{2, 4, 4});
}

TEST_CASE("generic resources: GPUs are extracted, the others stay") {
  const Settled typed = settled({{"--gres", "gpu:a100:4,nvme:1"}});
  CHECK(typed.spec.gpus_per_node == 4U);
  CHECK(typed.spec.gpu_type == "a100");
  CHECK(typed.spec.slurm.at("gres") == "nvme:1");
  CHECK(settled({{"--gres", "gpu:8"}}).spec.gpus_per_node == 8U);
  CHECK(settled({{"--gres", "gpu"}}).spec.gpus_per_node == 1U);
  CHECK(settled({{"--gres", "gpu:h100"}}).spec.gpu_type == "h100");
  CHECK(settled({{"--gres", "gres/gpu=2"}}).spec.gpus_per_node == 2U);
  CHECK_FALSE(settled({{"--gres", "none"}}).spec.gpus_per_node.has_value());
}

TEST_CASE("nodes that must be in the job determine its number of nodes by default") {
  CHECK(size_of({{"--nodelist", "n[0-1]"}}) == Size{2, {}, {}});
  CHECK(size_of({{"--nodelist", "n[0-1]"}, {"--ntasks", "4"}}) == Size{2, 2, {}});
  CHECK(size_of({{"--nodelist", "n0"}, {"--nodes", "3"}}) == Size{3, {}, {}});
  CHECK(settled({{"--nodelist", "n[0-2]"}, {"--ntasks", "4"}, {"--nodes", "2"}}).problems.size() ==
        1);
}

TEST_CASE("impossible sizes are refused with the numbers") {
  const std::vector<Words> impossible{
      {{"--ntasks", "5"}, {"--nodes", "2"}},
      {{"--gpus", "3"}, {"--nodes", "2"}},
      {{"--ntasks", "16"}, {"--nodes", "2"}, {"--ntasks-per-node", "4"}},
      {{"--gpus-per-task", "3"}, {"--gpus-per-node", "8"}},
      {{"--gpus-per-task", "1"}, {"--gpus-per-node", "0"}, {"--ntasks-per-node", "2"}},
      {{"--gpus-per-node", "4"}, {"--gres", "gpu:8"}},
      {{"--gpus-per-node", "a100:4"}, {"--gpus", "v100:4"}},
      {{"--gpus", "a100:2,v100:2"}},
      {{"--nodes", "2-4"}},
      {{"--ntasks", "0"}},
      {{"--gres", "gpu:a b:4"}},
  };
  for (const Words& words : impossible) {
    CAPTURE(words.front().first);
    CAPTURE(words.front().second);
    CHECK(settled(words).problems.size() == 1);
  }
  CHECK(settled({{"--ntasks", "5"}, {"--nodes", "2"}}).problems.front().message ==
        "--ntasks 5, --nodes 2: no whole number of ranks on each of the nodes");
}

TEST_CASE("a folder name keeps as much of a job's name as it can") {
  CHECK(folder_name("llama-7b") == "llama-7b");
  CHECK(folder_name("my: job %1/x") == "myjob1x");
  CHECK(folder_name("../..") == "job");
  CHECK(folder_name(std::string(500, 'a')).size() == 200);
}

}  // namespace dts::spec
