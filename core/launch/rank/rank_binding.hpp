// SPDX-License-Identifier: Apache-2.0
// A rank's cores and memory: bound by the agent's order, read back, and read again when the
// program's threads have settled. Not thread-safe.
#pragma once

#include "core/launch/binding/judge_binding.hpp"
#include "core/launch/wire/protocol.hpp"

#include <chrono>

namespace dts::launch {

class RankBinding {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Binds this process, and so its later children, and reads the result back. An error if the cores
  // are not available at all; judge_binding() reports a refused memory policy.
  [[nodiscard]] Result<void> apply(const Go& order);

  // The variables for the OpenMP runtimes of `command`, if the order asks for them and the user has
  // not set any; bound() includes the result. Call it after apply().
  [[nodiscard]] plan::Environment place_threads(const Go& order,
                                                const std::vector<std::string>& command,
                                                const plan::IsSet& is_set);

  // False if the order is strict and what was read back is not what was ordered.
  [[nodiscard]] bool may_start() const;

  // The program runs: its threads are read after k_first_look, and again after k_second_look, when
  // a framework has loaded everything it needs.
  void begin(Time now);

  // The program has ended.
  void end() { next_look_ = Time::max(); }

  // Time::max(): never.
  [[nodiscard]] Time next_look() const { return next_look_; }

  // Reads the threads of everything that this process has started.
  void read_threads(Time now);

  [[nodiscard]] Bound bound() const { return {to_text(state_)}; }

 private:
  PlannedBinding planned_;
  bool strict_ = false;
  BoundState state_;
  Time began_;
  Time next_look_ = Time::max();
};

}  // namespace dts::launch
