// SPDX-License-Identifier: Apache-2.0
// Products of row-major matrices, by oneDNN. Single-threaded where Network::create() has set OpenMP
// so.
#pragma once

#include "core/train/device/kernels.hpp"
#include "core/train/model/onednn.hpp"

#include <cstddef>
#include <optional>

namespace dts::train {

// Elements of a matrix.
[[nodiscard]] inline std::size_t area(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

// A row-major matrix, or its transpose, as a factor of a product.
struct Factor {
  const float* values = nullptr;
  int pitch = 0;  // floats from one row to the next, as it is in memory
  bool is_transposed = false;
};

struct Product {
  float* values = nullptr;
  int rows = 0;
  int columns = 0;
  int pitch = 0;
};

// out = a b, or out += a b, where a has `inner` columns (after any transposition). Throws
// std::runtime_error. Thread-safe on disjoint outputs.
void multiply(const Factor& a, const Factor& b, int inner, const Product& out, bool adds = false);

// An array of bf16 for products. Throws dnnl::error or std::bad_alloc.
class Bf16Array {
 public:
  explicit Bf16Array(std::size_t count);

  [[nodiscard]] Bf16* data() { return static_cast<Bf16*>(values_.get_data_handle()); }

 private:
  dnnl::memory values_;
};

// Matrices without gaps between rows; a transposed one has its columns as rows in memory.
struct Bf16ProductShape {
  int rows = 0;
  int inner = 0;
  int columns = 0;
  bool is_a_transposed = false;
  bool is_b_transposed = false;
  bool adds = false;  // to what is in out
};

// out = a b, or out += a b, of bf16; `out` is fp32, as sums are. Not thread-safe.
class Bf16Product {
 public:
  // Throws dnnl::error or std::bad_alloc.
  explicit Bf16Product(const Bf16ProductShape& shape);

  // Throws dnnl::error.
  void compute(Bf16* a, Bf16* b, float* out);

 private:
  dnnl::stream stream_;
  dnnl::memory a_;
  dnnl::memory b_;
  dnnl::memory out_;
  dnnl::matmul product_;
};

struct Bf16Shape {
  int rows = 0;
  int in = 0;
  int out = 0;
  bool is_in_out = false;    // W is [in][out] and not [out][in]
  bool adds_output = false;  // to what is in y
  bool adds_input_gradient = false;
  bool has_input_gradient = true;
};

// y = x W^T, or x W, and its gradients: fp32 arrays, products of them rounded to bf16, sums in
// fp32. Not thread-safe.
class Bf16Layer {
 public:
  // Throws dnnl::error or std::bad_alloc.
  explicit Bf16Layer(const Bf16Shape& shape);

  // Once the weights have changed.
  void prepare(const float* weights);

  void forward(const float* x, float* y);

  // Of the last forward(). Overwrites d_weights; d_x is not used if there is no such gradient.
  void backward(const float* d_y, float* d_weights, float* d_x);

 private:
  Bf16Shape shape_;
  Bf16Array x_;
  Bf16Array weights_;
  Bf16Array d_y_;
  Bf16Product forward_;
  Bf16Product d_weights_;
  std::optional<Bf16Product> d_x_;
};

}  // namespace dts::train
