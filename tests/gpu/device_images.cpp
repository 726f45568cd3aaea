// SPDX-License-Identifier: Apache-2.0
// The kernels of image networks. Arrays are of float, also where a kernel has other values in them.
#include "tests/gpu/device_cases.hpp"

namespace device_check {
namespace {

using namespace dts::train::accelerator;

std::size_t product_of(int a, int b = 1, int c = 1, int d = 1) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c) *
         static_cast<std::size_t>(d);
}

// What a convolution of `batch` images to k_out channels gives, the gradient of its weights in
// parts of k_part pixels, and arrangements of weights.
template <class Factors>
void add_convolution(std::vector<Case>& all,
                     const std::string& name,
                     double tolerance,
                     int batch,
                     const TapShape& shape) {
  using Stored = typename Factors::Stored;
  constexpr int k_out = 32;
  constexpr int k_part = 100;
  const std::int64_t channels = shape.channels;
  const PixelStrides strides{
      channels * shape.height * shape.width, 1, channels * shape.width, channels};
  const int pixels = batch * shape.out_pixels();
  const int parts = (pixels + k_part - 1) / k_part;
  const std::size_t by_tap = product_of(k_out, shape.pitch());
  const std::size_t weights = product_of(k_out, k_taps, shape.channels);
  all.push_back(
      {"convolve" + name,
       tolerance,
       {noise(product_of(batch, shape.height, shape.width, shape.channels), 30),
        noise(product_of(pixels, k_out), 31),
        noise(weights, 32),
        nothing(by_tap * sizeof(Stored) / sizeof(float)),
        nothing(product_of(pixels, k_out)),
        nothing(product_of(parts) * by_tap),
        nothing(weights)},
       [=](Queue& queue, const Places& at) {
         const TappedImages<float> images(shape, strides, at[0]);
         auto* const arranged = reinterpret_cast<Stored*>(at[3]);
         queue.launch(WeightsByTap<Stored>{{by_tap},
                                           shape.channels,
                                           shape.pitch(),
                                           k_taps * shape.channels,
                                           k_taps,
                                           shape.spread > 1,
                                           at[2],
                                           arranged});
         queue.launch(Convolve<Factors, float, float>{{}, images, pixels, k_out, arranged, at[4]});
         queue.launch(ConvolveWeights<Factors, float, float>{
             {}, images, pixels, k_part, k_out, at[1], at[5]});
         queue.launch(WeightsByChannel{{weights}, shape.channels, shape.pitch(), at[5], at[6]});
       }});
}

void add_convolutions(std::vector<Case>& all, int batch, const TapShape& shape) {
  const std::string name = " " + std::to_string(shape.channels) + "x" +
                           std::to_string(shape.height) + "x" + std::to_string(shape.width) + "/" +
                           std::to_string(shape.stride) + "/" + std::to_string(shape.spread);
  add_convolution<PlainFactors>(all, name, 1e-5, batch, shape);
  // Roundings of the same factors, and sums in another order.
  add_convolution<TensorFactors>(all, name + " bf16", 1e-5, batch, shape);
}

// Sums of a batch normalisation are doubles.
double* as_doubles(float* at) {
  return reinterpret_cast<double*>(at);
}

