// SPDX-License-Identifier: Apache-2.0
// What is kept of a forward pass for the backward one. The bits do not depend on it.
#pragma once

namespace dts::train {

struct Keeping {
  // Of a layer what goes in, alone: the backward pass computes the rest once more, layer by layer
  // (T. Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016).
  bool recomputes = false;
  // And that is in the host's memory until then; only with `recomputes`, and on devices.
  bool offloads = false;
};

}  // namespace dts::train
