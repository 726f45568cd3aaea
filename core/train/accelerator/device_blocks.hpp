// SPDX-License-Identifier: Apache-2.0
// The blocks of token_blocks.hpp and image_blocks.hpp on a device: the same passes, with addresses
// in its memory.
#pragma once

#include "core/train/accelerator/images/device_convolution.hpp"
#include "core/train/accelerator/products.hpp"
#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/accelerator/tokens/curve.hpp"
#include "core/train/model/block_maker.hpp"

#include <cstddef>
#include <map>
#include <memory>

namespace dts::train::accelerator {

// Makes blocks that enqueue their work and compute all products in one precision. Every function
// may throw DeviceError. The queue must outlive this. Not thread-safe.
class DeviceBlocks : public BlockMaker {
 public:
  DeviceBlocks(Queue& queue, Precision precision) : queue_(queue), products_(queue, precision) {}

  [[nodiscard]] Products& products() { return products_; }

  [[nodiscard]] float* floats(std::size_t count) override { return queue_.allocate(count); }

  [[nodiscard]] std::uint32_t* tokens(std::size_t count) override;

  // The positions of the latest tokens() in the order that TokenGradients reads. Must be filled in
  // before a backward pass.
  [[nodiscard]] std::uint32_t* order() { return order_; }

  [[nodiscard]] std::unique_ptr<Block> embedding(const Layout& layout,
                                                 const Embedding& shape,
                                                 const std::uint32_t* ids,
                                                 Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> layer_norm(const Layout& layout,
                                                  const Norm& norm,
                                                  Edge in,
                                                  Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> rms_norm(const Layout& layout,
                                                const Norm& norm,
                                                Edge in,
                                                Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> projection(const Layout& layout,
                                                  const Projection& shape,
                                                  Edge in,
                                                  Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> attention(const Attention& shape, Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> gelu(std::size_t count, Edge in, Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> swiglu(std::size_t count,
                                              Edge gate,
                                              Edge up,
                                              Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> rotation(std::shared_ptr<const Angles> angles,
                                                int batch,
                                                int context,
                                                int width,
                                                const Heads& heads) override;
  [[nodiscard]] std::unique_ptr<Block> offload(float* at, std::size_t count) override;

  // blocks.hpp and image_blocks.hpp:
  [[nodiscard]] std::unique_ptr<Block> first_convolution(const Layout& layout,
                                                         const std::string& name,
                                                         const Images& out_shape,
                                                         Edge in,
                                                         Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> convolution(const Layout& layout,
                                                   const std::string& name,
                                                   const ConvolutionShape& shape,
                                                   Edge in,
                                                   Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> bn_relu_pool(const Layout& layout,
                                                    const std::string& name,
                                                    const Images& in_shape,
                                                    Edge in,
                                                    Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> linear(const Layout& layout,
                                              const std::string& name,
                                              const LinearShape& shape,
                                              Edge in,
                                              Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> bn_relu(const Layout& layout,
                                               const std::string& name,
                                               const Images& shape,
                                               Edge in,
                                               Edge out,
                                               const float* residual) override;
  [[nodiscard]] std::unique_ptr<Block> gradient_sum(std::size_t count,
                                                    Edge in,
                                                    const float* branch) override;
  [[nodiscard]] std::unique_ptr<Block> narrowing_shortcut(const Images& in_shape,
                                                          Edge in,
                                                          Edge out) override;
  [[nodiscard]] std::unique_ptr<Block> average_pool(const Images& in_shape,
                                                    Edge in,
                                                    Edge out) override;

 private:
  struct DeviceAngles {
    std::shared_ptr<const Angles> source;
    float* cosine = nullptr;
    float* sine = nullptr;
  };

  // Memory that blocks use one after another: work is done in order.
  float* scratch(std::size_t number, std::size_t count);
  double* partials(const Images& shape);
  // Memory for `arrays` arrays of RunSums::floats() `each`.
  float* run_sums(std::size_t arrays, std::size_t each);

  template <NormKind kind>
  [[nodiscard]] std::unique_ptr<Block> norm(const Layout& layout,
                                            const Norm& norm,
                                            Edge in,
                                            Edge out);

  [[nodiscard]] std::unique_ptr<Block> convolution(Range weights,
                                                   const DeviceConvolutionShape& shape,
                                                   Edge in,
                                                   Edge out);

  Queue& queue_;
  Products products_;
  std::uint32_t* order_ = nullptr;
  std::map<const Angles*, DeviceAngles> angles_;
  // The curves of the projections and GELUs that were made last, by the address of their output:
  // outputs of projections, and outputs of GELUs. Layers may use the same memory one after another.
  std::map<const float*, std::shared_ptr<Curve>> output_curves_;
  std::map<const float*, std::shared_ptr<Curve>> gelu_curves_;
  std::map<std::pair<std::size_t, std::size_t>, float*> scratch_;  // by number and size
};

}  // namespace dts::train::accelerator
