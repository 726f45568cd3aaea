// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/tokens/device_norm.hpp"

#include "core/train/accelerator/run_sums.hpp"
#include "core/train/accelerator/stored_edge.hpp"

namespace dts::train::accelerator {
namespace {

template <NormKind kind, class Out>
class DeviceNorm : public Block {
 public:
  DeviceNorm(Queue& queue,
             Products& products,
             const Layout& layout,
             const Norm& norm,
             Edge in,
             Edge out,
             float* scratch)
      : queue_(queue),
        norm_(norm),
        range_(layout.range(norm.name + ".weight", norm.name + last())),
        bias_(layout.parameter(norm.name + last()).offset),
        mean_(has_mean() ? queue.allocate(static_cast<std::size_t>(norm.shape.rows)) : nullptr),
        inverse_(queue.allocate(static_cast<std::size_t>(norm.shape.rows))),
        in_(in),
        copy_(products.rounded(in.gradient)),
        out_(products, out),
        sums_(queue, norm.shape.rows, norm.shape.width, scratch, norm_rows_each(norm.shape.rows)) {}

  void forward(const Pass& pass) override {
    queue_.launch(Normalise<kind, Out>{{norm_.shape.rows, norm_.shape.width},
                                       norm_.epsilon,
                                       in_.value,
                                       pass.weights + range_.begin,
                                       has_mean() ? pass.weights + bias_ : nullptr,
                                       out_.value,
                                       mean_,
                                       inverse_});
  }

  void backward(const Pass& pass) override {
    float* const d_gamma = pass.sums + range_.begin;
    float* const d_beta = has_mean() ? pass.sums + bias_ : nullptr;
    queue_.launch(NormaliseBackward<kind, Out>{norm_.shape.rows,
                                               norm_.shape.width,
                                               norm_rows_each(norm_.shape.rows),
                                               in_.value,
                                               pass.weights + range_.begin,
                                               mean_,
                                               inverse_,
                                               out_.gradient,
                                               in_.gradient,
                                               norm_.into == Into::adds,
                                               copy_,
                                               sums_.place(0, d_gamma),
                                               has_mean() ? sums_.place(1, d_beta) : nullptr});
    const bool are_neighbours = d_beta == d_gamma + norm_.shape.width;
    sums_.add_up(0, d_gamma, are_neighbours ? 2 : 1);
    if (has_mean() && !are_neighbours) sums_.add_up(1, d_beta);
  }

  [[nodiscard]] Range completes() const override { return range_; }

 private:
  static constexpr bool has_mean() { return kind == NormKind::layer; }

  // The suffix of its last parameter.
  static const char* last() { return has_mean() ? ".bias" : ".weight"; }

  Queue& queue_;
  Norm norm_;
  Range range_;
  std::size_t bias_;
  float* mean_;
  float* inverse_;
  Edge in_;
  Bfloat* copy_;  // of the gradient of in_; nullptr: none
  StoredEdge<Out> out_;
  RunSums sums_;
};

}  // namespace

std::size_t device_norm_sums(const RowShape& shape) {
  return RunSums::floats(shape.rows, shape.width, norm_rows_each(shape.rows));
}

template <NormKind kind>
std::unique_ptr<Block> device_norm(Queue& queue,
                                   Products& products,
                                   const Layout& layout,
                                   const Norm& norm,
                                   Edge in,
                                   Edge out,
                                   float* scratch) {
  const std::size_t count = floats_of(norm.shape.rows, norm.shape.width);
  products.keep_rounded(out, count);
  (void)products.keep_copy(in.gradient, count);
  if (products.rounds())
    return std::make_unique<DeviceNorm<kind, Bfloat>>(
        queue, products, layout, norm, in, out, scratch);
  return std::make_unique<DeviceNorm<kind, float>>(queue, products, layout, norm, in, out, scratch);
}

template std::unique_ptr<Block> device_norm<NormKind::layer>(
    Queue&, Products&, const Layout&, const Norm&, Edge, Edge, float*);
template std::unique_ptr<Block> device_norm<NormKind::rms>(
    Queue&, Products&, const Layout&, const Norm&, Edge, Edge, float*);

}  // namespace dts::train::accelerator
