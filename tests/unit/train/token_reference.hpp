// SPDX-License-Identifier: Apache-2.0
// Slow double-precision versions of the blocks of transformers, from their textbook formulas.
#pragma once

#include "tests/unit/train/reference.hpp"

namespace reference {

inline std::size_t index(int row, int width, int column) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
         static_cast<std::size_t>(column);
}

// Layer norm, or RMS norm if `beta` is empty. Rows are as wide as gamma.
inline Values norm(const Values& x, const Values& gamma, const Values& beta, double epsilon) {
  const auto width = static_cast<int>(gamma.size());
  Values y(x.size());
  for (int row = 0; row < static_cast<int>(x.size()) / width; ++row) {
    double mean = 0;
    double square = 0;
    for (int i = 0; i < width && !beta.empty(); ++i) mean += x[index(row, width, i)] / width;
    for (int i = 0; i < width; ++i) square += std::pow(x[index(row, width, i)] - mean, 2) / width;
    for (int i = 0; i < width; ++i) {
      const auto c = static_cast<std::size_t>(i);
      y[index(row, width, i)] =
          (x[index(row, width, i)] - mean) / std::sqrt(square + epsilon) * gamma[c] +
          (beta.empty() ? 0 : beta[c]);
    }
  }
  return y;
}

inline Values gelu(const Values& x) {
  Values y;
  for (const double v : x)
    y.push_back(0.5 * v *
                (1 + std::tanh(std::sqrt(2 / 3.14159265358979324) * (v + 0.044715 * v * v * v))));
  return y;
}

inline Values swiglu(const Values& gate, const Values& up) {
  Values y;
  for (std::size_t i = 0; i < gate.size(); ++i)
    y.push_back(gate[i] / (1 + std::exp(-gate[i])) * up[i]);
  return y;
}

struct AttentionShape {
  int batch, context, width, heads, key_heads;
};

// Queries are [batch][context][heads][width]; keys and values have key_heads.
inline Values attention(const AttentionShape& s,
                        const Values& q,
                        const Values& k,
                        const Values& v) {
  Values out(q.size());
  const auto at = [&](int sample, int position, int head, int heads) {
    return index((sample * s.context + position) * heads + head, s.width, 0);
  };
  for (int sample = 0; sample < s.batch; ++sample)
    for (int head = 0; head < s.heads; ++head)
      for (int row = 0; row < s.context; ++row) {
        const int key_head = head * s.key_heads / s.heads;
        Values weights;
        double sum = 0;
        for (int column = 0; column <= row; ++column) {
          double score = 0;
          for (std::size_t i = 0; i < static_cast<std::size_t>(s.width); ++i)
            score += q[at(sample, row, head, s.heads) + i] *
                     k[at(sample, column, key_head, s.key_heads) + i];
          weights.push_back(std::exp(score / std::sqrt(s.width)));
          sum += weights.back();
        }
        for (int column = 0; column <= row; ++column)
          for (std::size_t i = 0; i < static_cast<std::size_t>(s.width); ++i)
            out[at(sample, row, head, s.heads) + i] +=
                weights[static_cast<std::size_t>(column)] / sum *
                v[at(sample, column, key_head, s.key_heads) + i];
      }
  return out;
}

// x is [rows][in]; w is [out][in], or [in][out] if `is_in_out`.
inline Values product(int rows, int in, int out, const Values& x, const Values& w, bool is_in_out) {
  Values y(static_cast<std::size_t>(rows * out));
  for (int row = 0; row < rows; ++row)
    for (int o = 0; o < out; ++o)
      for (int i = 0; i < in; ++i)
        y[index(row, out, o)] +=
            x[index(row, in, i)] * w[is_in_out ? index(i, out, o) : index(o, in, i)];
  return y;
}

}  // namespace reference
