// SPDX-License-Identifier: Apache-2.0
// Convolutions on a device against double precision: with channels together, from a model's input
// with and without zeros around it, with strides, and with sums over pixels in parts.
#include "core/train/accelerator/images/device_convolution.hpp"
#include "core/train/accelerator/kernels/divisor.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/accelerator/images.hpp"

#include <map>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

// Indices of images in the layout of a device, or of samples.
struct Place {
  Images shape;
  InputImages input;

  [[nodiscard]] std::size_t operator()(int n, int c, int y, int x) const {
    if (!input.is_input) return place(shape, n, c, y, x);
    const int height = shape.height + 2 * input.padding;
    const int width = shape.width + 2 * input.padding;
    return static_cast<std::size_t>(
        ((n * shape.channels + c) * height + y + input.padding) * width + x + input.padding);
  }

  [[nodiscard]] std::size_t count() const {
    return (*this)(shape.batch - 1, shape.channels - 1, shape.height - 1, shape.width - 1) + 1 +
           static_cast<std::size_t>(input.padding * (shape.width + 2 * input.padding + 1));
  }
};

// Calls work(weight, place in the input, place in the output) for each product of a convolution.
template <class Work>
void each_product(const ConvolutionShape& shape, const Place& in, const Work& work) {
  const Images out = shape.out();
  for (int n = 0; n < out.batch; ++n)
    for (int o = 0; o < out.channels; ++o)
      for (int y = 0; y < out.height; ++y)
        for (int x = 0; x < out.width; ++x)
          for (int c = 0; c < shape.in.channels; ++c)
            for (int tap = 0; tap < 9; ++tap) {
              const int from_y = y * shape.stride + tap / 3 - 1;
              const int from_x = x * shape.stride + tap % 3 - 1;
              if (from_y < 0 || from_x < 0 || from_y >= shape.in.height || from_x >= shape.in.width)
                continue;
              work(static_cast<std::size_t>((o * shape.in.channels + c) * 9 + tap),
                   in(n, c, from_y, from_x),
                   place(out, n, o, y, x));
            }
}

struct Trial {
  Floats y;
  Floats d_x;
  Floats d_weights;
};

// A convolution on the host device, with poisoned results.
class Run {
 public:
  Run(const DeviceConvolutionShape& shape, const Place& in, bool has_gradient, Precision precision)
      : in_count_(in.count()),
        out_count_(shape.shape.out().count()),
        weights_(static_cast<std::size_t>(shape.shape.out_channels * shape.shape.in.channels * 9)),
        products_(*queue_, precision),
        in_{fill(rounded_noise(in_count_, 1)), fill(poisoned(in_count_))},
        out_{fill(poisoned(out_count_)), fill(stored(products_, rounded_noise(out_count_, 2)))},
        sums_(fill(poisoned(weights_ + 7))) {
    if (!has_gradient) in_.gradient = nullptr;
    if (!shape.input.is_input) {
      in_.value = fill(stored(products_, rounded_noise(in_count_, 1)));
      products_.keep_rounded(in_.value, in_count_);
    }
    if (has_gradient) products_.keep_rounded(in_.gradient, in_count_);
    const Scratch scratch = [this](std::size_t number, std::size_t count) {
      if (scratch_[number] == nullptr) scratch_[number] = fill(poisoned(count));
      return scratch_[number];
    };
    block_ = device_convolution(*queue_, products_, scratch, {7, 7 + weights_}, shape, in_, out_);
  }

  Trial make() {
    const float* const weights = fill(noise(7 + weights_, 3));
    const Pass pass{true, weights, nullptr, sums_};
    block_->forward(pass);
    block_->backward(pass);
    queue_->wait();
    Trial trial{
        images_at(products_, out_.value, out_count_), {}, {sums_ + 7, sums_ + 7 + weights_}};
    if (in_.gradient != nullptr) trial.d_x = images_at(products_, in_.gradient, in_count_);
    return trial;
  }

 private:
  float* fill(const Floats& values) {
    float* const at = queue_->allocate(values.size());
    queue_->to_device(at, values.data(), values.size());
    queue_->wait();
    return at;
  }

  std::unique_ptr<Queue> queue_ = new_queue();
  std::size_t in_count_;
  std::size_t out_count_;
  std::size_t weights_;
  Products products_;
  Edge in_;
  Edge out_;
  float* sums_;
  std::map<std::size_t, float*> scratch_;
  std::unique_ptr<Block> block_;
};

