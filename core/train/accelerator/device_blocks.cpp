// SPDX-License-Identifier: Apache-2.0
// Embeddings and projections, and who makes all blocks; the others are in device_norm.cpp,
// device_elements.cpp and device_attention.cpp.
#include "core/train/accelerator/device_blocks.hpp"

#include "core/train/accelerator/device_attention.hpp"
#include "core/train/accelerator/device_elements.hpp"
#include "core/train/accelerator/device_norm.hpp"
#include "core/train/accelerator/run_sums.hpp"
#include "core/train/accelerator/weight_gradient.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace dts::train::accelerator {
namespace {

std::size_t floats_of(int rows, int width) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
}

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

  [[nodiscard]] Range reads_again() const override { return {}; }

 private:
  [[nodiscard]] int rows() const { return shape_.batch * shape_.context; }

  Queue& queue_;
  Embedding shape_;
  EmbeddingPlaces places_;
  const std::uint32_t* ids_;
  const std::uint32_t* order_;  // TokenGradients
  Edge out_;
};

class DeviceProjection : public Block {
 public:
  // `scratch`: for the sums of the bias's gradient (run_sums.hpp), and for those of the weights'.
  DeviceProjection(Queue& queue,
                   Products& products,
                   const Layout& layout,
                   Projection shape,
                   Edge in,
                   Edge out,
                   float* scratch,
                   float* of_weights)
      : queue_(queue),
        products_(products),
        shape_(std::move(shape)),
        places_(layout, shape_),
        in_(in),
        out_(out),
        bias_sums_(queue, shape_.rows, shape_.out, scratch),
        weight_gradient_(queue,
                         products,
                         shape_.rows,
                         shape_.is_in_out ? shape_.in : shape_.out,
                         shape_.is_in_out ? shape_.out : shape_.in,
                         of_weights) {
    if (pitch() > shape_.out && !(shape_.bias.empty() && shape_.residual == nullptr))
      throw std::logic_error("rows with room between them, and something added to them");
    const std::size_t weights = floats_of(shape_.in, shape_.out);
    products_.reserve(Products::Place::left, weights);
    products_.reserve(Products::Place::right, weights);
    const std::size_t given = floats_of(shape_.rows, shape_.in);
    if (products_.rounded(in_.value) == nullptr) {
      products_.reserve(Products::Place::left, given);
      products_.reserve(Products::Place::right, given);
    }
    if (products_.rounded(out_.gradient) == nullptr)
      products_.reserve(Products::Place::once, floats_of(shape_.rows, shape_.out));
  }

  void forward(const Pass& pass) override {
    dttrain_product product = packed_product({in_.value, shape_.in, 0, 0},
                                             weights(pass, !shape_.is_in_out),
                                             out_.value,
                                             shape_.rows,
                                             shape_.out,
                                             shape_.in);
    product.pitch = pitch();
    product.plus = shape_.residual;
    if (!shape_.bias.empty()) product.bias = pass.weights + places_.bias;
    products_.multiply(product);
  }

  void backward(const Pass& pass) override {
    if (!shape_.bias.empty()) add_bias_gradient(pass.sums + places_.bias);
    const dttrain_factor x{in_.value, shape_.in, 0, 0};
    const dttrain_factor d_y =
        products_.round_once(out_.gradient, shape_.rows, shape_.out, pitch());
    const bool is_rounded = products_.rounds();
    float* const d_weights = pass.sums + places_.range.begin;
    if (shape_.is_in_out)
      weight_gradient_.multiply(x, d_y, {false, is_rounded}, d_weights);
    else
      weight_gradient_.multiply(d_y, x, {is_rounded, false}, d_weights);
    if (in_.gradient == nullptr) return;
    dttrain_product product = packed_product(
        d_y, weights(pass, shape_.is_in_out), in_.gradient, shape_.rows, shape_.in, shape_.out);
    if (shape_.into == Into::adds) product.plus = in_.gradient;
    products_.multiply(product, {is_rounded, false});
  }

  [[nodiscard]] Range completes() const override {
    return shape_.is_shared ? Range{} : places_.range;
  }

  [[nodiscard]] Range reads() const override { return places_.range; }

 private:
  // Of what it gives, and of its gradient.
  [[nodiscard]] int pitch() const { return std::max(shape_.room, shape_.out); }

  void add_bias_gradient(float* to) {
    float* const sums = bias_sums_.place(0, to);
    if (const Bfloat* const d_y = products_.rounded(out_.gradient))
      queue_.launch(ColumnSums<Bfloat>{{shape_.rows, shape_.out}, d_y, sums});
    else
      queue_.launch(ColumnSums<float>{{shape_.rows, shape_.out}, out_.gradient, sums});
    bias_sums_.add_up(0, to);
  }

