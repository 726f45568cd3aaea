// SPDX-License-Identifier: Apache-2.0
// Kernels of one element a thread: sums, GELU, SwiGLU, ReLU, rotations.
#pragma once

#include "core/train/accelerator/kernels/rounding.hpp"

#include <cmath>

namespace dts::train::accelerator {

// sums += others: the addition of the tree over shards.
struct Add : Elementwise {
  float* sums = nullptr;
  const float* others = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::writes(visit, sums, count);
    accelerator::reads(visit, others, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) { sums[i] += others[i]; });
  }
};

// to = from
template <class Value>
struct Copy : Elementwise {
  const Value* from = nullptr;
  Value* to = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, from, count);
    accelerator::writes(visit, to, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) { to[i] = from[i]; });
  }
};

inline constexpr float k_gelu = 2 * 0.7978845608F;  // 2 sqrt(2 / pi)
inline constexpr float k_gelu_cubic = 0.044715F;

// x / (1 + exp(-2 k (x + 0.044715 x^3))) as its second factor: GELU by its tanh
// (device/token_kernels.hpp).
[[nodiscard]] DTS_BLOCK_CODE inline float gelu_gate(float x) {
  return 1.0F / (1.0F + expf(-k_gelu * (x + k_gelu_cubic * x * x * x)));
}

// y = gelu(x)
struct GeluForward : Elementwise {
  const float* x = nullptr;
  float* y = nullptr;
  Bfloat* copy = nullptr;  // of y, if set

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::writes(visit, copy, count);
    accelerator::reads(visit, x, count);
    accelerator::writes(visit, y, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      y[i] = x[i] * gelu_gate(x[i]);
      write_copy(copy, i, y[i]);
    });
  }
};

// d_x = d_y gelu'(x); d_x may be d_y.
struct GeluBackward : Elementwise {
  const float* x = nullptr;
  const float* d_y = nullptr;
  float* d_x = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, x, count);
    accelerator::reads(visit, d_y, count);
    accelerator::writes(visit, d_x, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const float v = x[i];
      const float gate = gelu_gate(v);
      const float slope = k_gelu * (1.0F + 3 * k_gelu_cubic * v * v);
      d_x[i] = d_y[i] * (gate + v * gate * (1.0F - gate) * slope);
    });
  }
};

// 1 / (1 + exp(-x))
[[nodiscard]] DTS_BLOCK_CODE inline float logistic(float x) {
  return 1.0F / (1.0F + expf(-x));
}

// y = gate logistic(gate) up: SwiGLU (device/token_kernels.hpp).
struct SwigluForward : Elementwise {
  const float* gate = nullptr;
  const float* up = nullptr;
  float* y = nullptr;
  Bfloat* copy = nullptr;  // of y, if set

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::writes(visit, copy, count);
    accelerator::reads(visit, gate, count);
    accelerator::reads(visit, up, count);
    accelerator::writes(visit, y, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      y[i] = gate[i] * logistic(gate[i]) * up[i];
      write_copy(copy, i, y[i]);
    });
  }
};

// d_up may be d_y.
struct SwigluBackward : Elementwise {
  const float* gate = nullptr;
  const float* up = nullptr;
  const float* d_y = nullptr;
  float* d_gate = nullptr;
  float* d_up = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, gate, count);
    accelerator::reads(visit, up, count);
    accelerator::reads(visit, d_y, count);
    accelerator::writes(visit, d_gate, count);
    accelerator::writes(visit, d_up, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const float v = gate[i];
      const float d = d_y[i];
      const float s = logistic(v);
      d_up[i] = d * (v * s);
      d_gate[i] = d * up[i] * (s + v * s * (1.0F - s));
    });
  }
};

// Turns each pair (x[i], x[i + half]) of each head by the angle of its row's position, in place:
// rotary positions (device/token_kernels.hpp). An element is a pair.
struct Rotate : Elementwise {
  int context = 0;
  int heads = 0;
  int half = 0;                   // of a head
  int pitch = 0;                  // floats from one row to the next
  const float* cosine = nullptr;  // [context][half], as is
  const float* sine = nullptr;
  float sign = 1;  // -1 turns back
  float* values = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    const auto of_row = static_cast<std::size_t>(heads) * static_cast<std::size_t>(half);
    const std::size_t rows = count / of_row;
    for (std::size_t row = 0; row < rows; ++row)
      accelerator::writes(visit, values + row_begin(row, pitch), 2 * of_row);
    const std::size_t angles = row_begin(static_cast<std::size_t>(context), half);
    accelerator::reads(visit, cosine, angles);
    accelerator::reads(visit, sine, angles);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const auto pairs = static_cast<std::size_t>(half);
      const auto of_row = static_cast<std::size_t>(heads) * pairs;
      const std::size_t row = i / of_row;
      const std::size_t head = i % of_row / pairs;
      const std::size_t pair = i % pairs;
      const std::size_t angle = row % static_cast<std::size_t>(context) * pairs + pair;
      float* const x = values + row_begin(row, pitch) + 2 * head * pairs + pair;
      const float a = x[0];
      const float b = x[half];
      const float s = sign * sine[angle];
      x[0] = a * cosine[angle] - b * s;
      x[half] = b * cosine[angle] + a * s;
    });
  }
};

// y = max(y, 0), in place; a NaN stays.
struct Relu : Elementwise {
  float* y = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::writes(visit, y, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      if (y[i] < 0) y[i] = 0;
    });
  }
};

// d = 0 where y was not above zero.
struct ReluBackward : Elementwise {
  const float* y = nullptr;
  float* d = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, y, count);
    accelerator::writes(visit, d, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      if (!(y[i] > 0)) d[i] = 0;
    });
  }
};

}  // namespace dts::train::accelerator
