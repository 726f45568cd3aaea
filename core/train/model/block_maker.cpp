// SPDX-License-Identifier: Apache-2.0
#include "core/train/model/block_maker.hpp"

#include "core/train/memory/buffer.hpp"

#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

namespace dts::train {
namespace {

class ProcessorBlocks : public BlockMaker {
 public:
  float* floats(std::size_t count) override { return buffers_.emplace_back(count).data(); }

  std::uint32_t* tokens(std::size_t count) override { return tokens_.emplace_back(count).data(); }

  std::unique_ptr<Block> embedding(const Layout& layout,
                                   const Embedding& shape,
                                   const std::uint32_t* ids,
                                   Edge out) override {
    return train::embedding(layout, shape, ids, out);
  }

  std::unique_ptr<Block> layer_norm(const Layout& layout,
                                    const Norm& norm,
                                    Edge in,
                                    Edge out) override {
    return train::layer_norm(layout, norm, in, out);
  }

  std::unique_ptr<Block> rms_norm(const Layout& layout,
                                  const Norm& norm,
                                  Edge in,
                                  Edge out) override {
    return train::rms_norm(layout, norm, in, out);
  }

  std::unique_ptr<Block> projection(const Layout& layout,
                                    const Projection& shape,
                                    Edge in,
                                    Edge out) override {
    return train::projection(layout, shape, in, out);
  }

  std::unique_ptr<Block> attention(const Attention& shape, Edge out) override {
    return train::attention(shape, out);
  }

  std::unique_ptr<Block> gelu(std::size_t count, Edge in, Edge out) override {
    return train::gelu(count, in, out);
  }

  std::unique_ptr<Block> swiglu(std::size_t count, Edge gate, Edge up, Edge out) override {
    return train::swiglu(count, gate, up, out);
  }

  std::unique_ptr<Block> rotation(std::shared_ptr<const Angles> angles,
                                  int batch,
                                  int context,
                                  int width,
                                  const Heads& heads) override {
    return train::rotation(std::move(angles), batch, context, width, heads);
  }

  std::unique_ptr<Block> first_convolution(const Layout& layout,
                                           const std::string& name,
                                           const Images& out_shape,
                                           Edge in,
                                           Edge out) override {
    return train::first_convolution(layout, name, out_shape, in, out);
  }

  std::unique_ptr<Block> convolution(const Layout& layout,
                                     const std::string& name,
                                     const ConvolutionShape& shape,
                                     Edge in,
                                     Edge out) override {
    return train::convolution(layout, name, shape, in, out);
  }

  std::unique_ptr<Block> bn_relu_pool(const Layout& layout,
                                      const std::string& name,
                                      const Images& in_shape,
                                      Edge in,
                                      Edge out) override {
    return train::bn_relu_pool(layout, name, in_shape, in, out);
  }

  std::unique_ptr<Block> linear(const Layout& layout,
                                const std::string& name,
                                const LinearShape& shape,
                                Edge in,
                                Edge out) override {
    return train::linear(layout, name, shape, in, out);
  }

  std::unique_ptr<Block> bn_relu(const Layout& layout,
                                 const std::string& name,
                                 const Images& shape,
                                 Edge in,
                                 Edge out,
                                 const float* residual) override {
    return train::bn_relu(layout, name, shape, in, out, residual);
  }

  std::unique_ptr<Block> gradient_sum(std::size_t count, Edge in, const float* branch) override {
    return train::gradient_sum(count, in, branch);
  }

  std::unique_ptr<Block> narrowing_shortcut(const Images& in_shape, Edge in, Edge out) override {
    return train::narrowing_shortcut(in_shape, in, out);
  }

  std::unique_ptr<Block> average_pool(const Images& in_shape, Edge in, Edge out) override {
    return train::average_pool(in_shape, in, out);
  }

  std::unique_ptr<Block> offload(float* /*at*/, std::size_t /*count*/) override {
    throw std::logic_error("activations on processors are in the host's memory already");
  }

 private:
  std::deque<Buffer> buffers_;
  std::deque<std::vector<std::uint32_t>> tokens_;
};

}  // namespace

std::unique_ptr<BlockMaker> processor_blocks() {
  return std::make_unique<ProcessorBlocks>();
}

}  // namespace dts::train
