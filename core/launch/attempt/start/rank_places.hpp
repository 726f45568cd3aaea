// SPDX-License-Identifier: Apache-2.0
// Decides which processors, memory, GPUs and adapters each rank gets, once all have said hello.
// Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/rank_table.hpp"
#include "core/launch/binding/judge_binding.hpp"
#include "core/launch/health/preflight.hpp"
#include "core/plan/allotment.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dts::launch {

class RankPlaces {
 public:
  RankPlaces(const AttemptSettings& settings, const RankTable& ranks, AttemptNews& news)
      : settings_(settings), ranks_(ranks), news_(news) {}

  // See Attempt::set_allotments().
  void set_allotments(std::map<std::string, plan::Allotment> allotments) {
    allotments_ = std::move(allotments);
  }

  // `topologies`: as the ranks sent them, by rank. The error is the outcome that ends the attempt.
  [[nodiscard]] tl::expected<void, run::Outcome> place(
      const std::map<unsigned, std::string>& topologies);

  [[nodiscard]] const std::vector<plan::Placement>& placements() const { return placements_; }

  // plan::shared_hcas() of all nodes.
  [[nodiscard]] const std::string& hcas() const { return hcas_; }

  // GPUs on the node's PCI buses; nullopt: not known yet.
  [[nodiscard]] std::optional<std::size_t> pci_gpus(const std::string& node) const;
  // One finding for each GPU given to ranks on `node` that is not of the requested type.
  [[nodiscard]] std::vector<Finding> other_gpus(const std::string& node) const;
  [[nodiscard]] PlannedBinding planned_binding(unsigned rank) const;

 private:
  using Topologies = std::map<std::string, topo::NodeTopology>;  // by node

  [[nodiscard]] tl::expected<void, run::Outcome> verify(
      const std::vector<plan::RankHello>& hellos) const;
  [[nodiscard]] tl::expected<Topologies, run::Outcome> read(
      const std::map<unsigned, std::string>& texts) const;
  void restrict_to_allotment(const std::string& node, topo::NodeTopology& topology);

  const AttemptSettings& settings_;
  const RankTable& ranks_;
  AttemptNews& news_;
  std::map<std::string, plan::Allotment> allotments_;
  std::map<std::string, std::size_t> pci_gpus_;  // by node
  std::map<std::string, std::vector<Finding>> other_gpus_;
  std::vector<plan::Placement> placements_;
  std::map<std::string, std::set<unsigned>> node_cpus_;  // used by the plan
  std::string hcas_;
};

}  // namespace dts::launch
