// SPDX-License-Identifier: Apache-2.0
// Binds a rank to cores and memory by the agent's order, reads the result back, and reads it again
// once the program's threads have settled. Not thread-safe.
#pragma once

#include "core/launch/binding/judge_binding.hpp"
#include "core/launch/wire/protocol.hpp"

#include <chrono>

namespace dts::launch {

class RankBinding {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Binds this process, and so its future children, and reads the result back. Fails if the cores
  // are not available at all; a refused memory policy is left to judge_binding().
  [[nodiscard]] Result<void> apply(const Go& order);

  // Returns the variables that bind threads in the OpenMP runtimes of `command`, if the order asks
  // for them and the user has set none of them. bound() then includes the result. Call it after
  // apply().
  [[nodiscard]] plan::Environment place_threads(const Go& order,
                                                const std::vector<std::string>& command,
                                                const plan::IsSet& is_set);

  // False if the order is strict and the binding that was read back differs from it.
  [[nodiscard]] bool may_start() const;

  // Call it when the program has started. Its threads are read after k_first_look, and again after
  // k_second_look, when a framework has loaded everything that it needs.
  void begin(Time now);

  // Call it when the program has ended.
  void end() { next_poll_ = Time::max(); }

  // When to call read_threads(); Time::max(): never.
  [[nodiscard]] Time next_poll() const { return next_poll_; }

  // Reads the threads of all processes that this process has started.
  void read_threads(Time now);

  [[nodiscard]] Bound bound() const { return {to_text(state_)}; }

 private:
  PlannedBinding planned_;
  bool strict_ = false;
  BoundState state_;
  Time began_;
  Time next_poll_ = Time::max();
};

}  // namespace dts::launch
