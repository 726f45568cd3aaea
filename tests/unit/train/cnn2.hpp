// SPDX-License-Identifier: Apache-2.0
// The model that most tests of the trainer use.
#pragma once

#include "core/train/models/model_table.hpp"

namespace dts::train {

inline const Model& cnn2() {
  static const Model made = make_model("cnn2").value();
  return made;
}

inline const Layout& layout() {
  return cnn2().layout;
}

inline constexpr int k_cnn2_features = 32 * 7 * 7;  // inputs of fc1
inline constexpr int k_cnn2_hidden = 128;

}  // namespace dts::train