  [[nodiscard]] dttrain_factor weights(const Pass& pass, bool is_transposed) const {
    return {pass.weights + places_.range.begin,
            shape_.is_in_out ? shape_.out : shape_.in,
            is_transposed ? 1 : 0,
            0};
  }

  Queue& queue_;
  Products& products_;
  Projection shape_;
  ProjectionPlaces places_;
  Edge in_;
  Edge out_;
  RunSums bias_sums_;
  WeightGradient weight_gradient_;
};

class DeviceOffload : public Block {
 public:
  DeviceOffload(Queue& queue, float* at, std::size_t count)
      : queue_(queue), at_(at), count_(count), there_(queue.allocate_pinned(count)) {}

  void forward(const Pass& pass) override {
    if (pass.training) queue_.offload(there_, at_, count_);
  }

  void backward(const Pass& /*pass*/) override { queue_.bring_back(at_, there_, count_); }

 private:
  Queue& queue_;
  float* at_;
  std::size_t count_;
  float* there_;
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

float* DeviceBlocks::run_sums(std::size_t arrays, int rows, int width) {
  const std::size_t each = RunSums::floats(rows, width);
  return each == 0 ? nullptr : scratch(3, arrays * each);
}

std::unique_ptr<Block> DeviceBlocks::embedding(const Layout& layout,
                                               const Embedding& shape,
                                               const std::uint32_t* ids,
                                               Edge out) {
  return std::make_unique<DeviceEmbedding>(queue_, layout, shape, ids, order_, out);
}

template <About about>
std::unique_ptr<Block> DeviceBlocks::norm(const Layout& layout,
                                          const Norm& norm,
                                          Edge in,
                                          Edge out) {
  float* const sums = run_sums(2, norm.shape.rows, norm.shape.width);
  return device_norm<about>(queue_, products_, layout, norm, in, out, sums);
}

std::unique_ptr<Block> DeviceBlocks::layer_norm(const Layout& layout,
                                                const Norm& shape,
                                                Edge in,
                                                Edge out) {
  return norm<About::mean>(layout, shape, in, out);
}

std::unique_ptr<Block> DeviceBlocks::rms_norm(const Layout& layout,
                                              const Norm& shape,
                                              Edge in,
                                              Edge out) {
  return norm<About::zero>(layout, shape, in, out);
}

std::unique_ptr<Block> DeviceBlocks::projection(const Layout& layout,
                                                const Projection& shape,
                                                Edge in,
                                                Edge out) {
  // Logits, whose place their gradient takes, are rounded as well.
  const bool is_logits = out.value == out.gradient;
  if (shape.is_inside || is_logits)
    products_.keep_rounded(out, floats_of(shape.rows, std::max(shape.room, shape.out)));
  float* const sums = shape.bias.empty() ? nullptr : run_sums(1, shape.rows, shape.out);
  const std::size_t of_weights = WeightGradient::floats(shape.rows, shape.in, shape.out);
  return std::make_unique<DeviceProjection>(queue_,
                                            products_,
                                            layout,
                                            shape,
                                            in,
                                            out,
                                            sums,
                                            of_weights == 0 ? nullptr : scratch(5, of_weights));
}

std::unique_ptr<Block> DeviceBlocks::attention(const Attention& shape, Edge out) {
  const std::size_t positions =
      floats_of(shape.batch, shape.context) * static_cast<std::size_t>(shape.queries.count);
  return device_attention(queue_, products_, shape, out, scratch(0, positions));
}

std::unique_ptr<Block> DeviceBlocks::gelu(std::size_t count, Edge in, Edge out) {
  return device_gelu(queue_, products_, count, in, out);
}

std::unique_ptr<Block> DeviceBlocks::swiglu(std::size_t count, Edge gate, Edge up, Edge out) {
  return device_swiglu(queue_, products_, count, gate, up, out);
}

std::unique_ptr<Block> DeviceBlocks::offload(float* at, std::size_t count) {
  return std::make_unique<DeviceOffload>(queue_, at, count);
}

std::unique_ptr<Block> DeviceBlocks::rotation(
    std::shared_ptr<const Angles> angles, int batch, int context, int width, const Heads& heads) {
  DeviceAngles& there = angles_[angles.get()];
  if (there.cosine == nullptr) {
    there = {angles, queue_.allocate(angles->cosine.size()), queue_.allocate(angles->sine.size())};
    queue_.to_device(there.cosine, angles->cosine.data(), angles->cosine.size());
    queue_.to_device(there.sine, angles->sine.data(), angles->sine.size());
  }
  return device_rotation(
      queue_, products_, {there.cosine, there.sine, batch, context, width, heads});
}

}  // namespace dts::train::accelerator
