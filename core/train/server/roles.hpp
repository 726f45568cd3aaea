// SPDX-License-Identifier: Apache-2.0
// The roles of ranks with an asynchronous parameter server: some ranks only serve; the others
// compute gradients, either each as a worker of its own, or the ranks of a node together as one
// worker, which sends a single gradient to the servers. Pure, thread-safe.
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
  // At least one rank must not be a server. The ranks of a node of `hierarchy` form one worker.
  // `shards` is divided among all computing ranks, the parameters of `layout` among all
  // servers.
  Roles(const Layout& layout, Owners owners, const Hierarchy& hierarchy, int shards);

  // In ascending order.
  [[nodiscard]] const std::vector<int>& servers() const { return servers_; }

  // The ranks of each worker, in ascending order. The first of them talks to the servers.
  [[nodiscard]] const std::vector<std::vector<int>>& workers() const { return workers_; }

  // nullopt for a server.
  [[nodiscard]] std::optional<std::size_t> worker_of(int rank) const;

  // The shards of each batch that a rank, or a worker, computes. Those of a worker's ranks are
  // adjacent.
  [[nodiscard]] Span shards_of_rank(int rank) const;
  [[nodiscard]] Span shards_of(std::size_t worker) const;

  // The floats of the parameters that a rank keeps; empty if it is not a server.
  [[nodiscard]] Range slice_of(int rank) const { return slices_[static_cast<std::size_t>(rank)]; }

  // The worker's share of the batch.
  [[nodiscard]] double share_of(std::size_t worker) const {
    return static_cast<double>(shards_of(worker).size()) / shards_;
  }

  [[nodiscard]] int shards() const { return shards_; }

 private:
  std::vector<Range> slices_;  // by rank
  std::vector<int> servers_;
  std::vector<std::vector<int>> workers_;
  std::vector<int> computing_;  // all ranks of workers, worker by worker
  int shards_;
};

}  // namespace dts::train
