// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/images/device_convolution.hpp"

#include <algorithm>

namespace dts::train::accelerator {
namespace {

std::size_t product_of(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

class DeviceConvolution : public Block {
 public:
  DeviceConvolution(Queue& queue,
                    Products& products,
                    const Scratch& scratch,
                    Range weights,
                    const DeviceConvolutionShape& shape,
                    Edge in,
                    Edge out)
      : queue_(queue),
        products_(products),
        range_(weights),
        in_shape_(shape.shape.in),
        out_shape_(shape.shape.out()),
        unit_{in_shape_.channels,
              in_shape_.height,
              in_shape_.width,
              shape.shape.stride,
              out_shape_.height,
              out_shape_.width},
        strides_(strides_of(shape.input)),
        padding_(shape.input.padding),
        at_once_(static_cast<int>(std::clamp<std::size_t>(
            shape.most / (out_pixels(1) * static_cast<std::size_t>(unit_.pitch())),
            1,
            static_cast<std::size_t>(in_shape_.batch)))),
        in_(in),
        out_(out),
        by_tap_(queue.allocate(weight_values())),
        d_by_tap_(scratch(0, weight_values())),
        unfolded_(scratch(1, unfolded(at_once_))) {
    products_.reserve(Products::Place::once,
                      out_pixels(at_once_) * product_of(1, out_shape_.channels));
  }

  void forward(const Pass& pass) override {
    if (products_.rounds())
      arrange<Bfloat>(pass.weights);
    else
      arrange<float>(pass.weights);
    for (int first = 0; first < in_shape_.batch; first += at_once_) {
      const int images = std::min(at_once_, in_shape_.batch - first);
      unfold(first, images);
      products_.multiply(packed_product({unfolded_, unit_.pitch(), 0, 0},
                                        {by_tap_, unit_.pitch(), 1, 0},
                                        out_.value + out_begin(first),
                                        pixels(images),
                                        out_shape_.channels,
                                        unit_.pitch()),
                         {products_.rounds(), products_.rounds()});
    }
  }

  void backward(const Pass& pass) override {
    for (int first = 0; first < in_shape_.batch; first += at_once_) {
      const int images = std::min(at_once_, in_shape_.batch - first);
      unfold(first, images);
      const dttrain_factor d_y = products_.round_once(out_.gradient + out_begin(first),
                                                      pixels(images),
                                                      out_shape_.channels,
                                                      out_shape_.channels);
      add_weight_gradient(first, images, d_y);
      if (in_.gradient != nullptr) make_input_gradient(first, images, d_y);
    }
    queue_.launch(WeightsByChannel{{product_of(out_shape_.channels, k_taps * unit_.channels)},
                                   unit_.channels,
                                   unit_.pitch(),
                                   d_by_tap_,
                                   pass.sums + range_.begin});
  }

  [[nodiscard]] Range completes() const override { return range_; }

  // The backward pass has them arranged already.
  [[nodiscard]] Range reads_again() const override { return {}; }

 private:
  [[nodiscard]] PixelStrides strides_of(const InputImages& input) const {
    const std::int64_t channels = in_shape_.channels;
    const std::int64_t width = in_shape_.width + 2 * input.padding;
    const std::int64_t area = width * (in_shape_.height + 2 * input.padding);
    if (input.is_input) return {channels * area, area, width, 1};
    return {channels * area, 1, channels * width, channels};
  }

  [[nodiscard]] std::size_t out_pixels(int images) const {
    return static_cast<std::size_t>(images) * product_of(out_shape_.height, out_shape_.width);
  }

  [[nodiscard]] int pixels(int images) const { return static_cast<int>(out_pixels(images)); }

  [[nodiscard]] std::size_t unfolded(int images) const {
    return out_pixels(images) * static_cast<std::size_t>(unit_.pitch());
  }

  [[nodiscard]] std::size_t weight_values() const {
    return product_of(out_shape_.channels, unit_.pitch());
  }

  [[nodiscard]] std::size_t out_begin(int image) const {
    return out_pixels(image) * static_cast<std::size_t>(out_shape_.channels);
  }

  template <class Value>
  void arrange(const float* weights) {
    queue_.launch(WeightsByTap<Value>{{weight_values()},
                                      unit_.channels,
                                      unit_.pitch(),
                                      weights + range_.begin,
                                      reinterpret_cast<Value*>(by_tap_)});
  }

  void unfold(int first, int images) {
    if (products_.rounds())
      unfold_as<Bfloat>(first, images);
    else
      unfold_as<float>(first, images);
  }

  template <class Value>
  void unfold_as(int first, int images) {
    const float* const from =
        in_.value + first * strides_.image + padding_ * (strides_.row + strides_.pixel);
    queue_.launch(Unfold<Value>{
        {unfolded(images)}, unit_, strides_, from, reinterpret_cast<Value*>(unfolded_)});
  }

  void add_weight_gradient(int first, int images, dttrain_factor d_y) {
    d_y.is_transposed = 1;
    dttrain_product product = packed_product(d_y,
                                             {unfolded_, unit_.pitch(), 0, 0},
                                             d_by_tap_,
                                             out_shape_.channels,
                                             unit_.pitch(),
                                             pixels(images));
    if (first > 0) product.plus = d_by_tap_;
    products_.multiply(product, {products_.rounds(), products_.rounds()});
  }

  // In place of what was unfolded.
  void make_input_gradient(int first, int images, const dttrain_factor& d_y) {
    products_.multiply(packed_product(d_y,
                                      {by_tap_, unit_.pitch(), 0, 0},
                                      unfolded_,
                                      pixels(images),
                                      unit_.pitch(),
                                      out_shape_.channels),
                       {products_.rounds(), products_.rounds()});
    queue_.launch(
        Fold{{static_cast<std::size_t>(images) * static_cast<std::size_t>(strides_.image)},
             unit_,
             unfolded_,
             in_.gradient + first * strides_.image});
  }

  Queue& queue_;
  Products& products_;
  Range range_;
  Images in_shape_;
  Images out_shape_;
  Convolved unit_;  // of one image
  PixelStrides strides_;
  int padding_;
  int at_once_;  // images
  Edge in_;
  Edge out_;
  float* by_tap_;    // weights of this step, from the forward pass on: Bfloat where products round
  float* d_by_tap_;  // shared by all convolutions, as is
  float* unfolded_;  // in the forward pass likewise Bfloat
};

}  // namespace

std::unique_ptr<Block> device_convolution(Queue& queue,
                                          Products& products,
                                          const Scratch& scratch,
                                          Range weights,
                                          const DeviceConvolutionShape& shape,
                                          Edge in,
                                          Edge out) {
  return std::make_unique<DeviceConvolution>(queue, products, scratch, weights, shape, in, out);
}

}  // namespace dts::train::accelerator
