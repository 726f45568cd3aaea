// SPDX-License-Identifier: Apache-2.0
// The ranks of the job, who find each other by MPI. Not thread-safe: only one thread of a process
// may use it.
#pragma once

#include "core/train/comm/group.hpp"
#include "core/train/memory/node_memory.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dts::train {

// How messages travel. `automatic`: through memory where all ranks are on one node; where a node
// has several of them, `hier`; otherwise over MPI.
enum class TransportKind { automatic, mpi, shm, hier };

// "auto", "mpi", "shm", "hier".
[[nodiscard]] std::optional<TransportKind> transport_of(std::string_view name);

class Comm : public Group {
 public:
  struct Settings {
    std::chrono::milliseconds timeout{600000};  // that a call waits for others
    int lost = exit_code(Errc::timed_out);      // the exit code if it passes
    // Instead, if longer, before started() and at MPI's end: ranks start, and read what they need,
    // at different speeds.
    std::chrono::milliseconds start{};

    [[nodiscard]] std::chrono::milliseconds longest() const { return std::max(timeout, start); }
  };

  // MPI_Init_thread; at most one per process. Works under mpirun, srun and standalone (one rank).
  // Messages travel over MPI.
  explicit Comm(Settings settings);

  Comm() : Comm(Settings{}) {}

  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm();  // MPI_Finalize

  // The set-up is over: from here on Settings::timeout counts.
  void started() { settings().timeout = limits_.timeout; }

  // Group::Settings::waited.
  void tell_waits(decltype(Group::Settings::waited) told) { settings().waited = std::move(told); }

  // Collective. Every rank gets an error if one does, and only some of them one with a message:
  // Errc::invalid if they name different kinds, Errc::usage if ranks are where this kind cannot
  // reach, Errc::io if memory cannot be shared.
  [[nodiscard]] Result<void> travel_by(TransportKind kind);

  [[nodiscard]] int node_size() const {
    return static_cast<int>(node_.size());
  }  // ranks on this node

  [[nodiscard]] bool one_node() const { return one_node_; }  // for all ranks

  // By rank, a number for its node.
  [[nodiscard]] const std::vector<int>& nodes() const { return nodes_; }

  [[nodiscard]] int node_root() const { return node_.front(); }  // the lowest rank on this node

  [[nodiscard]] bool first_on_node() const { return node_root() == rank(); }

  // Memory shared by the ranks of a node, initially zero; lives as long as the Comm. Every rank of
  // a node must pass the same size. Only first_on_node() may write, and a barrier must follow.
  // Errc::io concerns this rank alone: agree() on it.
  [[nodiscard]] Result<std::byte*> node_memory(std::size_t bytes);

  // Ends this process, and by MPI_Abort all others, with this exit code.
  [[noreturn]] static void abandon(int code);

 private:
  static Group meet(const Settings& settings);
  void set_spin();
  [[nodiscard]] Result<std::shared_ptr<Transport>> through_memory();

  Settings limits_;
  std::vector<int> node_;   // the ranks on this node, in order
  std::vector<int> nodes_;  // by rank, the first one on its node
  bool one_node_ = true;    // for all ranks
  cpu_set_t cpus_{};        // of all ranks on this node
  std::vector<SharedMemory> memory_;
};

}  // namespace dts::train
