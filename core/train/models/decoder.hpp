// SPDX-License-Identifier: Apache-2.0
// Shared parts of decoders, which turn tokens into logits through a residual stream of positions.
// Not thread-safe.
#pragma once

#include "core/train/model/plan.hpp"
#include "core/train/model/token_blocks.hpp"

#include <string>

namespace dts::train {

// What the number of operations of a decoder depends on, besides its matrices.
struct DecoderWork {
  double looked_up = 0;  // elements of tables that are only looked up, not multiplied
  int layers = 0;
  int heads_width = 0;  // total width of the heads of queries
  int context = 0;
};

// Model::flops: 6 N + 12 layers heads_width context per token, where N is the number of elements of
// the matrices (A. Chowdhery et al., "PaLM", 2022, appendix B; without attention: J. Kaplan et al.,
// "Scaling Laws for Neural Language Models", 2020, section 2.1). As is usual, attention is counted
// as if each token saw the whole context, although causal kernels do half of that.
[[nodiscard]] double decoder_flops(const Layout& layout, const DecoderWork& work);

class Decoder {
 protected:
  // `width` is the width of the stream.
  Decoder(Plan& plan, int context, int width);

  [[nodiscard]] Plan& plan() { return plan_; }

  [[nodiscard]] int rows() const { return rows_; }  // positions of all samples

  [[nodiscard]] std::size_t count(int width) const {
    return static_cast<std::size_t>(rows_) * static_cast<std::size_t>(width);
  }

  // A gradient of that width. Activations may share one if their gradients are never needed at the
  // same time.
  [[nodiscard]] float* gradient(int width) { return plan_.floats(count(width)); }

  [[nodiscard]] Edge activation(int width, float* gradient) {
    return {plan_.layer_floats(count(width)), gradient};
  }

  // The next point of the stream (token_blocks.hpp) within a layer.
  [[nodiscard]] Edge stream() { return activation(width_, d_stream_); }

  // The output of the current layer, or the stream before the first layer.
  [[nodiscard]] Edge output() {
    return {plan_.output_floats(outputs_++, count(width_)), d_stream_};
  }

  void begin_layer() { plan_.begin_layer(); }

  // `from` is the output() that the layer has read.
  void end_layer(Edge from) { plan_.end_layer(from.value, count(width_)); }

  // The output of a norm of the stream.
  [[nodiscard]] Edge normal() { return activation(width_, d_normal_); }

  // The beginning of the stream. `positions` names the learned positions, or is empty.
  [[nodiscard]] Edge embed(const std::string& tokens, const std::string& positions, Into into);

  // Adds the logits, computed with the matrix `weight` [vocabulary][width]. If `is_tied`, it is the
  // table of embed(), which must then have Into::adds.
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
