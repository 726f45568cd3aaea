// SPDX-License-Identifier: Apache-2.0
// The blocks of token_blocks.hpp that have parameters, and rotations.
#include "core/train/model/token_blocks.hpp"

#include "core/train/device/elementary.hpp"
#include "core/train/memory/buffer.hpp"
#include "core/train/model/gemm.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace dts::train {
namespace {

std::size_t size_of(int rows, int width) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
}

class EmbeddingBlock : public Block {
 public:
  EmbeddingBlock(const Layout& layout, Embedding shape, const std::uint32_t* ids, Edge out)
      : shape_(std::move(shape)), places_(layout, shape_), ids_(ids), out_(out) {}

  void forward(const Pass& pass) override {
    for_each_row([&](std::size_t token, std::size_t position, std::size_t row) {
      token_kernels().begin_rows(
          {1, shape_.width},
          pass.weights + places_.table.offset + token,
          shape_.positions.empty() ? nullptr : pass.weights + places_.positions + position,
          out_.value + row);
    });
  }

  void backward(const Pass& pass) override {
    const auto width = static_cast<std::size_t>(shape_.width);
    if (shape_.into == Into::overwrites)
      std::fill_n(pass.sums + places_.table.offset, places_.table.count, 0.0F);
    if (!shape_.positions.empty())
      std::fill_n(pass.sums + places_.positions, size_of(shape_.context, shape_.width), 0.0F);
    for_each_row([&](std::size_t token, std::size_t position, std::size_t row) {
      float* const of_token = pass.sums + places_.table.offset + token;
      add(of_token, of_token, out_.gradient + row, width);
      if (shape_.positions.empty()) return;
      float* const of_position = pass.sums + places_.positions + position;
      add(of_position, of_position, out_.gradient + row, width);
    });
  }

  [[nodiscard]] Range completes() const override { return places_.range; }

  [[nodiscard]] Range reads_in_backward() const override { return {}; }

 private:
  // Calls visit with offsets in floats: of the token in the table, of the position, and of the row.
  template <class Visit>
  void for_each_row(const Visit& visit) const {
    const auto width = static_cast<std::size_t>(shape_.width);
    const auto context = static_cast<std::size_t>(shape_.context);
    for (std::size_t row = 0; row < static_cast<std::size_t>(shape_.batch) * context; ++row)
      visit(ids_[row] * width, row % context * width, row * width);
  }

  Embedding shape_;
  EmbeddingPlaces places_;
  const std::uint32_t* ids_;
  Edge out_;
};

class NormBlock : public Block {
 public:
  enum class Kind { layer, rms };

  NormBlock(Kind kind, const Layout& layout, Norm norm, Edge in, Edge out)
      : kind_(kind),
        norm_(std::move(norm)),
        range_(layout.range(norm_.name + ".weight",
                            norm_.name + (kind == Kind::layer ? ".bias" : ".weight"))),
        bias_(kind == Kind::layer ? layout.parameter(norm_.name + ".bias").offset : 0),
        kept_(2 * static_cast<std::size_t>(norm_.shape.rows)),
        moments_{kept_.data(), kept_.data() + norm_.shape.rows},
        in_(in),
        out_(out) {}

  void forward(const Pass& pass) override {
    const float* const gamma = pass.weights + range_.begin;
    if (kind_ == Kind::layer)
      token_kernels().layer_norm_forward(
          norm_.shape, in_.value, gamma, pass.weights + bias_, norm_.epsilon, out_.value, moments_);
    else
      token_kernels().rms_norm_forward(
          norm_.shape, in_.value, gamma, norm_.epsilon, out_.value, moments_);
  }

  void backward(const Pass& pass) override {
    const TokenKernels& kernels = token_kernels();
    const auto kernel =
        kind_ == Kind::layer ? kernels.layer_norm_backward : kernels.rms_norm_backward;
    kernel({norm_.shape,
            in_.value,
            pass.weights + range_.begin,
            moments_,
            out_.gradient,
            in_.gradient,
            norm_.into,
            pass.sums + range_.begin,
            pass.sums + bias_});
  }

  [[nodiscard]] Range completes() const override { return range_; }

 private:
  Kind kind_;
  Norm norm_;
  Range range_;
  std::size_t bias_;
  Buffer kept_;
  RowMoments moments_;
  Edge in_;
  Edge out_;
};

class ProjectionBlock : public Block {
 public:
  ProjectionBlock(const Layout& layout, Projection shape, Edge in, Edge out)
      : shape_(std::move(shape)), places_(layout, shape_), in_(in), out_(out) {
    if (shape_.precision == Precision::bf16)
      bf16_.emplace(Bf16Shape{.rows = shape_.rows,
                              .in = shape_.in,
                              .out = shape_.out,
                              .is_in_out = shape_.is_in_out,
                              .adds_output = begins(),
                              .adds_input_gradient = shape_.into == Into::adds});
  }

  void prepare(const float* weights) override {
    if (bf16_) bf16_->prepare(weights + places_.range.begin);
  }

