// SPDX-License-Identifier: Apache-2.0
// The blocks of transformers, as blocks.hpp describes blocks. Rows are positions, [batch][context],
// one after the other.
//
// A residual stream has one gradient buffer for all its activations: a block that writes to the
// stream reads it, one that reads from the stream adds to it, and so it is at any time the gradient
// of the place where the backward pass is.
#pragma once

#include "core/train/device/token_kernels.hpp"
#include "core/train/model/blocks.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dts::train {

// Looks each token up in a table [vocabulary][width], and adds a learned position [context][width]
// if `positions` names one.
struct Embedding {
  std::string tokens;     // the table's name
  std::string positions;  // empty: none
  int batch = 0;
  int context = 0;
  int width = 0;
  // adds: the gradient of the table already has what a tied head gave it.
  Into into = Into::overwrites;
};

// Its parameters among all.
struct EmbeddingPlaces {
  Tensor table;
  Range range;
  std::size_t positions = 0;

  EmbeddingPlaces(const Layout& layout, const Embedding& shape);
};

[[nodiscard]] std::unique_ptr<Block> embedding(const Layout& layout,
                                               const Embedding& shape,
                                               const std::uint32_t* ids,
                                               Edge out);

// NAME.weight, and NAME.bias if it is not RMS.
struct Norm {
  std::string name;
  RowShape shape;
  float epsilon = 1e-5F;
  Into into = Into::adds;  // the gradient of its input
};

[[nodiscard]] std::unique_ptr<Block> layer_norm(const Layout& layout, Norm norm, Edge in, Edge out);
[[nodiscard]] std::unique_ptr<Block> rms_norm(const Layout& layout, Norm norm, Edge in, Edge out);

// y = x W^T + b, or x W + b, plus a residual.
struct Projection {
  std::string weight;  // names
  std::string bias;    // empty: none
  int rows = 0;
  int in = 0;
  int out = 0;
  bool is_in_out = false;           // W is [in][out] and not [out][in]
  const float* residual = nullptr;  // [rows][out]; its gradient is that of the output
  Into into = Into::overwrites;     // the gradient of the input
  bool is_shared = false;           // another block adds to the gradient of W and completes it
  int room = 0;  // floats for each row of what it gives, if more than `out`: a maker may use them
  // Only attention, rotations and activations read what it gives: a maker may keep that, and its
  // gradient, as products read it.
  bool is_inside = false;
  Precision precision = Precision::fp32;
};

// Its parameters among all.
struct ProjectionPlaces {
  Range range;
  std::size_t bias = 0;

  ProjectionPlaces(const Layout& layout, const Projection& shape);
};

[[nodiscard]] std::unique_ptr<Block> projection(const Layout& layout,
                                                const Projection& shape,
                                                Edge in,
                                                Edge out);

// Queries, keys or values: heads one after the other in each row.
struct Heads {
  Edge edge;
  int pitch = 0;  // floats from one row to the next
  int count = 0;
};

// Causal attention softmax(q k^T / sqrt(width)) v of each head (A. Vaswani et al., "Attention Is
// All You Need", 2017); with fewer heads of keys and values than of queries, each of them serves a
// run of queries (J. Ainslie et al., "GQA", 2023). Weights are computed once more in the backward
// pass, a few rows at a time, so that memory does not grow with the square of the context.
struct Attention {
  int batch = 0;
  int context = 0;
  int width = 0;  // of a head
  Heads queries;
  Heads keys;
  Heads values;
  Precision precision = Precision::fp32;  // what products read: bf16 also the weights
};

[[nodiscard]] std::unique_ptr<Block> attention(const Attention& shape, Edge out);

// Cosines and sines of the angles position * base^(-2 i / width), [context][width / 2].
struct Angles {
  std::vector<float> cosine;
  std::vector<float> sine;

  Angles(int context, int width, double base);
};

// Turns queries or keys in place by their positions' angles.
[[nodiscard]] std::unique_ptr<Block> rotation(
    std::shared_ptr<const Angles> angles, int batch, int context, int width, const Heads& heads);

[[nodiscard]] std::unique_ptr<Block> gelu(std::size_t count, Edge in, Edge out);
[[nodiscard]] std::unique_ptr<Block> swiglu(std::size_t count, Edge gate, Edge up, Edge out);

}  // namespace dts::train
