// SPDX-License-Identifier: Apache-2.0
// Makes the blocks of a plan and the memory in which they compute, on the processor or on an
// accelerator, whose addresses only its own blocks may use. Each maker chooses how images are laid
// out between its blocks; parameters, and the input of a linear layer, have the same layout
// everywhere.
#pragma once

#include "core/train/model/image_blocks.hpp"
#include "core/train/model/token_blocks.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace dts::train {

// Every function may throw std::exception. The memory lives as long as the maker, and blocks must
// not outlive it. Not thread-safe.
class BlockMaker {
 public:
  BlockMaker() = default;
  BlockMaker(const BlockMaker&) = delete;
  BlockMaker& operator=(const BlockMaker&) = delete;
  virtual ~BlockMaker() = default;

  // Memory filled with zeros and aligned to a cache line.
  [[nodiscard]] virtual float* floats(std::size_t count) = 0;
  [[nodiscard]] virtual std::uint32_t* tokens(std::size_t count) = 0;

  // token_blocks.hpp:
  [[nodiscard]] virtual std::unique_ptr<Block> embedding(const Layout& layout,
                                                         const Embedding& shape,
                                                         const std::uint32_t* ids,
                                                         Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> layer_norm(const Layout& layout,
                                                          const Norm& norm,
                                                          Edge in,
                                                          Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> rms_norm(const Layout& layout,
                                                        const Norm& norm,
                                                        Edge in,
                                                        Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> projection(const Layout& layout,
                                                          const Projection& shape,
                                                          Edge in,
                                                          Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> attention(const Attention& shape, Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> gelu(std::size_t count, Edge in, Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> swiglu(std::size_t count,
                                                      Edge gate,
                                                      Edge up,
                                                      Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> rotation(std::shared_ptr<const Angles> angles,
                                                        int batch,
                                                        int context,
                                                        int width,
                                                        const Heads& heads) = 0;

  // blocks.hpp and image_blocks.hpp:
  [[nodiscard]] virtual std::unique_ptr<Block> first_convolution(const Layout& layout,
                                                                 const std::string& name,
                                                                 const Images& out_shape,
                                                                 Edge in,
                                                                 Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> convolution(const Layout& layout,
                                                           const std::string& name,
                                                           const ConvolutionShape& shape,
                                                           Edge in,
                                                           Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> bn_relu_pool(
      const Layout& layout, const std::string& name, const Images& in_shape, Edge in, Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> linear(const Layout& layout,
                                                      const std::string& name,
                                                      const LinearShape& shape,
                                                      Edge in,
                                                      Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> bn_relu(const Layout& layout,
                                                       const std::string& name,
                                                       const Images& shape,
                                                       Edge in,
                                                       Edge out,
                                                       const float* residual) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> gradient_sum(std::size_t count,
                                                            Edge in,
                                                            const float* branch) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> narrowing_shortcut(const Images& in_shape,
                                                                  Edge in,
                                                                  Edge out) = 0;
  [[nodiscard]] virtual std::unique_ptr<Block> average_pool(const Images& in_shape,
                                                            Edge in,
                                                            Edge out) = 0;

  // A block that copies the array to host memory in the forward pass of a training and back in the
  // backward pass. Throws std::logic_error if the array is in host memory already.
  [[nodiscard]] virtual std::unique_ptr<Block> offload(float* at, std::size_t count) = 0;
};

// The maker for the processor.
[[nodiscard]] std::unique_ptr<BlockMaker> processor_blocks();

}  // namespace dts::train
