// SPDX-License-Identifier: Apache-2.0
// The blocks of a network: explicit, single-threaded forward and backward passes over buffers that
// the network owns.
//
// A block reads its input Edge and writes its output Edge; backward() reads output.gradient and
// writes input.gradient. Weights are read from Pass::weights at the tensor's offset. Everything
// that is summed over shards (gradients, batch statistics, loss) is overwritten in Pass::sums. Not
// thread-safe: each thread has its own blocks.
#pragma once

#include "core/train/device/instruction_set.hpp"
#include "core/train/device/kernels.hpp"
#include "core/train/model/layout.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace dts::train {

// Activations between two blocks, and their gradient, which is null if none is needed.
struct Edge {
  float* value = nullptr;
  float* gradient = nullptr;
};

struct Pass {
  bool training = true;            // false: batch normalisation uses the running statistics
  const float* weights = nullptr;  // [Layout::parameter_floats]
  const float* running = nullptr;  // [Layout::statistic_floats]; read when not training
  float* sums = nullptr;           // [Layout::sum_floats()]; written when training
};

class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  virtual ~Block() = default;

  // Called after each change of the weights, before the next forward().
  virtual void prepare(const float* /*weights*/) {}

  virtual void forward(const Pass& pass) = 0;
  virtual void backward(const Pass& pass) = 0;

  // The parameters whose gradients are final once this block's backward() has returned.
  [[nodiscard]] virtual Range completes() const { return {}; }

  // The parameters that prepare() and forward() read, and below, those that backward() reads.
  [[nodiscard]] virtual Range reads() const { return completes(); }

  [[nodiscard]] virtual Range reads_in_backward() const { return reads(); }
};

// 3x3 convolution from one channel to 16. `in.value` is padded (kernels.hpp). Computes no gradient
// of the input.
[[nodiscard]] std::unique_ptr<Block> first_convolution(
    const Layout& layout, const std::string& name, const Images& out_shape, Edge in, Edge out);

// A 3x3 convolution with padding 1.
struct ConvolutionShape {
  Images in;  // any number of channels if it is a model's input, which is not blocked
  int out_channels = 0;
  int stride = 1;
  Precision precision = Precision::fp32;

  [[nodiscard]] Images out() const {
    return {in.batch, out_channels, (in.height - 1) / stride + 1, (in.width - 1) / stride + 1};
  }
};

// Uses oneDNN. Throws dnnl::error or std::bad_alloc.
[[nodiscard]] std::unique_ptr<Block> convolution(const Layout& layout,
                                                 const std::string& name,
                                                 const ConvolutionShape& shape,
                                                 Edge in,
                                                 Edge out);

// Fused batch normalisation, ReLU and 2x2 max pooling.
[[nodiscard]] std::unique_ptr<Block> bn_relu_pool(
    const Layout& layout, const std::string& name, const Images& in_shape, Edge in, Edge out);

struct LinearShape {
  int batch = 0;
  int in = 0;
  int out = 0;
  bool relu = false;  // applied to the output
  Precision precision = Precision::fp32;
};

// y = x W^T + b, by oneDNN. Throws dnnl::error or std::bad_alloc.
[[nodiscard]] std::unique_ptr<Block> linear(
    const Layout& layout, const std::string& name, const LinearShape& shape, Edge in, Edge out);

struct Objective {
  float scale = 1;      // factor of the loss in gradients
  float smoothing = 0;  // of labels: this share of the target is spread over all classes, as in
                        // PyTorch (C. Szegedy et al., "Rethinking the Inception Architecture for
                        // Computer Vision", 2015, section 7)
};

struct HeadResult {
  float loss = 0;   // sum over the batch
  int correct = 0;  // predictions that equal the label
};

// Softmax cross-entropy of logits [batch][classes] (not a Block: it has labels and no weights).
// `d_logits`, if not null, receives the gradient of scale * loss; it may be `logits`.
[[nodiscard]] HeadResult cross_entropy(const float* logits,
                                       const std::uint32_t* labels,
                                       int batch,
                                       int classes,
                                       const Objective& objective,
                                       float* d_logits);

}  // namespace dts::train
