// SPDX-License-Identifier: Apache-2.0
// What is kept of a forward pass for the backward pass. It does not affect the bits of the result.
#pragma once

namespace dts::train {

struct ActivationStorage {
  // Keeps only the input of each layer; the backward pass recomputes the rest, layer by layer (T.
  // Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016).
  bool recomputes = false;
  // Keeps that input in host memory until then. Only with `recomputes`, and on devices.
  bool offloads = false;
};

}  // namespace dts::train
