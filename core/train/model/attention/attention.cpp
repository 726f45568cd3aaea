// SPDX-License-Identifier: Apache-2.0
// Causal attention, a few rows of queries at a time (the idea to recompute weights instead of
// keeping them is from T. Dao et al., "FlashAttention", 2022).
#include "core/train/memory/buffer.hpp"
#include "core/train/model/attention/bf16_products.hpp"
#include "core/train/model/attention/fp32_products.hpp"
#include "core/train/model/token_blocks.hpp"

#include <algorithm>
#include <cmath>

namespace dts::train {
namespace {

template <class Products>
class AttentionBlock : public Block {
 public:
  AttentionBlock(const Attention& shape, Edge out)
      : shape_(shape),
        out_(out),
        scale_(1.0F / std::sqrt(static_cast<float>(shape.width))),
        top_(rows_of_all_heads()),
        inverse_(rows_of_all_heads()),
        scores_(area(k_rows_at_a_time, shape.context)),
        d_scores_(scores_.size()),
        products_(shape) {}

  void forward(const Pass& /*pass*/) override {
    for_each_head([&](const Head& head, std::size_t kept) {
      products_.enter(head);
      for_each_part(kept, [&](const Part& part) {
        token_kernels().softmax(
            scores_of(part), top_.data() + part.kept, inverse_.data() + part.kept);
        products_.sums(part, scores_.data());
      });
    });
  }

  void backward(const Pass& /*pass*/) override {
    for_each_head([&](const Head& head, std::size_t kept) {
      products_.enter_backward(head);
      for_each_part(kept, [&](const Part& part) {
        const CausalScores weights = scores_of(part);
        token_kernels().softmax_again(
            weights, top_.data() + part.kept, inverse_.data() + part.kept);
        products_.sums_backward(part, scores_.data(), d_scores_.data());
        token_kernels().softmax_backward(weights, d_scores_.data());
        products_.scores_backward(part, d_scores_.data());
      });
      products_.leave_backward();
    });
  }

 private:
  [[nodiscard]] std::size_t rows_of_all_heads() const {
    return area(shape_.batch * shape_.context, shape_.queries.count);
  }

  // The values of one head of a sample, from position 0 on.
  [[nodiscard]] Edge at(const Edge& edge, int pitch, int sample, int head) const {
    const std::size_t offset = area(sample * shape_.context, pitch) + area(head, shape_.width);
    return {edge.value + offset, edge.gradient + offset};
  }

  // Calls visit(head, number of rows of all heads before it).
  template <class Visit>
  void for_each_head(const Visit& visit) const {
    const auto& [edge_q, pitch_q, queries] = shape_.queries;
    const auto& [edge_k, pitch_k, keys] = shape_.keys;
    const auto& [edge_v, pitch_v, values] = shape_.values;
    const int served = queries / keys;  // heads of queries per head of keys
    std::size_t kept = 0;
    for (int sample = 0; sample < shape_.batch; ++sample)
      for (int head = 0; head < queries; ++head) {
        visit(Head{at(edge_q, pitch_q, sample, head),
                   at(edge_k, pitch_k, sample, head / served),
                   at(edge_v, pitch_v, sample, head / served),
                   at(out_, out_pitch(shape_), sample, head),
                   head % served == 0,
                   (head + 1) % served == 0},
              kept);
        kept += static_cast<std::size_t>(shape_.context);
      }
  }

  template <class Visit>
  void for_each_part(std::size_t kept, const Visit& visit) const {
    for (int first = 0; first < shape_.context; first += k_rows_at_a_time) {
      const int rows = std::min(k_rows_at_a_time, shape_.context - first);
      visit(Part{first, rows, first + rows, kept + static_cast<std::size_t>(first)});
    }
  }

  // The scores before softmax, in scores_.
  CausalScores scores_of(const Part& part) {
    products_.scores(part, scores_.data());
    return {scores_.data(), part.rows, part.columns, part.first, scale_};
  }

  Attention shape_;
  Edge out_;
  float scale_;
  Buffer top_;
  Buffer inverse_;
  Buffer scores_;
  Buffer d_scores_;
  Products products_;
};

}  // namespace

std::unique_ptr<Block> attention(const Attention& shape, Edge out) {
  if (shape.precision == Precision::bf16)
    return std::make_unique<AttentionBlock<Bf16Products>>(shape, out);
  return std::make_unique<AttentionBlock<Fp32Products>>(shape, out);
}

}  // namespace dts::train
