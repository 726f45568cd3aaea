// SPDX-License-Identifier: Apache-2.0
// Products of row-major matrices, by oneDNN. Single-threaded where Network::create() has set OpenMP
// so.
#pragma once

#include "core/train/model/onednn_port.hpp"

#include <optional>

namespace dts::train {

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
  // out = a b or out += a b.
  class Product {
   public:
    Product(const dnnl::memory& a, const dnnl::memory& b, const dnnl::memory& out, bool adds);
    void compute(dnnl::stream& stream, float* out);

   private:
    dnnl::memory a_;
    dnnl::memory b_;
    dnnl::memory out_;
    dnnl::matmul product_;
  };

  dnnl::stream stream_;
  Port x_;
  Port weights_;
  Port d_y_;
  Product forward_;
  Product d_weights_;
  std::optional<Product> d_x_;
};

}  // namespace dts::train