// Inputs that bf16 can represent, so that only weights and results are rounded.
void check(const DeviceConvolutionShape& shape, bool has_gradient, Precision precision) {
  const Place in{shape.shape.in, shape.input};
  const Floats x = rounded_noise(in.count(), 1);
  const Floats d_y = rounded_noise(shape.shape.out().count(), 2);
  const std::size_t weights =
      static_cast<std::size_t>(shape.shape.out_channels * shape.shape.in.channels * 9);
  const Floats all = noise(7 + weights, 3);
  Doubles y(d_y.size()), d_x(x.size()), d_weights(weights);
  each_product(shape.shape, in, [&](std::size_t w, std::size_t from, std::size_t to) {
    y[to] += static_cast<double>(all[7 + w]) * static_cast<double>(x[from]);
    d_x[from] += static_cast<double>(all[7 + w]) * static_cast<double>(d_y[to]);
    d_weights[w] += static_cast<double>(x[from]) * static_cast<double>(d_y[to]);
  });
  host_device::set_order(host_device::Order::descending);
  const Trial first = Run(shape, in, has_gradient, precision).make();
  host_device::set_order(host_device::Order::ascending);
  const Trial trial = Run(shape, in, has_gradient, precision).make();
  CHECK(trial.y == first.y);
  CHECK(trial.d_x == first.d_x);
  CHECK(trial.d_weights == first.d_weights);
  // For products below one: rounded sums, and for bf16 factors with an error of 2^-9.
  const double terms = 9 * std::max({shape.shape.in.channels, shape.shape.out_channels, 30});
  const double tolerance =
      precision == Precision::fp32 ? 0x1p-25 * terms : 0x1p-8 * 3 * std::sqrt(terms);
  CHECK(worst(trial.y, y) < tolerance);
  CHECK(worst(trial.d_weights, d_weights) < 0x1p-25 * terms);  // factors are not rounded
  if (has_gradient) CHECK(worst(trial.d_x, d_x) < tolerance);
}

}  // namespace

TEST_CASE("convolutions on a device are those of double precision, whole and part by part") {
  for (const int stride : {1, 2})
    for (const auto& size : {std::pair{5, 7}, {6, 4}, {1, 1}})
      for (const auto& channels : {std::pair{16, 32}, {80, 96}})
        for (const int part : {24, k_pixels_of_part})
          for (const Precision precision : {Precision::fp32, Precision::bf16}) {
            if (dts::tests::k_sanitized && part != 24) continue;
            CAPTURE(stride);
            CAPTURE(size.first);
            CAPTURE(channels.first);
            CAPTURE(part);
            check(
                {{{3, channels.first, size.first, size.second}, channels.second, stride}, {}, part},
                true,
                precision);
          }
}

TEST_CASE("a convolution of many pixels has larger parts instead of more than some hundred") {
  for (const Precision precision : {Precision::fp32, Precision::bf16})
    check({{{3, 16, 10, 10}, 32, 1}, {}, 1}, true, precision);
}

TEST_CASE("convolutions of a model's input on a device are those of double precision") {
  for (const int channels : {1, 3})
    for (const int padding : {0, 1})
      for (const int part : {100, k_pixels_of_part})
        for (const Precision precision : {Precision::fp32, Precision::bf16}) {
          CAPTURE(channels);
          CAPTURE(padding);
          CAPTURE(part);
          check({{{5, channels, 6, 9}, 16, 1}, {true, padding}, part}, false, precision);
        }
}

TEST_CASE("a divisor divides all that is not negative") {
  constexpr int k_largest = std::numeric_limits<int>::max();
  for (const int divisor : {1, 2, 3, 5, 7, 9, 28, 32, 64, 196, 641, 1024, 65537, k_largest}) {
    const Divisor by(divisor);
    for (const int near :
         {0, divisor, k_largest / 2 / divisor * divisor, k_largest / divisor * divisor})
      for (int dividend = std::max(near - 2, 0); dividend - near < 3; ++dividend) {
        CAPTURE(divisor);
        CAPTURE(dividend);
        CHECK(by.quotient(dividend) == dividend / divisor);
        if (dividend == k_largest) break;
      }
  }
}
