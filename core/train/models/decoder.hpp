// SPDX-License-Identifier: Apache-2.0
// What the builders of decoders share: rows of positions, a residual stream, tokens in, logits out.
// Not thread-safe.
#pragma once

#include "core/train/model/plan.hpp"
#include "core/train/model/token_blocks.hpp"

#include <string>

namespace dts::train {

// What the operations of a decoder depend on besides its matrices.
struct DecoderWork {
  double looked_up = 0;  // elements of tables that rows are read of, and nothing is multiplied with
  int layers = 0;
  int heads_width = 0;  // of all heads of queries
  int context = 0;
};

// Model::flops: for each token 6 N + 12 layers heads_width context, where N are the elements of the
// matrices (A. Chowdhery et al., "PaLM", 2022, appendix B; without attention J. Kaplan et al.,
// "Scaling Laws for Neural Language Models", 2020, section 2.1). Attention is counted as if each
// token saw all of them, as is usual, although causal kernels do half of that.
[[nodiscard]] double decoder_flops(const Layout& layout, const DecoderWork& work);

class Decoder {
 protected:
  // `width`: of the stream.
  Decoder(Plan& plan, int context, int width);

  [[nodiscard]] Plan& plan() { return plan_; }

  [[nodiscard]] int rows() const { return rows_; }  // positions of all samples

  [[nodiscard]] std::size_t count(int width) const {
    return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(width);
  }

  // A gradient of that width. Activations whose gradients are never needed at the same time share
  // one.
  [[nodiscard]] float* gradient(int width) { return plan_.floats(count(width)); }

  [[nodiscard]] Edge activation(int width, float* gradient) {
    return {plan_.layer_floats(count(width)), gradient};
  }

  // The next place of the stream (token_blocks.hpp) within a layer.
  [[nodiscard]] Edge stream() { return activation(width_, d_stream_); }

  // Where the stream leaves the layer that has begun, or has none begun.
  [[nodiscard]] Edge output() {
    return {plan_.output_floats(outputs_++, count(width_)), d_stream_};
  }

  void begin_layer() { plan_.begin_layer(); }

  // `from`: the output() that it has read.
  void end_layer(Edge from) { plan_.end_layer(from.value, count(width_)); }

  // What a norm of the stream writes.
  [[nodiscard]] Edge normal() { return activation(width_, d_normal_); }

  // The stream's beginning; `positions` names learned ones, or nothing.
  [[nodiscard]] Edge embed(const std::string& tokens, const std::string& positions, Into into);

  // Logits by the matrix `weight` [vocabulary][width]; tied: it is that of embed(), which then
  // adds.
  void finish(const std::string& weight, int vocabulary, bool is_tied, Edge normal);

 private:
  Plan& plan_;
  int context_;
  int width_;
  int rows_;
  std::size_t outputs_ = 0;
  float* d_stream_;
  float* d_normal_;
};

}  // namespace dts::train
