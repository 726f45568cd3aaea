// SPDX-License-Identifier: Apache-2.0
// Who does what around an asynchronous parameter server: some ranks only serve; the others compute
// gradients, each of them as a worker of its own, or the ranks of a node as one worker together, so
// that one gradient of each node goes to the servers. Pure, thread-safe.
#pragma once

#include "core/train/comm/hierarchy.hpp"
#include "core/train/comm/tree.hpp"
#include "core/train/model/layout.hpp"
#include "core/train/update/ownership.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace dts::train {

class Roles {
 public:
  // One of the ranks at least is no server. The ranks of a node of `hierarchy` are one worker;
  // `shards` of the batch are divided among all ranks that compute, the parameters of `layout`
  // among all servers.
  Roles(const Layout& layout, Owners owners, const Hierarchy& hierarchy, int shards);

  // Ranks, in order.
  [[nodiscard]] const std::vector<int>& servers() const { return servers_; }

  // The ranks of each worker, in order; the first is the one that talks to the servers.
  [[nodiscard]] const std::vector<std::vector<int>>& workers() const { return workers_; }

  // nullopt for a server.
  [[nodiscard]] std::optional<std::size_t> worker_of(int rank) const;

  // What a rank, or a worker, computes of each batch; a worker's ranks are next to each other.
  [[nodiscard]] Span shards_of_rank(int rank) const;
  [[nodiscard]] Span shards_of(std::size_t worker) const;

  // The floats of the parameters that a rank keeps; none for one that is no server.
  [[nodiscard]] Range slice_of(int rank) const { return slices_[static_cast<std::size_t>(rank)]; }

  // Of the batch.
  [[nodiscard]] double share_of(std::size_t worker) const {
    return static_cast<double>(shards_of(worker).size()) / shards_;
  }

  [[nodiscard]] int shards() const { return shards_; }

 private:
  std::vector<Range> slices_;  // by rank
  std::vector<int> servers_;
  std::vector<std::vector<int>> workers_;
  std::vector<int> computing_;  // all ranks of workers, one worker after the other
  int shards_;
};

}  // namespace dts::train
