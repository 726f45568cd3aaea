// SPDX-License-Identifier: Apache-2.0
// A GELU between two projections on a device, computed by their products (dttrain_product), which
// have the values at hand; a kernel of its own would have to read and write them once more. The
// block of the GELU does what products do not compute.
#pragma once

#include "core/train/accelerator/run_sums.hpp"
#include "core/train/model/token_blocks.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>

namespace dts::train::accelerator {

// The curve applied to a projection's output. Not thread-safe.
class Curve {
 public:
  // Adds a GELU from `in` to `out`: from now on the projection that computes `in` computes both.
  void add_gelu(const Edge& in, const Edge& out) {
    if (has_gelu()) throw std::logic_error("two GELUs of one projection");
    in_ = in;
    out_ = out;
  }

  [[nodiscard]] bool has_gelu() const { return out_.value != nullptr; }

  // A projection reads `out`: from now on its product computes the gradient of `in`.
  void add_reader(Into into) {
    if (has_reader_ || into == Into::adds)
      throw std::logic_error("two products that read one GELU");
    has_reader_ = true;
  }

  [[nodiscard]] bool has_reader() const { return has_reader_; }

  // The bias of the projection that computes `in`: the product that computes the gradient of `in`
  // adds up its columns as well, into the bias's place in the sums of a pass.
  struct Bias {
    RunSums sums;
    std::size_t place;
  };

  void add_bias(const RunSums& sums, std::size_t place) { bias_.emplace(Bias{sums, place}); }

  [[nodiscard]] std::optional<Bias>& bias() { return bias_; }

  [[nodiscard]] const Edge& in() const { return in_; }

  [[nodiscard]] const Edge& out() const { return out_; }

 private:
  Edge in_{};
  Edge out_{};
  bool has_reader_ = false;
  std::optional<Bias> bias_;
};

// The curves of a projection.
struct Curves {
  std::shared_ptr<Curve> before;  // whose `out` it reads; nullptr: none
  std::shared_ptr<Curve> after;   // whose `in` it computes, if a GELU reads that
};

}  // namespace dts::train::accelerator
