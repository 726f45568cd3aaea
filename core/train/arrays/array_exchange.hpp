// SPDX-License-Identifier: Apache-2.0
// Arrays of gradients and weights, in host memory or in a device's, wherever a rank's backend has
// them, and how parts of them get from rank to rank. The exchange of sums and weights is built on
// this.
//
// A transfer begins after all earlier operations, and operations after wait() follow the transfer.
// On a device this is the order of its queue, and the host does not wait. Results for the host
// (checksums and to_host()) are complete on return.
#pragma once

#include "core/train/comm/group.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::train {

// Arrays that do not belong to the backend are made by grow(). Not thread-safe. If a device fails,
// the process ends.
class ArrayExchange {
 public:
  using Ticket = Group::Ticket;

  ArrayExchange() = default;
  ArrayExchange(const ArrayExchange&) = delete;
  ArrayExchange& operator=(const ArrayExchange&) = delete;
  virtual ~ArrayExchange() = default;

  // The gradients of `mine`, the result of the last Backend::sum(): for each tree node an array of
  // all parameters, valid until the next sum().
  [[nodiscard]] virtual Partials gradients(const Partials& mine) = 0;

  // Ensures room for at least `floats` in the memory of this object. The content of `room` may be
  // lost.
  virtual void grow(Room& room, std::size_t floats) = 0;

  // ChunkGrid::checksums(); `values` points to the first chunk.
  virtual void checksums(const float* values, Span chunks, std::uint64_t* out) = 0;

  // Like combine_to(), but `sums` may be the array of the first partial.
  virtual void sum(float* sums, Span node, const ConstPartials& all, std::size_t count) = 0;

  // For tests: flip() changes a bit of an own array. flipped() returns a changed copy of what
  // arrived, which may be another rank's memory.
  virtual void flip(float* at) = 0;
  [[nodiscard]] virtual const float* flipped(const float* came,
                                             std::size_t count,
                                             std::size_t element) = 0;

  virtual void to_host(float* to, const float* from, std::size_t count) = 0;

  // Like the functions of Group with the same names.
  virtual Ticket post_partials(Group& group,
                               std::vector<int> peers,
                               std::uint64_t total,
                               const std::vector<Group::Outgoing>& out,
                               Group::Scattered& to) = 0;
  [[nodiscard]] virtual Ticket post_slices(Group& group,
                                           Call call,
                                           std::vector<int> peers,
                                           std::uint64_t total,
                                           const std::vector<Group::Outgoing>& out,
                                           const std::vector<Group::Incoming>& in) = 0;
  virtual void give_back(Group& group, const Group::Scattered& read) = 0;
  virtual void wait(Group& group, Ticket ticket) = 0;
  // Whether wait() would return at once.
  [[nodiscard]] virtual bool test(Group& group, Ticket ticket) = 0;
};

}  // namespace dts::train