void add_batch_norm(std::vector<Case>& all, int batch, int side, int channels) {
  const std::string name = " " + std::to_string(batch) + "x" + std::to_string(side) + "x" +
                           std::to_string(side) + "x" + std::to_string(channels);
  const Channelwise rows{batch * side * side, channels};
  const Channelwise pooled{batch * side * side / 4, channels};
  const std::size_t values = rows.area();
  const auto each = static_cast<std::size_t>(channels);
  // Sums are compared where they have ended: the doubles are cleared.
  const Floats sums(4 * rows.parts() * each);
  const std::vector<Floats> arrays{noise(values, 33),
                                   noise(each, 34),
                                   noise(each, 35),
                                   nothing(each),
                                   nothing(each),
                                   noise(values, 36),
                                   nothing(values),
                                   noise(values, 37),
                                   sums,
                                   nothing(each),
                                   nothing(each),
                                   nothing(values)};
  const auto measure = [=](Queue& queue, const Places& at) {
    const ChannelEnds ends{channels, static_cast<int>(rows.parts()), as_doubles(at[8])};
    queue.launch(ChannelMoments{{rows, as_doubles(at[8])}, at[0]});
    queue.launch(ChannelStatistics{ends, rows.rows, at[3], at[4]});
    return ChannelNorm{at[1], at[2], at[3], at[4]};
  };
  const auto end = [=](Queue& queue, const Places& at, const Channelwise& all_rows) {
    queue.launch(ChannelGradients{
        {channels, static_cast<int>(all_rows.parts()), as_doubles(at[8])}, at[9], at[10]});
    queue.clear(at[8], sums.size());
  };
  all.push_back(
      {"batch_norm" + name, 1e-3, arrays, [=](Queue& queue, const Places& at) {
         const ChannelNorm norm = measure(queue, at);
         queue.launch(BatchNormRelu{rows, norm, at[0], at[5], at[6]});
         queue.launch(BatchNormReluGradients{{rows, as_doubles(at[8])}, norm, at[0], at[5], at[7]});
         end(queue, at, rows);
         queue.launch(BatchNormBackward{rows, norm, at[9], at[10], at[0], at[7], at[11]});
       }});
  std::vector<Floats> of_pool = arrays;
  of_pool[6] = of_pool[7] = noise(values / 4, 38);
  all.push_back({"batch_norm_pool" + name, 1e-3, of_pool, [=](Queue& queue, const Places& at) {
                   const PooledShape shape{side, side};
                   const ChannelNorm norm = measure(queue, at);
                   queue.launch(BatchNormReluPool{pooled, shape, norm, at[0], at[6]});
                   queue.launch(BatchNormPoolGradients{
                       {pooled, as_doubles(at[8])}, shape, norm, at[0], at[7]});
                   end(queue, at, pooled);
                   queue.launch(BatchNormPoolBackward{
                       pooled, shape, norm, at[9], at[10], at[0], at[7], at[11]});
                 }});
}

void add_smaller(std::vector<Case>& all, int batch, int side, int channels) {
  const std::string name = " " + std::to_string(side) + "x" + std::to_string(channels);
  const int half = (side + 1) / 2;
  const std::size_t values = product_of(batch, side, side, channels);
  const std::size_t narrowed = product_of(batch, half, half, 2 * channels);
  all.push_back(
      {"pixel_means" + name,
       1e-6,
       {noise(values, 39), nothing(product_of(batch, channels)), nothing(values)},
       [=](Queue& queue, const Places& at) {
         const int pixels = side * side;
         queue.launch(PixelMeans{batch, pixels, channels, at[0], at[1]});
         queue.launch(PixelMeansBackward{{batch * pixels, channels}, pixels, at[1], at[2]});
       }});
  all.push_back({"narrow" + name,
                 0,
                 {noise(values, 40), nothing(narrowed), noise(values, 41)},
                 [=](Queue& queue, const Places& at) {
                   const int rows = batch * half * half;
                   queue.launch(Narrow{{rows, 2 * channels}, {side, side}, at[0], at[1]});
                   queue.launch(NarrowBackward{{rows, channels}, {side, side}, at[1], at[2]});
                 }});
}

}  // namespace

void add_images(std::vector<Case>& all) {
  for (const int channels : {1, 3, 16, 64}) {
    add_convolutions(all, 3, {channels, 14, 28, 14, 28, 1, 1});
    add_convolutions(all, 3, {channels, 14, 28, 7, 14, 2, 1});
    add_convolutions(all, 3, {channels, 7, 14, 14, 28, 1, 2});
  }
  for (const auto& [batch, side, channels] :
       {std::tuple{1, 2, 16}, {5, 28, 16}, {16, 14, 32}, {3, 8, 64}}) {
    add_batch_norm(all, batch, side, channels);
    add_smaller(all, batch, side, channels);
  }
  add_smaller(all, 2, 7, 48);
  all.push_back({"relu", 0, {noise(1000, 42), noise(1000, 43)}, [](Queue& queue, const Places& at) {
                   queue.launch(Relu{{1000}, at[0]});
                   queue.launch(ReluBackward{{1000}, at[0], at[1]});
                 }});
}

}  // namespace device_check
