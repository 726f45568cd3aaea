// SPDX-License-Identifier: Apache-2.0
// A rank that computes gradients for the servers of asynchronous training: it sends each server its
// slice of a gradient, and receives its current weights. If several ranks of a node form one
// worker, they first add up their sums, along the tree over shards; the first of them talks to the
// servers and passes the weights on. Not thread-safe.
#pragma once

#include "core/train/comm/group.hpp"
#include "core/train/memory/buffer.hpp"
#include "core/train/model/layout.hpp"
#include "core/train/server/messages.hpp"
#include "core/train/server/roles.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dts::train {

class Worker {
 public:
  // `all`, `roles` and `layout` must outlive this. `node` is the group of this worker's ranks, in
  // their order. `sealed`: whether messages between workers and servers have checksums.
  Worker(Group& all, Group node, const Roles& roles, const Layout& layout, bool sealed);

  // Sets the number of steps after which all ranks synchronise.
  void begin(std::uint64_t sync) { sync_ = sync; }

  // The step of the next synchronisation; exchange() may set it to an earlier one.
  [[nodiscard]] std::uint64_t sync() const { return sync_; }

  // The shards of each batch that this rank computes.
  [[nodiscard]] Span shards() const { return roles_.shards_of_rank(all_.rank()); }

  // Called by all ranks of the worker after a step, with `step` completed before. `mine` has the
  // sums of shards(). `weights` receives the servers' current weights, except before a
  // synchronisation. The servers get the worker's sum, as its part of the mean over the whole
  // batch. Scalar::squares is sent as the squared norm of the mean over the worker's own part.
  void exchange(std::uint64_t step, const Partials& mine, float* weights);

  // After exchange(), on a rank that talks to servers: a server whose weights arrived changed.
  [[nodiscard]] std::optional<int> changed(const float* weights) const;

 private:
  struct Channel {
    Group group;
    Range slice;
    Push push{};
    Answer answer{};
    std::uint64_t checksum = 0;  // of the weights
    Group::Ticket answered = 0;
    Group::Ticket ticket = 0;

    [[nodiscard]] int peer() const { return 1 - group.rank(); }
  };

  [[nodiscard]] bool is_first() const { return node_.rank() == 0; }

  void pass_on(const Partials& mine);
  [[nodiscard]] ConstPartials collect(const Partials& mine);
  [[nodiscard]] const float* sum_of(Span node, const ConstPartials& all, Buffer& room) const;
  void add_up(const ConstPartials& all);
  void post(std::uint64_t step, float* weights);
  void finish();
  [[nodiscard]] std::uint64_t seal_of(const float* floats, std::size_t count) const;

  Group& all_;
  Group node_;
  const Roles& roles_;
  const Layout& layout_;
  bool sealed_;
  bool has_weights_ = false;  // whether the last exchange() received any
  std::size_t worker_;
  std::vector<Span> nodes_;        // tree nodes whose sums the worker computes
  std::vector<Channel> channels_;  // by server; only on the worker's first rank
  Group::Scattered theirs_;        // from the node's other ranks
  Buffer sums_, next_;
  const float* gradients_ = nullptr;  // of the current step
  Buffer tail_;
  std::uint64_t sync_ = 0;
  std::uint64_t signs_ = 0;  // of the servers
};

}  // namespace dts::train
