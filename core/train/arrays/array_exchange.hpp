// SPDX-License-Identifier: Apache-2.0
// Arrays of gradients and weights where a rank's backend has them, in the host's memory or in a
// device's, and how parts of them get from rank to rank: what the exchange of sums and weights is
// made of, wherever they are.
//
// What is posted begins after all that was asked for before, and what is asked for after wait()
// follows what was posted. On a device that is the order of its queue, in which nobody waits; what
// comes to the host, checksums and to_host(), is there on return.
#pragma once

#include "core/train/comm/group.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dts::train {

// Arrays that are no backend's own come from grow(). Not thread-safe. A device that no longer works
// ends the process.
class ArrayExchange {
 public:
  using Ticket = Group::Ticket;

  ArrayExchange() = default;
  ArrayExchange(const ArrayExchange&) = delete;
  ArrayExchange& operator=(const ArrayExchange&) = delete;
  virtual ~ArrayExchange() = default;

  // The gradients of `mine`, with which the last Backend::sum() has returned: by node, arrays of
  // all parameters, until the next one.
  [[nodiscard]] virtual Partials gradients(const Partials& mine) = 0;

  // At least so many floats there; what `room` had may be lost.
  virtual void grow(Room& room, std::size_t floats) = 0;

  // ChunkGrid::checksums() of `values`, where the chunks begin.
  virtual void checksums(const float* values, Span chunks, std::uint64_t* out) = 0;

  // combine_to(): `sums` may be the array of the first of the partials.
  virtual void sum(float* sums, Span node, const ConstPartials& all, std::size_t count) = 0;

  // For tests: flips a bit of an own array, and of what has come, which may be another rank's: then
  // of a copy, which is returned.
  virtual void flip(float* at) = 0;
  [[nodiscard]] virtual const float* flipped(const float* came,
                                             std::size_t count,
                                             std::size_t element) = 0;

  virtual void to_host(float* to, const float* from, std::size_t count) = 0;

  // Group's of the same names.
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
  // Whether wait() would not wait.
  [[nodiscard]] virtual bool test(Group& group, Ticket ticket) = 0;
};

}  // namespace dts::train
