// SPDX-License-Identifier: Apache-2.0
// The ranks of a job, which find each other by MPI. Not thread-safe: only one thread of a process
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

// How messages travel. `automatic` chooses `shm` if all ranks are on one node, `hier` if some node
// has several ranks, and otherwise `mpi`.
enum class TransportKind { automatic, mpi, shm, hier };

// Accepts "auto", "mpi", "shm" and "hier".
[[nodiscard]] std::optional<TransportKind> transport_of(std::string_view name);

class Comm : public Group {
 public:
  struct Settings {
    std::chrono::milliseconds timeout{600000};  // how long a call waits for other ranks
    int lost = exit_code(Errc::timed_out);      // exit code when that time has passed
    // Replaces `timeout`, if longer, until started() is called and while MPI starts and ends,
    // because ranks start and read their data at different speeds.
    std::chrono::milliseconds start{};

    [[nodiscard]] std::chrono::milliseconds longest() const { return std::max(timeout, start); }
  };

  // Calls MPI_Init_thread; a process may create one Comm. Works under mpirun and srun, and
  // standalone with one rank. Messages travel over MPI until travel_by().
  explicit Comm(Settings settings);

  Comm() : Comm(Settings{}) {}

  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm();  // MPI_Finalize

  // Ends the set-up: from here on Settings::timeout applies.
  void started() { settings().timeout = limits_.timeout; }

  // Sets Group::Settings::waited.
  void tell_waits(decltype(Group::Settings::waited) told) { settings().waited = std::move(told); }

  // Collective. If it fails on one rank, every rank gets an error, but only the ranks that know the
  // cause get a message: Errc::invalid if ranks ask for different kinds, Errc::usage if this kind
  // cannot reach all ranks, Errc::io if memory cannot be shared.
  [[nodiscard]] Result<void> travel_by(TransportKind kind);

  [[nodiscard]] int node_size() const {
    return static_cast<int>(node_.size());
  }  // ranks on this node

  [[nodiscard]] bool one_node() const { return one_node_; }  // whether all ranks are on one node

  // The node of each rank, as a number that is equal for ranks on the same node.
  [[nodiscard]] const std::vector<int>& nodes() const { return nodes_; }

  [[nodiscard]] int node_root() const { return node_.front(); }  // the lowest rank on this node

  [[nodiscard]] bool first_on_node() const { return node_root() == rank(); }

  // Memory shared by the ranks of a node, initially zero; lives as long as the Comm. Every rank of
  // a node must pass the same size. Only the first_on_node() rank may write, and must do so before
  // a barrier. Errc::io can occur on some ranks only: call agree() on the result.
  [[nodiscard]] Result<std::byte*> node_memory(std::size_t bytes);

  // Ends this process, and all other ranks by MPI_Abort, with this exit code.
  [[noreturn]] static void abandon(int code);

 private:
  static Group meet(const Settings& settings);
  void set_spin();
  [[nodiscard]] Result<std::shared_ptr<Transport>> through_memory();

  Settings limits_;
  std::vector<int> node_;   // the ranks on this node, in order
  std::vector<int> nodes_;  // the first rank on the node of each rank
  bool one_node_ = true;    // whether all ranks are on one node
  cpu_set_t cpus_{};        // processors of all ranks on this node
  std::vector<SharedMemory> memory_;
};

}  // namespace dts::train
