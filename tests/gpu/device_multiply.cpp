// SPDX-License-Identifier: Apache-2.0
// The kernels for products that a device's library has no algorithm for.
#include "tests/gpu/device_cases.hpp"

#include <cmath>

namespace device_check {
namespace {

using namespace dts::train::accelerator;

struct Size {
  int rows = 0;
  int columns = 0;
  int inner = 0;
};

// All transpositions of a batch of two with gaps between rows and matrices, with another array and
// a bias or added to what is there.
template <class Factors, class Value>
void add_all(std::vector<Case>& all, const std::string& types, const Size& size, int gap) {
  using Stored = typename Factors::Stored;
  constexpr int k_count = 2;
  for (const bool left : {false, true})
    for (const bool right : {false, true})
      for (const bool adds : {false, true}) {
        const int left_rows = left ? size.inner : size.rows;
        const int right_rows = right ? size.columns : size.inner;
        const int left_pitch = (left ? size.rows : size.inner) + gap;
        const int right_pitch = (right ? size.inner : size.columns) + gap;
        const int pitch = size.columns + gap;
        const auto stride = [gap](int rows, int of_row) {
          return std::int64_t{rows} * of_row + gap;
        };
        const auto some = [&](std::int64_t one, auto zero, std::uint64_t seed) {
          return stored<decltype(zero)>(noise(static_cast<std::size_t>(k_count * one), seed));
        };
        Case made{"kernel for a " + types + " product " + std::to_string(size.rows) + "x" +
                      std::to_string(size.columns) + "x" + std::to_string(size.inner) +
                      (left ? " T" : " N") + (right ? "T" : "N") + (adds ? " adds" : " bias"),
                  (k_is_rounded<Value> ? 2e-2 : 1e-5) * std::sqrt(static_cast<double>(size.inner)),
                  {some(stride(left_rows, left_pitch), Stored(), 61),
                   some(stride(right_rows, right_pitch), Stored(), 62),
                   some(stride(size.rows, pitch), Value(), 63),
                   some(stride(size.rows, pitch), Value(), 64),
                   some(size.columns, Value(), 65)},
                  [=](Queue& queue, const Places& at) {
                    Multiply<Factors, Value> kernel;
                    kernel.product = {
                        {at[0], left_pitch, left ? 1 : 0, stride(left_rows, left_pitch)},
                        {at[1], right_pitch, right ? 1 : 0, stride(right_rows, right_pitch)},
                        at[2],
                        size.rows,
                        size.columns,
                        size.inner,
                        pitch,
                        stride(size.rows, pitch),
                        k_count,
                        k_is_rounded<Stored> ? DTTRAIN_BF16 : DTTRAIN_FP32,
                        k_is_rounded<Value> ? 1 : 0,
                        adds ? at[2] : at[3],
                        adds ? nullptr : at[4],
                        DTTRAIN_STRAIGHT,
                        nullptr,
                        nullptr,
                        0};
                    queue.launch(kernel);
                  }};
        if (k_is_rounded<Stored>) made.rounded = {0, 1};
        if (k_is_rounded<Value>) made.rounded.insert(made.rounded.end(), {2, 3, 4});
        all.push_back(std::move(made));
      }
}

}  // namespace

void add_kernel_products(std::vector<Case>& all) {
  for (const Size& size : {Size{17, 23, 9}, {72, 136, 96}, {1, 70, 33}})
    for (const int gap : {0, 3}) {
      add_all<PlainFactors, float>(all, "fp32", size, gap);
      add_all<TensorFactors, float>(all, "bf16", size, gap);
      add_all<TensorFactors, Bfloat>(all, "rounded bf16", size, gap);
    }
}

}  // namespace device_check
