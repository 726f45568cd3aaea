// SPDX-License-Identifier: Apache-2.0
// A GELU between two projections on a device, which their products compute where they have the
// values at hand (dttrain_product): a kernel of its own would read them once more and write its own
// there and back. What products do not compute, the block of the GELU does.
#pragma once

#include "core/train/model/token_blocks.hpp"

#include <memory>
#include <stdexcept>

namespace dts::train::accelerator {

// What a projection gives. Not thread-safe.
class Curve {
 public:
  // A GELU from `in` to `out`: from now on the projection that gives `in` gives both.
  void take(const Edge& in, const Edge& out) {
    if (is_taken()) throw std::logic_error("two GELUs of one projection");
    in_ = in;
    out_ = out;
  }

  [[nodiscard]] bool is_taken() const { return out_.value != nullptr; }

  // A projection reads `out`: from now on its product gives the gradient of `in`.
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

// Of a projection.
struct Curves {
  std::shared_ptr<Curve> before;  // whose `out` it reads; nullptr: none
  std::shared_ptr<Curve> after;   // whose `in` it gives, if a GELU takes that
};

}  // namespace dts::train::accelerator