  void forward(const Pass& pass) override {
    const float* const bias = shape_.bias.empty() ? nullptr : pass.weights + places_.bias;
    if (begins())
      token_kernels().begin_rows({shape_.rows, shape_.out}, bias, shape_.residual, out_.value);
    if (bf16_) return bf16_->forward(in_.value, out_.value);
    multiply({in_.value, shape_.in},
             {pass.weights + places_.range.begin, pitch(), !shape_.is_in_out},
             shape_.in,
             {out_.value, shape_.rows, shape_.out, shape_.out},
             begins());
  }

  void backward(const Pass& pass) override {
    if (!shape_.bias.empty())
      sum_rows(out_.gradient, shape_.rows, shape_.out, pass.sums + places_.bias);
    if (bf16_) return bf16_->backward(out_.gradient, pass.sums + places_.range.begin, in_.gradient);
    const Factor x{in_.value, shape_.in, true};
    const Factor d_y{out_.gradient, shape_.out, true};
    if (shape_.is_in_out)
      multiply(x,
               {out_.gradient, shape_.out},
               shape_.rows,
               {pass.sums + places_.range.begin, shape_.in, shape_.out, shape_.out});
    else
      multiply(d_y,
               {in_.value, shape_.in},
               shape_.rows,
               {pass.sums + places_.range.begin, shape_.out, shape_.in, shape_.in});
    multiply({out_.gradient, shape_.out},
             {pass.weights + places_.range.begin, pitch(), shape_.is_in_out},
             shape_.out,
             {in_.gradient, shape_.rows, shape_.in, shape_.in},
             shape_.into == Into::adds);
  }

  [[nodiscard]] Range completes() const override {
    return shape_.is_shared ? Range{} : places_.range;
  }

  [[nodiscard]] Range reads() const override { return places_.range; }

 private:
  // Whether the output has a value before the product is added to it.
  [[nodiscard]] bool begins() const { return !shape_.bias.empty() || shape_.residual != nullptr; }

  [[nodiscard]] int pitch() const { return shape_.is_in_out ? shape_.out : shape_.in; }

  Projection shape_;
  ProjectionPlaces places_;
  Edge in_;
  Edge out_;
  std::optional<Bf16Layer> bf16_;
};

class RotationBlock : public Block {
 public:
  RotationBlock(
      std::shared_ptr<const Angles> angles, int batch, int context, int width, const Heads& heads)
      : angles_(std::move(angles)),
        rows_(batch * context),
        context_(context),
        width_(width),
        heads_(heads) {}

  void forward(const Pass& /*pass*/) override { turn(heads_.edge.value, 1); }

  void backward(const Pass& /*pass*/) override { turn(heads_.edge.gradient, -1); }

 private:
  void turn(float* values, float sign) const {
    const int half = width_ / 2;
    for (int row = 0; row < rows_; ++row) {
      const std::size_t angle = size_of(row % context_, half);
      for (int head = 0; head < heads_.count; ++head)
        token_kernels().rotate(values + size_of(row, heads_.pitch) + head * width_,
                               angles_->cosine.data() + angle,
                               angles_->sine.data() + angle,
                               half,
                               sign);
    }
  }

  std::shared_ptr<const Angles> angles_;
  int rows_;
  int context_;
  int width_;
  Heads heads_;
};

}  // namespace

EmbeddingPlaces::EmbeddingPlaces(const Layout& layout, const Embedding& shape)
    : table(layout.parameter(shape.tokens)),
      range(layout.range(shape.tokens, shape.positions.empty() ? shape.tokens : shape.positions)),
      positions(shape.positions.empty() ? 0 : layout.parameter(shape.positions).offset) {}

ProjectionPlaces::ProjectionPlaces(const Layout& layout, const Projection& shape)
    : range(layout.range(shape.weight, shape.bias.empty() ? shape.weight : shape.bias)),
      bias(shape.bias.empty() ? 0 : layout.parameter(shape.bias).offset) {}

Angles::Angles(int context, int width, double base) {
  const int half = width / 2;
  const double log_base = portable_log(base);
  for (int position = 0; position < context; ++position)
    for (int i = 0; i < half; ++i) {
      const SineCosine both = portable_sincos(position * precise_exp(-log_base * i / half));
      cosine.push_back(static_cast<float>(both.cosine));
      sine.push_back(static_cast<float>(both.sine));
    }
}

std::unique_ptr<Block> embedding(const Layout& layout,
                                 const Embedding& shape,
                                 const std::uint32_t* ids,
                                 Edge out) {
  return std::make_unique<EmbeddingBlock>(layout, shape, ids, out);
}

std::unique_ptr<Block> layer_norm(const Layout& layout, Norm norm, Edge in, Edge out) {
  return std::make_unique<NormBlock>(NormBlock::Kind::layer, layout, std::move(norm), in, out);
}

std::unique_ptr<Block> rms_norm(const Layout& layout, Norm norm, Edge in, Edge out) {
  return std::make_unique<NormBlock>(NormBlock::Kind::rms, layout, std::move(norm), in, out);
}

std::unique_ptr<Block> projection(const Layout& layout,
                                  const Projection& shape,
                                  Edge in,
                                  Edge out) {
  return std::make_unique<ProjectionBlock>(layout, shape, in, out);
}

std::unique_ptr<Block> rotation(
    std::shared_ptr<const Angles> angles, int batch, int context, int width, const Heads& heads) {
  return std::make_unique<RotationBlock>(std::move(angles), batch, context, width, heads);
}

}  // namespace dts::train
