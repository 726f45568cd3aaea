// SPDX-License-Identifier: Apache-2.0
// A model: its parameters, its input, and how to build its network. A new model is a file in
// core/train/models that makes one of these and defines a row, which model_table.cpp lists.
// Immutable once made, and then thread-safe.
#pragma once

#include "core/train/data/samples.hpp"
#include "core/train/model/layout.hpp"

#include <functional>
#include <string>

namespace dts::train {

class Plan;

struct Model {
  std::string name;   // name of its row, also for messages
  std::string sizes;  // "n_layer=4,n_head=4": all that determines its shapes, or empty
  Layout layout;
  Reads reads;
  int classes = 0;  // number of classes of each prediction
  // Floating-point operations of training on one sample, forward and backward: two for each
  // multiply-add of matrix products and convolutions; nothing else counts.
  double flops = 0;

  // Appends the blocks, made by Plan::maker(), from the plan's input to its logits. Called once per
  // thread, on that thread. May throw std::exception, as oneDNN's primitives do.
  std::function<void(Plan&)> build;
  // Whether build() marks layers in the plan.
  bool has_layers = false;
};

}  // namespace dts::train
