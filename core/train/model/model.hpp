// SPDX-License-Identifier: Apache-2.0
// A model: its parameters, what it reads, and how to build a network of it. A new model is a file
// in core/train/models that makes one of these, and a row in model_table.cpp. Immutable once made;
// thread-safe then.
#pragma once

#include "core/train/model/layout.hpp"

#include <functional>
#include <string>

namespace dts::train {

class Plan;

// One sample of the data: a labelled image, or a window of tokens, each of which is to predict the
// next one.
struct Reads {
  enum class What { images, tokens };

  What what = What::images;
  int padding = 0;     // of images: zero pixels around each
  int vocabulary = 0;  // of tokens: they are below it
  int context = 0;     // of tokens: how many a window has

  [[nodiscard]] int predictions() const { return what == What::tokens ? context : 1; }
};

struct Model {
  std::string name;   // of its row, and for people
  std::string sizes;  // "n_layer=4,n_head=4": all that decides its shapes; empty if nothing does
  Layout layout;
  Reads reads;
  int classes = 0;  // that each prediction chooses from

  // Appends the blocks, from the plan's input to its logits. Called once for each thread, on that
  // thread. May throw std::exception, as the primitives of oneDNN do.
  std::function<void(Plan&)> build;
};

}  // namespace dts::train
