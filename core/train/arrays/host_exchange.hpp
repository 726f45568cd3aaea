// SPDX-License-Identifier: Apache-2.0
// Arrays in host memory, which travel over the group's transport. For processors, and for devices
// whose arrays are staged, that is, copied to the host before they go to other ranks.
#pragma once

#include "core/train/arrays/array_exchange.hpp"
#include "core/train/update/chunk_grid.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace dts::train {

class HostExchange : public ArrayExchange {
 public:
  // `grid` must outlive it.
  explicit HostExchange(const ChunkGrid& grid) : grid_(grid) {}

  [[nodiscard]] Partials gradients(const Partials& mine) override { return mine; }

  void grow(Room& room, std::size_t floats) override { room.grow(floats); }

  void checksums(const float* values, Span chunks, std::uint64_t* out) override {
    grid_.checksums(values, chunks, out);
  }

  void sum(float* sums, Span node, const ConstPartials& all, std::size_t count) override {
    combine_to(sums, node, all, count);
  }

  void flip(float* at) override { flip_bit(*at); }

  [[nodiscard]] const float* flipped(const float* came,
                                     std::size_t count,
                                     std::size_t element) override {
    changed_.assign(came, came + count);
    flip_bit(changed_[element]);
    return changed_.data();
  }

  void to_host(float* to, const float* from, std::size_t count) override {
    std::copy_n(from, count, to);
  }

  Ticket post_partials(Group& group,
                       std::vector<int> peers,
                       std::uint64_t total,
                       const std::vector<Group::Outgoing>& out,
                       Group::Scattered& to) override {
    return group.post_partials(std::move(peers), total, out, to);
  }

  [[nodiscard]] Ticket post_slices(Group& group,
                                   Call call,
                                   std::vector<int> peers,
                                   std::uint64_t total,
                                   const std::vector<Group::Outgoing>& out,
                                   const std::vector<Group::Incoming>& in) override {
    return group.post_slices(call, std::move(peers), total, out, in);
  }

  void give_back(Group& group, const Group::Scattered& read) override { group.give_back(read); }

  void wait(Group& group, Ticket ticket) override { group.wait(ticket); }

  [[nodiscard]] bool test(Group& group, Ticket ticket) override { return group.test(ticket); }

 private:
  const ChunkGrid& grid_;
  std::vector<float> changed_;
};

}  // namespace dts::train
