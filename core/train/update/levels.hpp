// SPDX-License-Identifier: Apache-2.0
// The groups in which sums and weights travel: all ranks, and the ranks of this node
// (comm/hierarchy.hpp). Not thread-safe.
#pragma once

#include "core/train/arrays/array_exchange.hpp"
#include "core/train/comm/group.hpp"
#include "core/train/comm/hierarchy.hpp"

#include <optional>
#include <vector>

namespace dts::train {

class Levels {
 public:
  // Collective. `all` must outlive it.
  Levels(Group& all, Hierarchy hierarchy);

  [[nodiscard]] Group& all() const { return all_; }

  [[nodiscard]] int rank() const { return all_.rank(); }

  [[nodiscard]] int size() const { return all_.size(); }

  [[nodiscard]] const Hierarchy& hierarchy() const { return hierarchy_; }

  // The group of this rank's node; nullptr if this is its only rank, or the hierarchy is flat.
  [[nodiscard]] Group* node() { return node_ ? &*node_ : nullptr; }

  // The ranks on this node, in order, including this one; place() is the index of one of them in
  // node().
  [[nodiscard]] const std::vector<int>& neighbours() const { return hierarchy_.ranks_of(here_); }

  [[nodiscard]] int place(int rank) const;

  // The ranks on other nodes.
  [[nodiscard]] const std::vector<int>& elsewhere() const { return elsewhere_; }

  // Hierarchy::relayed_by() of this rank.
  [[nodiscard]] const std::vector<int>& relayed() const { return relayed_; }

  // An array of which each rank owns a slice.
  struct Sliced {
    float* array = nullptr;
    std::vector<Range> slices;  // by rank
  };

  // Collective: sends each rank's slices to all others, in place. `by` has the arrays, if they are
  // not in host memory.
  void gather(const std::vector<Sliced>& arrays, ArrayExchange* by = nullptr);

 private:
  // The messages of one rank.
  struct Slices {
    std::vector<Group::Outgoing> out;
    std::vector<Group::Incoming> in;
    std::uint64_t total = 0;
  };

  [[nodiscard]] Slices across(const Sliced& one) const;
  [[nodiscard]] Slices within(const Sliced& one, bool relayed) const;

  Group& all_;
  Hierarchy hierarchy_;
  int here_;  // this rank's node
  std::optional<Group> node_;
  std::vector<int> elsewhere_;
  std::vector<int> relayed_;
};

}  // namespace dts::train
