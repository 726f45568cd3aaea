// SPDX-License-Identifier: Apache-2.0
// Products of row-major matrices, by oneDNN. Single-threaded where Network::create() has set OpenMP
// so. Thread-safe on disjoint outputs.
#pragma once

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
// std::runtime_error.
void multiply(const Factor& a, const Factor& b, int inner, const Product& out, bool adds = false);

}  // namespace dts::train
