// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/images/device_convolution.hpp"

#include "core/train/accelerator/stored_edge.hpp"

#include <algorithm>

namespace dts::train::accelerator {
namespace {

std::size_t product_of(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

PixelStrides strides_of(const Images& shape, const InputImages& input) {
  const std::int64_t channels = shape.channels;
  const std::int64_t width = shape.width + 2 * input.padding;
  const std::int64_t area = width * (shape.height + 2 * input.padding);
  if (input.is_input) return {channels * area, area, width, 1};
  return {channels * area, 1, channels * width, channels};
}

// Factors is how products are computed, From the type of the input images.
template <class Factors, class From>
class DeviceConvolution : public Block {
 public:
  DeviceConvolution(Queue& queue,
                    const Products& products,
                    const Scratch& scratch,
                    Range weights,
                    const DeviceConvolutionShape& shape,
                    Edge in,
                    Edge out)
      : queue_(queue),
        range_(weights),
        d_in_(products.as<Stored>(in.gradient)),
        out_(products, out),
        in_channels_(shape.shape.in.channels),
        out_channels_(shape.shape.out_channels),
        images_(images_of(shape, products.as<From>(in.value))),
        pixels_(shape.shape.in.batch * images_.shape.out_pixels()),
        gradients_(gradients_of(shape.shape, out_.gradient)),
        in_pixels_(shape.shape.in.batch * gradients_.shape.out_pixels()),
        part_(std::max(shape.part, (pixels_ + k_most_parts - 1) / k_most_parts)),
        by_tap_(scratch(1, weight_values())),
        mirrored_(in.gradient == nullptr
                      ? nullptr
                      : queue.allocate(product_of(in_channels_, gradients_.shape.pitch()))),
        d_by_tap_(scratch(0, weight_values())),
        d_of_parts_(parts() == 1
                        ? d_by_tap_
                        : scratch(4, static_cast<std::size_t>(parts()) * weight_values())) {}

  void forward(const Pass& pass) override {
    const float* const weights = pass.weights + range_.begin;
    queue_.launch(WeightsByTap<Stored>{{weight_values()},
                                       in_channels_,
                                       images_.shape.pitch(),
                                       k_taps * in_channels_,
                                       k_taps,
                                       false,
                                       weights,
                                       stored(by_tap_)});
    queue_.launch(
        Convolve<Factors, From>{{}, images_, pixels_, out_channels_, stored(by_tap_), out_.value});
    if (d_in_ == nullptr || !pass.training) return;
    const int pitch = gradients_.shape.pitch();
    queue_.launch(WeightsByTap<Stored>{{product_of(in_channels_, pitch)},
                                       out_channels_,
                                       pitch,
                                       k_taps,
                                       k_taps * in_channels_,
                                       true,
                                       weights,
                                       stored(mirrored_)});
  }

  void backward(const Pass& pass) override {
    queue_.launch(ConvolveWeights<Factors, From>{
        {}, images_, pixels_, part_, out_channels_, out_.gradient, d_of_parts_});
    if (parts() > 1)
      queue_.launch(ColumnSums<float>{
          {parts(), static_cast<int>(weight_values()), parts()}, d_of_parts_, d_by_tap_});
    queue_.launch(WeightsByChannel{{product_of(out_channels_, k_taps * in_channels_)},
                                   in_channels_,
                                   images_.shape.pitch(),
                                   d_by_tap_,
                                   pass.sums + range_.begin});
    if (d_in_ != nullptr)
      queue_.launch(Convolve<Factors, Stored>{
          {}, gradients_, in_pixels_, in_channels_, stored(mirrored_), d_in_});
  }

  [[nodiscard]] Range completes() const override { return range_; }

  // The backward pass reads a copy that the forward pass made.
  [[nodiscard]] Range reads_in_backward() const override { return {}; }

 private:
  using Stored = typename Factors::Stored;

  static TappedImages<From> images_of(const DeviceConvolutionShape& all, const From* values) {
    const ConvolutionShape& shape = all.shape;
    const Images out = shape.out();
    const PixelStrides strides = strides_of(shape.in, all.input);
    return {{shape.in.channels,
             shape.in.height,
             shape.in.width,
             out.height,
             out.width,
             shape.stride,
             1},
            strides,
            values + all.input.padding * (strides.row + strides.pixel)};
  }

  static TappedImages<Stored> gradients_of(const ConvolutionShape& shape, const Stored* values) {
    const Images out = shape.out();
    return {{out.channels, out.height, out.width, shape.in.height, shape.in.width, 1, shape.stride},
            strides_of(out, {}),
            values};
  }

  static Stored* stored(float* values) { return reinterpret_cast<Stored*>(values); }

  [[nodiscard]] std::size_t weight_values() const {
    return product_of(out_channels_, images_.shape.pitch());
  }

  [[nodiscard]] int parts() const { return (pixels_ + part_ - 1) / part_; }

  Queue& queue_;
  Range range_;
  Stored* d_in_;  // nullptr: no gradient of the input
  StoredEdge<Stored> out_;
  int in_channels_;
  int out_channels_;
  TappedImages<From> images_;
  int pixels_;  // of the output, of all images
  TappedImages<Stored> gradients_;
  int in_pixels_;
  int part_;           // pixels
  float* by_tap_;      // weights of a forward pass as Stored; shared by all convolutions
  float* mirrored_;    // weights for the next backward pass; its own
  float* d_by_tap_;    // shared by all convolutions
  float* d_of_parts_;  // [parts()] such gradients; shared, too
};

template <class Factors, class From = typename Factors::Stored>
std::unique_ptr<Block> convolution_of(Queue& queue,
                                      const Products& products,
                                      const Scratch& scratch,
                                      Range weights,
                                      const DeviceConvolutionShape& shape,
                                      Edge in,
                                      Edge out) {
  return std::make_unique<DeviceConvolution<Factors, From>>(
      queue, products, scratch, weights, shape, in, out);
}

}  // namespace

std::unique_ptr<Block> device_convolution(Queue& queue,
                                          Products& products,
                                          const Scratch& scratch,
                                          Range weights,
                                          const DeviceConvolutionShape& shape,
                                          Edge in,
                                          Edge out) {
  products.keep_rounded(out, shape.shape.out().count());
  if (in.gradient != nullptr) products.keep_rounded(in.gradient, shape.shape.in.count());
  const auto make = !products.rounds()     ? convolution_of<PlainFactors>
                    : shape.input.is_input ? convolution_of<TensorFactors, float>
                                           : convolution_of<TensorFactors>;
  return make(queue, products, scratch, weights, shape, in, out);
}

}  // namespace dts::train::accelerator
