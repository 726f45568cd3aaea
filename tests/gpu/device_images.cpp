// SPDX-License-Identifier: Apache-2.0
// The kernels of image networks. All arrays are floats here, even if a kernel stores other types.
#include "tests/gpu/device_cases.hpp"

namespace device_check {
namespace {

using namespace dts::train::accelerator;

std::size_t product_of(int a, int b = 1, int c = 1, int d = 1) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c) *
         static_cast<std::size_t>(d);
}

template <class Value>
Value* as(float* at) {
  return reinterpret_cast<Value*>(at);
}

// The arrays that hold Bfloat: all of them or none.
template <class Value>
std::vector<std::size_t> rounded(const std::vector<std::size_t>& arrays) {
  return k_is_rounded<Value> ? arrays : std::vector<std::size_t>{};
}

// A convolution of `batch` images of From to k_out channels, the gradient of its weights in parts
// of k_part pixels, and the layouts of weights.
template <class Factors, class From>
void add_convolution(std::vector<Case>& all, const char* kind, int batch, const TapShape& shape) {
  using Stored = typename Factors::Stored;
  constexpr int k_out = 32;
  constexpr int k_part = 100;
  const std::string name = "convolution " + std::to_string(shape.channels) + "x" +
                           std::to_string(shape.height) + "x" + std::to_string(shape.width) + "/" +
                           std::to_string(shape.stride) + "/" + std::to_string(shape.spread) + kind;
  const std::int64_t channels = shape.channels;
  const PixelStrides strides{
      channels * shape.height * shape.width, 1, channels * shape.width, channels};
  const int pixels = batch * shape.out_pixels();
  const int parts = (pixels + k_part - 1) / k_part;
  const std::size_t by_tap = product_of(k_out, shape.pitch());
  const std::size_t weights = product_of(k_out, k_taps, shape.channels);
  std::vector<std::size_t> all_rounded = rounded<Stored>({1, 3, 4});
  if (k_is_rounded<From>) all_rounded.push_back(0);
  all.push_back(
      {name,
       k_is_rounded<Stored> ? 1e-2 : 1e-5,
       {stored<From>(noise(product_of(batch, shape.height, shape.width, shape.channels), 30)),
        stored<Stored>(noise(product_of(pixels, k_out), 31)),
        noise(weights, 32),
        stored<Stored>(nothing(by_tap)),
        stored<Stored>(nothing(product_of(pixels, k_out))),
        nothing(product_of(parts) * by_tap),
        nothing(weights)},
       [=](Queue& queue, const Places& at) {
         const TappedImages<From> images(shape, strides, as<From>(at[0]));
         queue.launch(WeightsByTap<Stored>{{by_tap},
                                           shape.channels,
                                           shape.pitch(),
                                           k_taps * shape.channels,
                                           k_taps,
                                           shape.spread > 1,
                                           at[2],
                                           as<Stored>(at[3])});
         queue.launch(Convolve<Factors, From>{
             {}, images, pixels, k_out, as<Stored>(at[3]), as<Stored>(at[4])});
         queue.launch(ConvolveWeights<Factors, From>{
             {}, images, pixels, k_part, k_out, as<Stored>(at[1]), at[5]});
         queue.launch(WeightsByChannel{{weights}, shape.channels, shape.pitch(), at[5], at[6]});
       },
       0,
       all_rounded});
}

void add_convolutions(std::vector<Case>& all, int batch, const TapShape& shape) {
  add_convolution<PlainFactors, float>(all, "", batch, shape);
  add_convolution<TensorFactors, float>(all, " bf16 of floats", batch, shape);
  add_convolution<TensorFactors, Bfloat>(all, " bf16", batch, shape);
}

// The sums of a batch normalisation are doubles.
double* as_doubles(float* at) {
  return reinterpret_cast<double*>(at);
}

