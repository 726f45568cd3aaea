// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks, and MPI's own collectives, each with a deadline: to measure the links
// between nodes, not for training. If a deadline passes, MPI is left with an operation that may
// never end, and Comm::abandon() is the only way out. Not thread-safe.
#pragma once

#include "core/train/comm/comm.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dts::train {

enum class Operation { all_reduce, all_gather, broadcast };

class Links {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  // How a rank waits. `spinning` keeps the core for a while; it is faster, but needs a core for
  // each rank of the machine.
  enum class Waits { spinning, sleeping };

  explicit Links(const Comm& comm);  // `comm` must outlive it
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  ~Links();

  [[nodiscard]] int rank() const { return rank_; }

  [[nodiscard]] int size() const { return size_; }

  [[nodiscard]] Waits waits() const { return waits_; }

  void set_waits(Waits waits) { waits_ = waits; }

  // These return false or nullopt if the deadline passes first.
  template <class T>
  [[nodiscard]] bool send(int to, const T& value, Deadline deadline) {
    static_assert(std::is_trivially_copyable_v<T>);
    return send_bytes(to, {reinterpret_cast<const char*>(&value), sizeof value}, deadline);
  }

  template <class T>
  [[nodiscard]] std::optional<T> receive(int from, Deadline deadline) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    const auto bytes = receive_bytes(from, deadline);
    if (!bytes || bytes->size() != sizeof value) return std::nullopt;
    bytes->copy(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }

  [[nodiscard]] bool send_bytes(int to, std::string_view bytes, Deadline deadline);
  [[nodiscard]] std::optional<std::string> receive_bytes(int from, Deadline deadline);

  // Sends a message of `bytes` to `peer` and receives one of the same size, in memory of this
  // object. One of the two ranks passes true for `first` and sends first.
  [[nodiscard]] bool ping_pong(int peer, std::size_t bytes, bool first, Deadline deadline);

  // Collective: the `value` of every rank, by rank.
  [[nodiscard]] std::optional<std::vector<double>> gather(double value, Deadline deadline);

  // Collective, on floats. `bytes` is a multiple of 4: the size of the array that is summed or
  // broadcast, or the total that is gathered from all ranks (then each rank's part must be a
  // multiple of 4, too).
  [[nodiscard]] bool run(Operation operation, std::size_t bytes, Deadline deadline);

  // True once a deadline has passed.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  struct Mpi;  // keeps mpi.h out of this header

  [[nodiscard]] bool wait(Deadline deadline);
  template <class Test>
  [[nodiscard]] bool wait_for(Deadline deadline, Deadline::duration longest_nap, const Test& test);
  [[nodiscard]] std::byte* memory(std::size_t index, std::size_t bytes);

  std::unique_ptr<Mpi> mpi_;
  int rank_;
  int size_;
  Waits waits_ = Waits::sleeping;
  bool broken_ = false;
  std::vector<std::byte> memory_[2];
  std::list<std::string> messages_;  // MPI may still read or write them
};

}  // namespace dts::train
