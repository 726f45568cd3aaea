// SPDX-License-Identifier: Apache-2.0
// Products of row-major matrices, by oneDNN. They use one thread, if Network::create() has set
// OpenMP to that.
#pragma once

#include "core/train/device/kernels.hpp"
#include "core/train/model/onednn.hpp"

#include <cstddef>
#include <optional>

namespace dts::train {

// Number of elements of a matrix.
[[nodiscard]] inline std::size_t area(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

// A row-major matrix, or its transpose, as a factor of a product.
struct Factor {
  const float* values = nullptr;
  int pitch = 0;  // floats from one row to the next in memory
  bool is_transposed = false;
};

struct Product {
  float* values = nullptr;
  int rows = 0;
  int columns = 0;
  int pitch = 0;
};

// Computes out = a b or, if `adds`, out += a b. `inner` is the number of columns of a, after any
// transposition. Throws std::runtime_error. Thread-safe on disjoint outputs.
void multiply(const Factor& a, const Factor& b, int inner, const Product& out, bool adds = false);

// An array of bf16 that is an operand of products. Throws dnnl::error or std::bad_alloc.
class Bf16Array {
 public:
  explicit Bf16Array(std::size_t count);

  [[nodiscard]] Bf16* data() { return static_cast<Bf16*>(values_.get_data_handle()); }

 private:
  dnnl::memory values_;
};

// The shape of a product of matrices without gaps between rows. A transposed matrix is stored with
// its columns as rows.
struct Bf16ProductShape {
  int rows = 0;
  int inner = 0;
  int columns = 0;
  bool is_a_transposed = false;
  bool is_b_transposed = false;
  bool adds = false;  // to the content of out
};

// Computes out = a b, or out += a b, of bf16 matrices; `out` is fp32, as are the sums. Not
// thread-safe.
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
  bool adds_output = false;  // to the content of y
  bool adds_input_gradient = false;
  bool has_input_gradient = true;
};

// y = x W^T, or x W, and its gradients. Arrays are fp32; operands of products are rounded to bf16,
// and sums are fp32. Not thread-safe.
class Bf16Layer {
 public:
  // Throws dnnl::error or std::bad_alloc.
  explicit Bf16Layer(const Bf16Shape& shape);

  // Must be called after the weights have changed.
  void prepare(const float* weights);

  void forward(const float* x, float* y);

  // The gradients of the last forward(). Overwrites d_weights and d_x; d_x is ignored without
  // has_input_gradient.
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
