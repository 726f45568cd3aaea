// SPDX-License-Identifier: Apache-2.0
// A model: its parameters, what it reads, and how to build a network of it. A new model is a file
// in core/train/models that makes one of these, with its row, which model_table.cpp lists.
// Immutable once made; thread-safe then.
#pragma once

#include "core/train/data/samples.hpp"
#include "core/train/model/layout.hpp"

#include <functional>
#include <string>

namespace dts::train {

class Plan;

struct Model {
  std::string name;   // of its row, and for people
  std::string sizes;  // "n_layer=4,n_head=4": all that decides its shapes; empty if nothing does
  Layout layout;
  Reads reads;
  int classes = 0;  // that each prediction chooses from
  // Floating-point operations, forward and backward, of training on one sample: two for each
  // multiplication and addition of matrix products and convolutions; nothing else is counted.
  double flops = 0;

  // Appends the blocks, which Plan::maker() makes, from the plan's input to its logits. Called once
  // for each thread, on that thread. May throw std::exception, as the primitives of oneDNN do.
  std::function<void(Plan&)> build;
  // Whether build() tells the plan which of them make a layer.
  bool has_layers = false;
};

}  // namespace dts::train
