// SPDX-License-Identifier: Apache-2.0
// The blocks of transformers, which blocks.hpp describes in general. Rows are positions, in the
// order [batch][context].
//
// All activations of a residual stream share one gradient buffer. In its backward pass, a block
// that writes to the stream reads the buffer, and a block that reads from the stream adds to it. So
// the buffer always has the gradient of the point of the stream that the backward pass has reached.
#pragma once

#include "core/train/device/token_kernels.hpp"
#include "core/train/model/blocks.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dts::train {

// Looks up each token in a table [vocabulary][width], and adds a learned position [context][width]
// if `positions` is not empty.
struct Embedding {
  std::string tokens;     // name of the table
  std::string positions;  // empty: none
  int batch = 0;
  int context = 0;
  int width = 0;
  // `adds`: the gradient of the table already has the contribution of a tied head.
  Into into = Into::overwrites;
};

// The places of its parameters in the flat array.
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

// Its parameters are NAME.weight and, except for RMS norms, NAME.bias.
struct Norm {
  std::string name;
  RowShape shape;
  float epsilon = 1e-5F;
  Into into = Into::adds;  // for the gradient of its input
};

[[nodiscard]] std::unique_ptr<Block> layer_norm(const Layout& layout, Norm norm, Edge in, Edge out);
[[nodiscard]] std::unique_ptr<Block> rms_norm(const Layout& layout, Norm norm, Edge in, Edge out);

// y = x W^T + b, or x W + b, plus a residual if there is one.
struct Projection {
  std::string weight;  // name
  std::string bias;    // name; empty: no bias
  int rows = 0;
  int in = 0;
  int out = 0;
  bool is_in_out = false;           // W is [in][out] and not [out][in]
  const float* residual = nullptr;  // [rows][out]; its gradient is that of the output
  Into into = Into::overwrites;     // for the gradient of the input
  bool is_shared = false;           // another block adds to the gradient of W and completes it
  int room = 0;  // floats per row of the output if more than `out`, for the maker
  // Only attention, rotations and activations read the output: a maker may store it and its
  // gradient in the format that products read.
  bool is_inside = false;
  Precision precision = Precision::fp32;
};

// The places of its parameters in the flat array.
struct ProjectionPlaces {
  Range range;
  std::size_t bias = 0;

  ProjectionPlaces(const Layout& layout, const Projection& shape);
};

[[nodiscard]] std::unique_ptr<Block> projection(const Layout& layout,
                                                const Projection& shape,
                                                Edge in,
                                                Edge out);

// Queries, keys or values: each row has its heads one after another.
struct Heads {
  Edge edge;
  int pitch = 0;  // floats from one row to the next
  int count = 0;
};

// Causal attention softmax(q k^T / sqrt(width)) v of each head (A. Vaswani et al., "Attention Is
// All You Need", 2017). With fewer heads of keys and values than of queries, each of them serves a
// run of query heads (J. Ainslie et al., "GQA", 2023). The backward pass recomputes the weights a
// few rows at a time, so that memory does not grow with the square of the context.
struct Attention {
  int batch = 0;
  int context = 0;
  int width = 0;  // of a head
  Heads queries;
  Heads keys;
  Heads values;
  Precision precision = Precision::fp32;  // of the operands of products; bf16 includes the weights
};

[[nodiscard]] std::unique_ptr<Block> attention(const Attention& shape, Edge out);

// Cosines and sines of the angles position * base^(-2 i / width): [context][width / 2].
struct Angles {
  std::vector<float> cosine;
  std::vector<float> sine;

  Angles(int context, int width, double base);
};

// Rotates queries or keys in place by the angles of their positions.
[[nodiscard]] std::unique_ptr<Block> rotation(
    std::shared_ptr<const Angles> angles, int batch, int context, int width, const Heads& heads);

[[nodiscard]] std::unique_ptr<Block> gelu(std::size_t count, Edge in, Edge out);
[[nodiscard]] std::unique_ptr<Block> swiglu(std::size_t count, Edge gate, Edge up, Edge out);

}  // namespace dts::train
