// SPDX-License-Identifier: Apache-2.0
// Messages between two ranks and MPI's own collectives, each with a deadline: for measuring what is
// between nodes, not for training. A deadline that passes leaves MPI with an operation that may
// never end: Comm::abandon() is then the only way out. Not thread-safe.
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

  // While waiting, `spins` keeps the core for a while, which is faster and needs a core of its own
  // for each rank of the machine.
  enum class Waits { spinning, sleeping };

  explicit Links(const Comm& comm);  // the Comm must live longer
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  ~Links();

  [[nodiscard]] int rank() const { return rank_; }

  [[nodiscard]] int size() const { return size_; }

  [[nodiscard]] Waits waits() const { return waits_; }

  void set_waits(Waits waits) { waits_ = waits; }

  // False, nullopt or empty: not before the deadline.
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

  // One message of `bytes` there and one back, from and to memory of this object. One of the two
  // ranks is `first` to send.
  [[nodiscard]] bool ping_pong(int peer, std::size_t bytes, bool first, Deadline deadline);

  // Collective: `value` of every rank, by rank.
  [[nodiscard]] std::optional<std::vector<double>> gather(double value, Deadline deadline);

  // Collective: `bytes`, a multiple of 4, of floats to be summed or broadcast, or gathered from all
  // ranks together (then a multiple of 4 for each of them).
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
