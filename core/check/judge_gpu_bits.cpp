// SPDX-License-Identifier: Apache-2.0
// Compares the same training step on all GPUs of a model. Finds GPUs whose bits differ from one
// repeat to another, or from those of the majority of all nodes' GPUs.
#include "core/base/text/counted.hpp"
#include "core/check/judge.hpp"

#include <fmt/format.h>

#include <map>

namespace dts::check {
namespace {

struct One {
  std::size_t node = 0;
  const GpuSteps* gpu = nullptr;
};

using ByDigest = std::map<std::string, std::vector<One>>;

std::string name_of(const GpuSteps& gpu) {
  const bool both = !gpu.model.empty() && !gpu.path.empty();
  return fmt::format("GPU {} ({}{}{})", gpu.gpu, gpu.model, both ? ", " : "", gpu.path);
}

void blame_repeats(const One& one, Verdict& verdict) {
  const Steps& steps = one.gpu->steps;
  blame_for_bits(
      verdict.nodes[one.node],
      fmt::format("{}: {} of {} of the same training step gave other bits than the first, the "
                  "first of them repeat {}",
                  name_of(*one.gpu),
                  steps.odd_repeats.size(),
                  counted(steps.repeats, "repeat"),
                  steps.odd_repeats.front() + 1));
}

std::string groups_in_words(const Facts& facts, const ByDigest& groups) {
  std::string words;
  for (const auto& [digest, members] : groups) {
    std::vector<std::string> names;
    for (const One& one : members)
      names.push_back(fmt::format("{} GPU {}", facts.nodes[one.node].name, one.gpu->gpu));
    words += fmt::format(
        "{}{} computed {}", words.empty() ? "" : "; ", in_words(names), short_form(digest));
  }
  return words;
}

void judge_model(const Facts& facts, const ByDigest& groups, Verdict& verdict) {
  if (groups.size() < 2) return;
  std::size_t total = 0;
  auto most = groups.begin();
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    total += group->second.size();
    if (group->second.size() > most->second.size()) most = group;
  }
  if (most->second.size() * 2 <= total) {
    verdict.cluster.push_back(
        fmt::format("the same training step gave different bits on GPUs of one model, and no "
                    "majority says which are right: {}",
                    groups_in_words(facts, groups)));
    return;
  }
  for (const auto& [digest, members] : groups)
    for (const One& one : members)
      if (digest != most->first)
        blame_for_bits(
            verdict.nodes[one.node],
            fmt::format("{}: the same training step gave other bits than on other GPUs of its "
                        "model ({}, but {} on {} of them)",
                        name_of(*one.gpu),
                        short_form(digest),
                        short_form(most->first),
                        most->second.size()));
}

}  // namespace

void judge_gpu_digests(const Facts& facts, Verdict& verdict) {
  std::map<std::string, ByDigest> by_model;
  for (std::size_t node = 0; node < facts.nodes.size(); ++node)
    for (const GpuSteps& gpu : facts.nodes[node].gpu_steps) {
      const One one{node, &gpu};
      if (!gpu.steps.odd_repeats.empty())
        blame_repeats(one, verdict);
      else if (!gpu.steps.digest.empty())  // a GPU that contradicts itself has no vote
        by_model[gpu.model][gpu.steps.digest].push_back(one);
    }
  for (const auto& [model, groups] : by_model) judge_model(facts, groups, verdict);
}

}  // namespace dts::check
