// SPDX-License-Identifier: Apache-2.0
// Gradients of weights on a device, as one product and as several side by side, against double
// precision.
#include "core/train/accelerator/tokens/weight_gradient.hpp"

#include "tests/unit/accelerator/device.hpp"

using namespace dts::train;
using namespace dts::train::accelerator;

TEST_CASE("sums over many rows for small matrices are several products, of shapes alone") {
  // GPT-2's matrices: the output of attention, queries with keys and values, and the wide layers.
  CHECK(WeightGradient::runs_of(65536, 768, 768) == 8);
  CHECK(WeightGradient::runs_of(65536, 768, 2304) == 2);
  CHECK(WeightGradient::runs_of(65536, 3072, 768) == 2);
  CHECK(WeightGradient::runs_of(65536, 768, 50240) == 1);
  CHECK(WeightGradient::runs_of(65536, 768, 17) == 64);
  CHECK(WeightGradient::runs_of(65536, 64, 64) == 64);
  // Few rows, and a number of rows that cannot be halved.
  CHECK(WeightGradient::runs_of(2047, 64, 64) == 1);
  CHECK(WeightGradient::runs_of(2048, 64, 64) == 2);
  CHECK(WeightGradient::runs_of(6150, 64, 64) == 2);
  CHECK(WeightGradient::floats(2047, 64, 64) == 0);
  CHECK(WeightGradient::floats(2048, 24, 40) == std::size_t{2} * 24 * 40);
}

TEST_CASE("the gradient of weights is that of double precision, of one product and of several") {
  constexpr int k_in = 24, k_out = 40, k_room = 48;  // of a row of the right factor
  for (const int rows : {5, 2047, 4096, 6150})
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
      CAPTURE(rows);
      const auto queue = new_queue();
      Products products(*queue, precision);
      const auto put_there = [&](const Floats& values) {
        float* const at = queue->allocate(values.size());
        queue->to_device(at, values.data(), values.size());
        return at;
      };
      const auto count = static_cast<std::size_t>(rows);
      // Values that bf16 can represent, so that only sums are rounded.
      const Floats left = widened(rounded(noise(count * k_in, 1)));
      const Floats right = widened(rounded(noise(count * k_room, 2)));
      float* const to = put_there(poisoned(std::size_t{k_in} * k_out));
      float* const scratch = put_there(poisoned(1 + WeightGradient::floats(rows, k_in, k_out)));
      WeightGradient(*queue, products, rows, k_in, k_out, scratch)
          .multiply({put_there(left), k_in, 0, 0}, {put_there(right), k_room, 0, 0}, {}, to);
      queue->wait();
      Doubles expected(std::size_t{k_in} * k_out);
      for (std::size_t row = 0; row < count; ++row)
        for (std::size_t i = 0; i < k_in; ++i)
          for (std::size_t j = 0; j < k_out; ++j)
            expected[i * k_out + j] += static_cast<double>(left[row * k_in + i]) *
                                       static_cast<double>(right[row * k_room + j]);
      CHECK(worst({to, to + expected.size()}, expected, std::sqrt(rows)) < 1e-5);
    }
}