template <class Value>
void add_batch_norm(std::vector<Case>& all, const char* kind, int batch, int side, int channels) {
  const std::string name = " " + std::to_string(batch) + "x" + std::to_string(side) + "x" +
                           std::to_string(side) + "x" + std::to_string(channels) + kind;
  const Channelwise rows{batch * side * side, channels};
  const Channelwise pooled{batch * side * side / 4, channels};
  const std::size_t values = rows.area();
  const auto each = static_cast<std::size_t>(channels);
  // The doubles are cleared; their totals, which are floats, are compared.
  const Floats sums(4 * rows.parts() * each);
  const std::vector<Floats> arrays{stored<Value>(noise(values, 33)),
                                   noise(each, 34),
                                   noise(each, 35),
                                   nothing(each),
                                   nothing(each),
                                   stored<Value>(noise(values, 36)),
                                   stored<Value>(nothing(values)),
                                   stored<Value>(noise(values, 37)),
                                   sums,
                                   nothing(each),
                                   nothing(each),
                                   stored<Value>(nothing(values))};
  const std::vector<std::size_t> all_rounded = rounded<Value>({0, 5, 6, 7, 11});
  const double tolerance = k_is_rounded<Value> ? 1e-2 : 1e-3;
  const auto measure = [=](Queue& queue, const Places& at) {
    const ChannelTotals ends{channels, static_cast<int>(rows.parts()), as_doubles(at[8])};
    queue.launch(ChannelMoments<Value>{{rows, as_doubles(at[8])}, as<Value>(at[0])});
    queue.launch(ChannelStatistics{ends, rows.rows, at[3], at[4]});
    return ChannelNorm{at[1], at[2], at[3], at[4]};
  };
  const auto end = [=](Queue& queue, const Places& at, const Channelwise& all_rows) {
    queue.launch(ChannelGradients{
        {channels, static_cast<int>(all_rows.parts()), as_doubles(at[8])}, at[9], at[10]});
    queue.clear(at[8], sums.size());
  };
  all.push_back(
      {"batch_norm" + name,
       tolerance,
       arrays,
       [=](Queue& queue, const Places& at) {
         const auto of = [&](std::size_t i) { return as<Value>(at[i]); };
         const ChannelNorm norm = measure(queue, at);
         queue.launch(BatchNormRelu<Value>{rows, norm, of(0), of(5), of(6)});
         queue.launch(
             BatchNormReluGradients<Value>{{rows, as_doubles(at[8])}, norm, of(0), of(5), of(7)});
         end(queue, at, rows);
         queue.launch(BatchNormBackward<Value>{rows, norm, at[9], at[10], of(0), of(7), of(11)});
       },
       0,
       all_rounded});
  std::vector<Floats> of_pool = arrays;
  of_pool[6] = of_pool[7] = stored<Value>(noise(values / 4, 38));
  all.push_back({"batch_norm_pool" + name,
                 tolerance,
                 of_pool,
                 [=](Queue& queue, const Places& at) {
                   const auto of = [&](std::size_t i) { return as<Value>(at[i]); };
                   const PooledShape shape{side, side};
                   const ChannelNorm norm = measure(queue, at);
                   queue.launch(BatchNormReluPool<Value>{pooled, shape, norm, of(0), of(6)});
                   queue.launch(BatchNormPoolGradients<Value>{
                       {pooled, as_doubles(at[8])}, shape, norm, of(0), of(7)});
                   end(queue, at, pooled);
                   queue.launch(BatchNormPoolBackward<Value>{
                       pooled, shape, norm, at[9], at[10], of(0), of(7), of(11)});
                 },
                 0,
                 all_rounded});
}

template <class Value>
void add_smaller(std::vector<Case>& all, const char* kind, int batch, int side, int channels) {
  const std::string name = " " + std::to_string(side) + "x" + std::to_string(channels) + kind;
  const int half = (side + 1) / 2;
  const std::size_t values = product_of(batch, side, side, channels);
  const std::size_t narrowed = product_of(batch, half, half, 2 * channels);
  all.push_back(
      {"pixel_means" + name,
       k_is_rounded<Value> ? 1e-2 : 1e-6,
       {stored<Value>(noise(values, 39)),
        nothing(product_of(batch, channels)),
        stored<Value>(nothing(values))},
       [=](Queue& queue, const Places& at) {
         const int pixels = side * side;
         queue.launch(PixelMeans<Value>{batch, pixels, channels, as<Value>(at[0]), at[1]});
         queue.launch(PixelMeansBackward<Value>{
             {batch * pixels, channels}, pixels, at[1], as<Value>(at[2])});
       },
       0,
       rounded<Value>({0, 2})});
  all.push_back(
      {"narrow" + name,
       0,
       {stored<Value>(noise(values, 40)),
        stored<Value>(nothing(narrowed)),
        stored<Value>(noise(values, 41))},
       [=](Queue& queue, const Places& at) {
         const auto of = [&](std::size_t i) { return as<Value>(at[i]); };
         const int rows = batch * half * half;
         queue.launch(Narrow<Value>{{rows, 2 * channels}, {side, side}, of(0), of(1)});
         queue.launch(NarrowBackward<Value>{{rows, channels}, {side, side}, of(1), of(2)});
       },
       0,
       rounded<Value>({0, 1, 2})});
}

}  // namespace

void add_images(std::vector<Case>& all) {
  for (const int channels : {1, 3, 16, 64}) {
    add_convolutions(all, 3, {channels, 6, 10, 6, 10, 1, 1});
    add_convolutions(all, 3, {channels, 6, 10, 3, 5, 2, 1});
    add_convolutions(all, 3, {channels, 3, 5, 6, 10, 1, 2});
  }
  for (const auto& [batch, side, channels] :
       {std::tuple{1, 2, 16}, {5, 28, 16}, {16, 14, 32}, {3, 8, 64}}) {
    add_batch_norm<float>(all, "", batch, side, channels);
    add_batch_norm<Bfloat>(all, " bf16", batch, side, channels);
    add_smaller<float>(all, "", batch, side, channels);
    add_smaller<Bfloat>(all, " bf16", batch, side, channels);
  }
  add_smaller<float>(all, "", 2, 7, 48);
  all.push_back({"relu", 0, {noise(1000, 42), noise(1000, 43)}, [](Queue& queue, const Places& at) {
                   queue.launch(Relu{{1000}, at[0]});
                   queue.launch(ReluBackward{{1000}, at[0], at[1]});
                 }});
}

}  // namespace device_check
