// SPDX-License-Identifier: Apache-2.0
// A rank's cores and memory: set by the agent's order, read back, and looked at again when the
// program's threads have settled. Not thread-safe.
#pragma once

#include "core/launch/binding/judge_binding.hpp"
#include "core/launch/wire/protocol.hpp"

#include <chrono>

namespace dts::launch {

class RankBinding {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Binds this process, and so what it starts later, and reads back what came of it. An error where
  // the cores cannot be had at all; a refused memory policy is for judge_binding() to tell.
  [[nodiscard]] Result<void> apply(const Go& order);

  // The variables for the OpenMP runtimes of `command`, where the order asks for them and the user
  // has said nothing of it himself; what was done is part of bound(). Call it after apply().
  [[nodiscard]] plan::Environment place_threads(const Go& order,
                                                const std::vector<std::string>& command,
                                                const plan::IsSet& is_set);

  // False where the order is strict and what was read back is not what was ordered.
  [[nodiscard]] bool may_start() const;

  // The program runs: its threads are to be looked at in k_first_look, and once more in
  // k_second_look, when a framework has loaded all that it will.
  void begin(Time now);

  // The program has ended.
  void end() { next_look_ = Time::max(); }

  // Time::max(): no more.
  [[nodiscard]] Time next_look() const { return next_look_; }

  // Of all that this process has started.
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
