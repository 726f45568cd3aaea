// SPDX-License-Identifier: Apache-2.0
// The transfer of a step's weights to the device. Weights that a rank does not own are copied from
// host memory once per step, each before the first block that reads it, and are rounded on the
// device for bf16 products.
#pragma once

#include "core/train/accelerator/device_update.hpp"
#include "core/train/accelerator/products.hpp"
#include "core/train/memory/window.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace dts::train::accelerator {

// Every function may throw DeviceError. The constructor's arguments must outlive this. Not
// thread-safe.
class WeightUploads {
 public:
  // Called with the range of weights that a block reads, before the block reads it.
  using Enter = std::function<void(Range)>;

  // For `parameters` floats at resident.weights, which may point elsewhere after a step.
  WeightUploads(Queue& queue, Products& products, const Resident& resident, std::size_t parameters);

  // Call before the first pass with new weights; `in_parts` if they arrive within a window.
  void begin(bool in_parts);

  // Returns the Enter for the next pass to be enqueued, or nullptr if all weights are on the
  // device. `weights` [parameters] is in host memory.
  [[nodiscard]] Enter enter_of(Window* window, const float* weights);

  // Call after a pass: all weights that it reads have arrived, and later copies must not overwrite
  // them before it has read them.
  void end_pass();

 private:
  void upload(Range range, const float* weights);
  void round(Range range);

  Queue& queue_;
  Products& products_;
  const Resident& resident_;
  const float* first_;  // its rounded copy is shared by the arrays that replace it
  Range all_;
  std::vector<Range> on_device_;  // ranges on the device, ascending
  std::vector<Range> rounded_;    // rounded ranges, ascending
  bool is_complete_ = false;
  Event read_;  // recorded after the last pass
};

}  // namespace dts::train::accelerator
