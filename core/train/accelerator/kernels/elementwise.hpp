// SPDX-License-Identifier: Apache-2.0
// Kernels of single elements: GELU, SwiGLU, ReLU, rotations.
#pragma once

#include "core/train/accelerator/kernels/fours.hpp"

#include <cmath>

namespace dts::train::accelerator {

inline constexpr float k_gelu = 2 * 0.7978845608F;  // 2 sqrt(2 / pi)
inline constexpr float k_gelu_cubic = 0.044715F;

// GELU by its tanh approximation is x times this factor, 1 / (1 + exp(-2 k (x + 0.044715 x^3)))
// (device/token_kernels.hpp).
[[nodiscard]] DTS_BLOCK_CODE inline float gelu_gate(float x) {
  return 1.0F / (1.0F + expf(-k_gelu * (x + k_gelu_cubic * x * x * x)));
}

// The derivative of GELU at x.
[[nodiscard]] DTS_BLOCK_CODE inline float gelu_slope(float x) {
  const float gate = gelu_gate(x);
  const float slope = k_gelu * (1.0F + 3 * k_gelu_cubic * x * x);
  return gate + x * gate * (1.0F - gate) * slope;
}

// y = gelu(x)
template <class Value>
struct GeluForward : Fourwise {
  const Value* x = nullptr;
  Value* y = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, x, count);
    accelerator::writes(visit, y, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t first, int valid) {
      Four v = read_four(x + first, valid);
      for (float& one : v.values) one *= gelu_gate(one);
      write_four(y + first, v, valid);
    });
  }
};

// d_x = d_y gelu'(x); d_x may be d_y.
template <class Value>
struct GeluBackward : Fourwise {
  const Value* x = nullptr;
  const Value* d_y = nullptr;
  Value* d_x = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, x, count);
    accelerator::reads(visit, d_y, count);
    accelerator::writes(visit, d_x, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t first, int valid) {
      const Four at = read_four(x + first, valid);
      Four d = read_four(d_y + first, valid);
      for (int i = 0; i < Four::k_count; ++i) d.values[i] *= gelu_slope(at.values[i]);
      write_four(d_x + first, d, valid);
    });
  }
};

// 1 / (1 + exp(-x))
[[nodiscard]] DTS_BLOCK_CODE inline float logistic(float x) {
  return 1.0F / (1.0F + expf(-x));
}

// y = gate logistic(gate) up: SwiGLU (device/token_kernels.hpp).
template <class Value>
struct SwigluForward : Fourwise {
  const Value* gate = nullptr;
  const Value* up = nullptr;
  Value* y = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    accelerator::reads(visit, gate, count);
    accelerator::reads(visit, up, count);
    accelerator::writes(visit, y, count);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t first, int valid) {
      const Four g = read_four(gate + first, valid);
      Four u = read_four(up + first, valid);
      for (int i = 0; i < Four::k_count; ++i)
        u.values[i] = g.values[i] * logistic(g.values[i]) * u.values[i];
      write_four(y + first, u, valid);
    });
  }
};

// d_up may be d_y.
template <class Value>
struct SwigluBackward : Fourwise {
  const Value* gate = nullptr;
  const Value* up = nullptr;
  const Value* d_y = nullptr;
  Value* d_gate = nullptr;
  Value* d_up = nullptr;

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
    for_each(block, [&](std::size_t first, int valid) {
      Four g = read_four(gate + first, valid);
      const Four u = read_four(up + first, valid);
      Four d = read_four(d_y + first, valid);
      for (int i = 0; i < Four::k_count; ++i) {
        const float v = g.values[i];
        const float of_y = d.values[i];
        const float s = logistic(v);
        d.values[i] = of_y * (v * s);
        g.values[i] = of_y * u.values[i] * (s + v * s * (1.0F - s));
      }
      write_four(d_up + first, d, valid);
      write_four(d_gate + first, g, valid);
    });
  }
};

// Rotates each pair (x[i], x[i + half]) of each head, in place, by the angle of its row's position:
// rotary positions (device/token_kernels.hpp). An element is a pair.
template <class Value>
struct Rotate : Elementwise {
  int context = 0;
  int heads = 0;
  int half = 0;                   // of a head
  int pitch = 0;                  // floats from one row to the next
  const float* cosine = nullptr;  // [context][half], like sine
  const float* sine = nullptr;
  float sign = 1;  // -1: rotates back
  Value* values = nullptr;

  template <class Visit>
  void accesses(const Visit& visit) const {
    const auto row_pairs = static_cast<std::size_t>(heads) * static_cast<std::size_t>(half);
    const std::size_t rows = count / row_pairs;
    for (std::size_t row = 0; row < rows; ++row)
      accelerator::writes(visit, values + row_begin(row, pitch), 2 * row_pairs);
    const std::size_t angles = row_begin(static_cast<std::size_t>(context), half);
    accelerator::reads(visit, cosine, angles);
    accelerator::reads(visit, sine, angles);
  }

  template <class Block>
  DTS_BLOCK_CODE void run(const Block& block, Shared& /*shared*/) const {
    for_each(block, [&](std::size_t i) {
      const auto pairs = static_cast<std::size_t>(half);
      const auto row_pairs = static_cast<std::size_t>(heads) * pairs;
      const std::size_t row = i / row_pairs;
      const std::size_t head = i % row_pairs / pairs;
      const std::size_t pair = i % pairs;
      const std::size_t angle = row % static_cast<std::size_t>(context) * pairs + pair;
      Value* const x = values + row_begin(row, pitch) + 2 * head * pairs + pair;
      const float a = value_of(x[0]);
      const float b = value_of(x[half]);
      const float s = sign * sine[angle];
      store(x[0], a * cosine[angle] - b * s);
      store(x[half], b * cosine[angle] + a * s);
    });
  }
};

// y = max(y, 0), in place; a NaN is kept.
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

// Sets d to 0 where y is not above zero.
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
