// SPDX-License-Identifier: Apache-2.0
// Embeddings, and the maker of all blocks; the other blocks are in tokens/ and images/.
#include "core/train/accelerator/device_blocks.hpp"

#include "core/train/accelerator/run_sums.hpp"
#include "core/train/accelerator/tokens/device_attention.hpp"
#include "core/train/accelerator/tokens/device_elements.hpp"
#include "core/train/accelerator/tokens/device_norm.hpp"
#include "core/train/accelerator/tokens/device_projection.hpp"

#include <algorithm>
#include <utility>

namespace dts::train::accelerator {
namespace {

class DeviceEmbedding : public Block {
 public:
  DeviceEmbedding(Queue& queue,
                  const Layout& layout,
                  Embedding shape,
                  const std::uint32_t* ids,
                  const std::uint32_t* order,
                  Edge out)
      : queue_(queue),
        shape_(std::move(shape)),
        places_(layout, shape_),
        ids_(ids),
        order_(order),
        out_(out) {}

  void forward(const Pass& pass) override {
    const float* const positions =
        shape_.positions.empty() ? nullptr : pass.weights + places_.positions;
    queue_.launch(EmbeddingForward{{floats_of(rows(), shape_.width)},
                                   shape_.width,
                                   shape_.context,
                                   ids_,
                                   pass.weights + places_.table.offset,
                                   positions,
                                   out_.value,
                                   places_.table.shape.front()});
  }

  void backward(const Pass& pass) override {
    float* const of_table = pass.sums + places_.table.offset;
    if (shape_.into == Into::overwrites) queue_.clear(of_table, places_.table.count);
    queue_.launch(TokenGradients{
        places_.table.shape.front(), shape_.width, rows(), ids_, order_, out_.gradient, of_table});
    if (!shape_.positions.empty())
      queue_.launch(PositionGradients{{floats_of(shape_.context, shape_.width)},
                                      shape_.batch,
                                      out_.gradient,
                                      pass.sums + places_.positions});
  }

  [[nodiscard]] Range completes() const override { return places_.range; }

  [[nodiscard]] Range reads_in_backward() const override { return {}; }

 private:
  [[nodiscard]] int rows() const { return shape_.batch * shape_.context; }

  Queue& queue_;
  Embedding shape_;
  EmbeddingPlaces places_;
  const std::uint32_t* ids_;
  const std::uint32_t* order_;  // see TokenGradients
  Edge out_;
};

class DeviceOffload : public Block {
 public:
  DeviceOffload(Queue& queue, float* at, std::size_t count)
      : queue_(queue), at_(at), count_(count), pinned_(queue.allocate_pinned(count)) {}

  void forward(const Pass& pass) override {
    if (pass.training) queue_.offload(pinned_, at_, count_);
  }

  void backward(const Pass& /*pass*/) override { queue_.reload(at_, pinned_, count_); }

 private:
  Queue& queue_;
  float* at_;
  std::size_t count_;
  float* pinned_;
};

}  // namespace

float* DeviceBlocks::scratch(std::size_t number, std::size_t count) {
  float*& at = scratch_[{number, count}];
  if (at == nullptr) at = queue_.allocate(count);
  return at;
}

std::uint32_t* DeviceBlocks::tokens(std::size_t count) {
  order_ = queue_.allocate<std::uint32_t>(count);
  return queue_.allocate<std::uint32_t>(count);
}

float* DeviceBlocks::run_sums(std::size_t arrays, std::size_t each) {
  return each == 0 ? nullptr : scratch(3, arrays * each);
}

std::unique_ptr<Block> DeviceBlocks::embedding(const Layout& layout,
                                               const Embedding& shape,
                                               const std::uint32_t* ids,
                                               Edge out) {
  return std::make_unique<DeviceEmbedding>(queue_, layout, shape, ids, order_, out);
}

template <NormKind kind>
std::unique_ptr<Block> DeviceBlocks::norm(const Layout& layout,
                                          const Norm& norm,
                                          Edge in,
                                          Edge out) {
  float* const sums = run_sums(2, device_norm_sums(norm.shape));
  return device_norm<kind>(queue_, products_, layout, norm, in, out, sums);
}

std::unique_ptr<Block> DeviceBlocks::layer_norm(const Layout& layout,
                                                const Norm& shape,
                                                Edge in,
                                                Edge out) {
  return norm<NormKind::layer>(layout, shape, in, out);
}

std::unique_ptr<Block> DeviceBlocks::rms_norm(const Layout& layout,
                                              const Norm& shape,
                                              Edge in,
                                              Edge out) {
  return norm<NormKind::rms>(layout, shape, in, out);
}

std::unique_ptr<Block> DeviceBlocks::projection(const Layout& layout,
                                                const Projection& shape,
                                                Edge in,
                                                Edge out) {
  // Logits share memory with their gradient; they are rounded as well.
  const bool is_logits = out.value == out.gradient;
  if (shape.is_inside || is_logits)
    products_.keep_rounded(out, floats_of(shape.rows, std::max(shape.room, shape.out)));
  DeviceProjectionScratch scratch_of;
  scratch_of.bias = run_sums(1, DeviceProjectionScratch::floats_of_bias(shape));
  const std::size_t of_weights = DeviceProjectionScratch::floats_of_weights(shape);
  if (of_weights != 0) scratch_of.weights = scratch(5, of_weights);
  const auto read = gelu_curves_.find(in.value);
  const std::shared_ptr<Curve> before = read == gelu_curves_.end() ? nullptr : read->second;
  const auto after = std::make_shared<Curve>();
  output_curves_[out.value] = shape.room > shape.out ? nullptr : after;
  return device_projection(queue_, products_, layout, shape, in, out, scratch_of, {before, after});
}

std::unique_ptr<Block> DeviceBlocks::attention(const Attention& shape, Edge out) {
  const std::size_t positions =
      floats_of(shape.batch, shape.context) * static_cast<std::size_t>(shape.queries.count);
  return device_attention(queue_, products_, shape, out, scratch(0, positions));
}

std::unique_ptr<Block> DeviceBlocks::gelu(std::size_t count, Edge in, Edge out) {
  const auto found = output_curves_.find(in.value);
  const std::shared_ptr<Curve> curve = found == output_curves_.end() ? nullptr : found->second;
  if (curve != nullptr) {
    curve->add_gelu(in, out);
    gelu_curves_[out.value] = curve;
  }
  return device_gelu(queue_, products_, count, in, out, curve);
}

std::unique_ptr<Block> DeviceBlocks::swiglu(std::size_t count, Edge gate, Edge up, Edge out) {
  return device_swiglu(queue_, products_, count, gate, up, out);
}

std::unique_ptr<Block> DeviceBlocks::offload(float* at, std::size_t count) {
  return std::make_unique<DeviceOffload>(queue_, at, count);
}

std::unique_ptr<Block> DeviceBlocks::rotation(
    std::shared_ptr<const Angles> angles, int batch, int context, int width, const Heads& heads) {
  DeviceAngles& on_device = angles_[angles.get()];
  if (on_device.cosine == nullptr) {
    on_device = {
        angles, queue_.allocate(angles->cosine.size()), queue_.allocate(angles->sine.size())};
    queue_.to_device(on_device.cosine, angles->cosine.data(), angles->cosine.size());
    queue_.to_device(on_device.sine, angles->sine.data(), angles->sine.size());
  }
  return device_rotation(
      queue_, products_, {on_device.cosine, on_device.sine, batch, context, width, heads});
}

}  // namespace dts::train::accelerator
