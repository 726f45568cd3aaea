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
        part_(shape.part),
        at_once_(static_cast<int>(std::clamp<std::size_t>(
            shape.most / (out_pixels(1) * static_cast<std::size_t>(unit_.pitch())),
            1,
            static_cast<std::size_t>(in_shape_.batch)))),
        in_(in),
        out_(out),
        by_tap_(queue.allocate(weight_values())),
        d_by_tap_(scratch(0, weight_values())),
        d_of_parts_(parts() == 1 ? d_by_tap_ : scratch(4, of_parts(parts()))),
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
    int part = 0;
    for (int first = 0; first < in_shape_.batch; first += at_once_) {
      const int images = std::min(at_once_, in_shape_.batch - first);
      unfold(first, images);
      const dttrain_factor d_y = products_.round_once(out_.gradient + out_begin(first),
                                                      pixels(images),
                                                      out_shape_.channels,
                                                      out_shape_.channels);
      make_weight_gradients(part, images, d_y);
      part += parts_of(pixels(images));
      if (in_.gradient != nullptr) make_input_gradient(first, images, d_y);
    }
    if (parts() > 1)
      queue_.launch(ColumnSums<float>{
          {parts(), static_cast<int>(weight_values()), parts()}, d_of_parts_, d_by_tap_});
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

  [[nodiscard]] int parts_of(int of_pixels) const { return (of_pixels + part_ - 1) / part_; }

  // Of the whole batch, none of images that are not unfolded at once.
  [[nodiscard]] int parts() const {
    return in_shape_.batch / at_once_ * parts_of(pixels(at_once_)) +
           parts_of(pixels(in_shape_.batch % at_once_));
  }

  [[nodiscard]] std::size_t of_parts(int count) const {
    return static_cast<std::size_t>(count) * weight_values();
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

  // Of each part of the pixels, from that number on; the last one has what is left.
  void make_weight_gradients(int number, int images, const dttrain_factor& d_y) {
    const int whole = pixels(images) / part_;
    const int left = pixels(images) % part_;
    if (whole > 0) multiply_parts(number, 0, whole, part_, d_y);
    if (left > 0) multiply_parts(number + whole, whole, 1, left, d_y);
  }

  // `count` parts of so many pixels each, the first of which begins `before` parts after d_y does.
  void multiply_parts(int number, int before, int count, int of_pixels, dttrain_factor d_y) {
    const std::int64_t of_d_y = std::int64_t{part_} * d_y.pitch;
    const std::int64_t of_unfolded = std::int64_t{part_} * unit_.pitch();
    d_y.values = values_from(d_y.values, before * of_d_y);
    d_y.is_transposed = 1;
    d_y.stride = of_d_y;
    dttrain_product product = packed_product(
        d_y,
        {values_from(unfolded_, before * of_unfolded), unit_.pitch(), 0, of_unfolded},
        d_of_parts_ + of_parts(number),
        out_shape_.channels,
        unit_.pitch(),
        of_pixels);
    product.count = count;
    product.stride = static_cast<std::int64_t>(weight_values());
    products_.multiply(product, {products_.rounds(), products_.rounds()});
  }

  // Of an array as products read it.
  [[nodiscard]] const void* values_from(const void* array, std::int64_t value) const {
    const std::size_t bytes = products_.rounds() ? sizeof(Bfloat) : sizeof(float);
    return static_cast<const std::byte*>(array) + value * static_cast<std::int64_t>(bytes);
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
  int part_;     // pixels
  int at_once_;  // images
  Edge in_;
  Edge out_;
  float* by_tap_;    // weights of this step, from the forward pass on: Bfloat where products round
  float* d_by_tap_;  // shared by all convolutions, as is
  float* d_of_parts_;  // [parts()] of them, likewise
  float* unfolded_;    // in the forward pass likewise Bfloat
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
