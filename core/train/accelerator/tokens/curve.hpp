// SPDX-License-Identifier: Apache-2.0
// A GELU between two projections on a device, computed by their products (dttrain_product), which
// have the values at hand; a kernel of its own would have to read and write them once more. The
// block of the GELU does what products do not compute.
#pragma once

#include "core/train/model/token_blocks.hpp"

#include <memory>
#include <stdexcept>

namespace dts::train::accelerator {

// The curve applied to a projection's output. Not thread-safe.
class Curve {
 public:
  // Adds a GELU from `in` to `out`: from now on the projection that computes `in` computes both.
  void take(const Edge& in, const Edge& out) {
    if (is_taken()) throw std::logic_error("two GELUs of one projection");
    in_ = in;
    out_ = out;
  }

  [[nodiscard]] bool is_taken() const { return out_.value != nullptr; }

  // A projection reads `out`: from now on its product computes the gradient of `in`.
  void read(Into into) {
    if (is_read_ || into == Into::adds) throw std::logic_error("two products that read one GELU");
    is_read_ = true;
  }

  [[nodiscard]] bool is_read() const { return is_read_; }

  [[nodiscard]] const Edge& in() const { return in_; }

  [[nodiscard]] const Edge& out() const { return out_; }

 private:
  Edge in_{};
  Edge out_{};
  bool is_read_ = false;
};

// The curves of a projection.
struct Curves {
  std::shared_ptr<Curve> before;  // whose `out` it reads; nullptr: none
  std::shared_ptr<Curve> after;   // whose `in` it computes, if a GELU reads that
};

}  // namespace dts::train::accelerator
