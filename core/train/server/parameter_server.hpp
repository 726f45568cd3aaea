// SPDX-License-Identifier: Apache-2.0
// A rank that only serves: it keeps a slice of the parameters, applies gradients to it as they
// arrive, and answers each with the weights that result, at once or as soon as the worker may go on
// (clocks.hpp). One thread, which polls. Not thread-safe.
//
// The training comes together again at synchronisations, steps that the first server names. Each
// worker knows of one before its last step, so that no rank waits there for a message that does not
// come.
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
    std::uint64_t step = 0;       // that the worker had completed before
    float* gradients = nullptr;   // of the slice
    std::uint64_t checksum = 0;   // of these, by the worker, if sealed
    const float* tail = nullptr;  // on the first server: the other sums of that step
    std::uint64_t staleness =
        0;  // gradients of others, applied since the worker's weights were read
  };

  struct Hooks {
    std::function<void(const Arrival&)> apply;  // completed() counts it already
    std::function<const float*()> weights;      // of the slice, now
    std::function<std::uint32_t()> signs;       // of this rank, now
    std::function<bool()> wants_sync = [] {
      return false;
    };  // the first server's: as soon as may be
  };

  struct Settings {
    std::uint64_t bound = 0;  // of StaleClocks
    bool sealed = true;       // messages have checksums
  };

  // `all` must outlive it. Makes its groups without a message.
  ParameterServer(
      Group& all, const Roles& roles, const Layout& layout, Settings settings, Hooks hooks);

  // Serves all workers from step `begin` on; returns the step of the synchronisation, `sync` or an
  // earlier one, when nothing is under way any more.
  std::uint64_t serve(std::uint64_t begin, std::uint64_t sync);

  // All workers have.
  [[nodiscard]] std::uint64_t completed() const { return clocks_.slowest(); }

 private:
  enum class Next {
    gradient,
    bound,
    weights,
    nothing
  };  // that a worker waits for, or is waited for

  struct Channel {
    Group group;
    Next next = Next::nothing;
    Push push{};
    Answer answer{};
    Buffer slice{};  // a gradient that comes, then weights that go
    Buffer tail{};
    Group::Ticket ticket = 0;
    std::uint64_t version = 0;   // gradients applied when its weights were read
    std::uint64_t checksum = 0;  // of these

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
  std::uint64_t version_ = 0;      // gradients applied
  std::uint64_t sync_ = 0;
};

}  // namespace dts::train
