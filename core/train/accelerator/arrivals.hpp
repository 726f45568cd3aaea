// SPDX-License-Identifier: Apache-2.0
// The weights of a step on their way to the device: those that a rank does not own come from the
// host's memory once a step, each before the first block that reads it, and are rounded there for
// products of bf16.
#pragma once

#include "core/train/accelerator/device_update.hpp"
#include "core/train/accelerator/products.hpp"
#include "core/train/memory/window.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace dts::train::accelerator {

// Everything throws DeviceError. What it is made of must outlive it. Not thread-safe.
class Arrivals {
 public:
  // Is called with the weights that a block reads, before it does.
  using Enter = std::function<void(Range)>;

  // Of `parameters` floats at resident.weights, which steps may exchange.
  Arrivals(Queue& queue, Products& products, const Resident& resident, std::size_t parameters);

  // Before the first pass with other weights, which come `in_parts` within a window.
  void begin(bool in_parts);

  // For a pass that is enqueued next; nullptr if all weights are there. `weights` [parameters] are
  // the host's.
  [[nodiscard]] Enter enter_of(Window* window, const float* weights);

  // All that a pass reads is there, and what comes next has to wait until it was read.
  void end_pass();

 private:
  void arrive(Range range, const float* weights);
  void round(Range range);

  Queue& queue_;
  Products& products_;
  const Resident& resident_;
  const float* first_;  // whose rounded copy is that of all later ones, too
  Range all_;
  std::vector<Range> there_;    // ascending
  std::vector<Range> rounded_;  // likewise
  bool are_all_there_ = false;
  Event read_;  // by the last pass
};

}  // namespace dts::train::accelerator
