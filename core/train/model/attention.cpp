// SPDX-License-Identifier: Apache-2.0
// Causal attention, some rows of queries at a time (T. Dao et al., "FlashAttention", 2022, for the
// idea to compute weights again instead of keeping them).
#include "core/train/memory/buffer.hpp"
#include "core/train/model/gemm.hpp"
#include "core/train/model/token_blocks.hpp"

#include <algorithm>
#include <cmath>

namespace dts::train {
namespace {

constexpr int k_rows = 64;  // of queries at a time

class AttentionBlock : public Block {
 public:
  AttentionBlock(const Attention& shape, Edge out)
      : shape_(shape),
        out_(out),
        scale_(1.0F / std::sqrt(static_cast<float>(shape.width))),
        top_(rows_of_all_heads()),
        inverse_(rows_of_all_heads()),
        scores_(static_cast<std::size_t>(k_rows) * static_cast<std::size_t>(shape.context)),
        d_scores_(scores_.size()) {}

  void forward(const Pass& /*pass*/) override {
    for_each_part([&](const Part& part) {
      const CausalScores scores = scores_of(part);
      token_kernels().softmax(scores, top_.data() + part.kept, inverse_.data() + part.kept);
      multiply({scores_.data(), part.columns},
               factor(part.values, shape_.values),
               part.columns,
               {part.out.value, part.rows, shape_.width, out_pitch()});
    });
  }

  void backward(const Pass& /*pass*/) override {
    clear(shape_.keys);
    clear(shape_.values);
    for_each_part([&](const Part& part) { part_backward(part); });
  }

 private:
  // Some rows of one head of one sample.
  struct Part {
    Edge queries, keys, values, out;  // from the first row on; keys and values from position 0
    int first = 0;                    // position of the first row
    int rows = 0;
    int columns = 0;       // positions that the last row sees
    std::size_t kept = 0;  // in top_ and inverse_
  };

  [[nodiscard]] std::size_t rows_of_all_heads() const {
    return static_cast<std::size_t>(shape_.batch) * static_cast<std::size_t>(shape_.context) *
           static_cast<std::size_t>(shape_.queries.count);
  }

  [[nodiscard]] int out_pitch() const { return shape_.queries.count * shape_.width; }

  static Factor factor(const Edge& edge, const Heads& heads, bool is_transposed = false) {
    return {edge.value, heads.pitch, is_transposed};
  }

  // Of a head in the row of a position.
  [[nodiscard]] Edge at(const Edge& edge, int pitch, int row, int head) const {
    const std::size_t offset =
        static_cast<std::size_t>(row) * static_cast<std::size_t>(pitch) +
        static_cast<std::size_t>(head) * static_cast<std::size_t>(shape_.width);
    return {edge.value + offset, edge.gradient + offset};
  }

  void clear(const Heads& heads) const {
    const auto width =
        static_cast<std::size_t>(heads.count) * static_cast<std::size_t>(shape_.width);
    for (int row = 0; row < shape_.batch * shape_.context; ++row)
      std::fill_n(heads.edge.gradient +
                      static_cast<std::size_t>(row) * static_cast<std::size_t>(heads.pitch),
                  width,
                  0.0F);
  }

  template <class Visit>
  void for_each_part(const Visit& visit) {
    const int served = shape_.queries.count / shape_.keys.count;  // queries by a head of keys
    std::size_t kept = 0;
    for (int sample = 0; sample < shape_.batch; ++sample)
      for (int head = 0; head < shape_.queries.count; ++head)
        for (int first = 0; first < shape_.context; first += k_rows) {
          const int begin = sample * shape_.context;
          const int rows = std::min(k_rows, shape_.context - first);
          const Heads& q = shape_.queries;
          const Heads& k = shape_.keys;
          const Heads& v = shape_.values;
          visit(Part{at(q.edge, q.pitch, begin + first, head),
                     at(k.edge, k.pitch, begin, head / served),
                     at(v.edge, v.pitch, begin, head / served),
                     at(out_, out_pitch(), begin + first, head),
                     first,
                     rows,
                     first + rows,
                     kept});
          kept += static_cast<std::size_t>(rows);
        }
  }

  // Before softmax, in scores_.
  CausalScores scores_of(const Part& part) {
    multiply(factor(part.queries, shape_.queries),
             factor(part.keys, shape_.keys, true),
             shape_.width,
             {scores_.data(), part.rows, part.columns, part.columns});
    return {scores_.data(), part.rows, part.columns, part.first, scale_};
  }

  void part_backward(const Part& part) {
    const CausalScores weights = scores_of(part);
    token_kernels().softmax_again(weights, top_.data() + part.kept, inverse_.data() + part.kept);
    const Factor d_out{part.out.gradient, out_pitch()};
    multiply({scores_.data(), part.columns, true},
             d_out,
             part.rows,
             {part.values.gradient, part.columns, shape_.width, shape_.values.pitch},
             true);
    multiply(d_out,
             factor(part.values, shape_.values, true),
             shape_.width,
             {d_scores_.data(), part.rows, part.columns, part.columns});
    token_kernels().softmax_backward(weights, d_scores_.data());
    multiply({d_scores_.data(), part.columns},
             factor(part.keys, shape_.keys),
             part.columns,
             {part.queries.gradient, part.rows, shape_.width, shape_.queries.pitch});
    multiply({d_scores_.data(), part.columns, true},
             factor(part.queries, shape_.queries),
             part.rows,
             {part.keys.gradient, part.columns, shape_.width, shape_.keys.pitch},
             true);
  }

  Attention shape_;
  Edge out_;
  float scale_;
  Buffer top_;
  Buffer inverse_;
  Buffer scores_;
  Buffer d_scores_;
};

}  // namespace

std::unique_ptr<Block> attention(const Attention& shape, Edge out) {
  return std::make_unique<AttentionBlock>(shape, out);
}

}  // namespace dts::train
