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

  std::unique_ptr<Block> offload(float* /*at*/, std::size_t /*count*/) override {
    throw std::logic_error("activations of processors are in the host's memory already");
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
