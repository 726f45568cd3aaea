// SPDX-License-Identifier: Apache-2.0
// The ranks of one node: their binding, and their GPUs by name. Pure.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/plan/gpus/gpu_types.hpp"
#include "core/plan/ranks_by_node.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dts::plan {

class NodePlacement {
 public:
  // `node`: nullptr if its topology is not known. All arguments must outlive this object.
  NodePlacement(const NodeRanks& ranks,
                const Plan& plan,
                const topo::NodeTopology* node,
                const std::string& gpu_type);

  // Without a topology, does nothing. Call it once. Errors: those of bind_node().
  [[nodiscard]] Result<void> bind(const Plan& plan);

  // Sets what rank `i` of the node gets. Call it after bind().
  void fill(std::size_t i, Placement& placement) const;

  // "binding: ...", "binding: warning: ..."
  [[nodiscard]] std::vector<std::string> notes() const;

  // See PlacedRanks.
  [[nodiscard]] const std::vector<unsigned>& other_gpus() const { return other_gpus_; }

 private:
  using Names = std::vector<std::string>;

  // The GPUs of a node as its ranks see them, and their places in the topology.
  struct NodeGpus {
    std::vector<Names> of_rank;     // by rank, if the launcher has assigned them; otherwise empty
    Names all;                      // those of the node, if it has not
    std::vector<unsigned> indices;  // of `all`, in NodeTopology::gpus; empty: unknown
  };

  static void put_last(const std::vector<unsigned>& others, NodeGpus& gpus);
  static NodeGpus share_of(const NodeGpus& gpus,
                           const Plan& plan,
                           const topo::NodeTopology* node,
                           bool are_made_up);
  static NodeGpus gpus_of(const NodeRanks& ranks,
                          unsigned planned,
                          const topo::NodeTopology* node,
                          const std::vector<unsigned>& others);
  void note_other_gpus(const BindRequest& request);
  [[nodiscard]] Names names_of(std::size_t i) const;
  [[nodiscard]] std::vector<std::vector<unsigned>> divide_gpus() const;

  const NodeRanks& ranks_;
  const topo::NodeTopology* node_;
  std::optional<topo::NodeTopology> share_;  // of the node, if other roles have the rest of it
  const GpusByType by_type_;
  const NodeGpus gpus_of_job_;
  const NodeGpus gpus_;  // of these, the ranks' own: other roles may be on the node
  const std::vector<std::vector<unsigned>> divided_;
  const std::string& gpu_type_;
  std::vector<unsigned> other_gpus_;
  std::optional<NodeBinding> binding_;
  std::vector<unsigned> users_;               // ranks on each core
  std::vector<std::vector<RankLink>> links_;  // by local rank
};

}  // namespace dts::plan
