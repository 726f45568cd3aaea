// SPDX-License-Identifier: Apache-2.0
// A rank that only serves: it keeps a slice of the parameters, applies gradients to it as they
// arrive, and answers each with the resulting weights, at once or when the worker may continue
// (clocks.hpp). Has a single thread, which polls. Not thread-safe.
//
// The training synchronises at steps that the first server announces. Each worker learns of a
// synchronisation before its last step, so that no rank waits there for a message that never
// comes.
#pragma once

#include "core/train/comm/group.hpp"
#include "core/train/memory/buffer.hpp"
#include "core/train/server/clocks.hpp"
#include "core/train/server/messages.hpp"
#include "core/train/server/roles.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace dts::train {

class ParameterServer {
 public:
  struct Arrival {
    std::size_t worker = 0;
    std::uint64_t step = 0;       // completed by the worker before
    float* gradients = nullptr;   // for the slice
    std::uint64_t checksum = 0;   // of the gradients, by the worker, if sealed
    const float* tail = nullptr;  // on the first server: the worker's other sums of the step
    std::uint64_t staleness = 0;  // other gradients applied since the worker's weights were read
  };

  struct Hooks {
    std::function<void(const Arrival&)> apply;  // called after completed() counts it
    std::function<const float*()> weights;      // current weights of the slice
    std::function<std::uint32_t()> signs;       // current signs of this rank
    std::function<bool()> wants_sync = [] {
      return false;
    };  // first server only: synchronise as soon as possible
  };

  struct Settings {
    std::uint64_t bound = 0;  // of StaleClocks
    bool sealed = true;       // whether messages have checksums
  };

  // `all` must outlive this. Creates its groups without communication.
  ParameterServer(
      Group& all, const Roles& roles, const Layout& layout, Settings settings, Hooks hooks);

  // Serves all workers from step `begin` on, until no message is in flight at a synchronisation.
  // Returns its step, which is `sync` or earlier.
  std::uint64_t serve(std::uint64_t begin, std::uint64_t sync);

  // The number of steps that all workers have completed.
  [[nodiscard]] std::uint64_t completed() const { return clocks_.slowest(); }

 private:
  enum class Next { gradient, bound, weights, nothing };  // what a worker waits for, or must do

  struct Channel {
    Group group;
    Next next = Next::nothing;
    Push push{};
    Answer answer{};
    Buffer slice{};  // an arriving gradient, then departing weights
    Buffer tail{};
    Group::Ticket ticket = 0;
    std::uint64_t version = 0;   // number of gradients in its weights
    std::uint64_t checksum = 0;  // of its weights

    [[nodiscard]] int peer() const { return 1 - group.rank(); }
  };

  bool advance(std::size_t worker);
  void receive(Channel& channel);
  void take(std::size_t worker);
  void send_weights(Channel& channel);
  void wait_any();

  Settings settings_;
  Hooks hooks_;
  StaleClocks clocks_;
  std::vector<Channel> channels_;  // by worker
  std::uint64_t version_ = 0;      // number of gradients applied
  std::uint64_t sync_ = 0;
};

}  // namespace dts::train
