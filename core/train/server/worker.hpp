// SPDX-License-Identifier: Apache-2.0
// A rank that computes gradients for the servers of asynchronous training: it sends each of them
// its slice of a gradient, and gets the weights that the servers have by then. With other ranks of
// its node in one worker, they add up first, along the tree over shards, and the first of them
// talks to the servers and hands the weights on. Not thread-safe.
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
  // `all`, `roles` and `layout` must outlive it; `node` is the group of this worker's ranks, in
  // their order. `sealed`: messages between workers and servers have checksums.
  Worker(Group& all, Group node, const Roles& roles, const Layout& layout, bool sealed);

  // Until sync() steps are completed.
  void begin(std::uint64_t sync) { sync_ = sync; }

  // At which step all ranks meet; a call of exchange() may make it an earlier one.
  [[nodiscard]] std::uint64_t sync() const { return sync_; }

  // What this rank computes of each batch.
  [[nodiscard]] Span shards() const { return roles_.shards_of_rank(all_.rank()); }

  // After a step, with `step` completed before, all ranks of the worker: `mine` has the sums of
  // shards(), `weights` becomes what the servers have, except before a synchronisation. What goes
  // to the servers is their sum, as the mean over the whole batch has it; Scalar::squares beside it
  // is the square of the norm of the mean over the worker's own part.
  void exchange(std::uint64_t step, const Partials& mine, float* weights);

  // A server whose weights are not what it sent, after exchange(); on a rank that talks to servers.
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
  bool has_weights_ = false;  // from the last exchange()
  std::size_t worker_;
  std::vector<Span> nodes_;        // of the tree: what the worker has of each batch
  std::vector<Channel> channels_;  // by server; of the first rank
  Group::Scattered theirs_;        // of the node's other ranks
  Buffer sums_, next_;
  const float* gradients_ = nullptr;  // of the step under way
  Buffer tail_;
  std::uint64_t sync_ = 0;
  std::uint64_t signs_ = 0;  // of servers
};

}  // namespace dts::train
