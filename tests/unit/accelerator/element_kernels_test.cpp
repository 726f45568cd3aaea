// SPDX-License-Identifier: Apache-2.0
// Kernels of single elements, embeddings and whole arrays against double precision.
#include "tests/unit/accelerator/device.hpp"

#include <numeric>
#include <set>

using namespace dts::train::accelerator;

TEST_CASE("GELU and its gradient on a device are those of double precision") {
  for (const std::size_t count : {1U, 255U, 256U, 257U, 3000U}) {
    const Floats x = noise(count, 1, 6);
    const Floats d_y = noise(count, 2);
    Floats y = poisoned(count);
    Floats d_x = d_y;  // in place
    run_both([&] { return GeluForward<float>{{count}, x.data(), y.data()}; }, {&y});
    run_both(
        [&] {
          return GeluBackward<float>{{count}, x.data(), d_x.data(), d_x.data()};
        },
        {&d_x});
    Doubles expected(count), d_expected(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double v = x[i];
      const double k = std::sqrt(2 / 3.14159265358979323846);
      const double t = std::tanh(k * (v + 0.044715 * v * v * v));
      expected[i] = 0.5 * v * (1 + t);
      d_expected[i] =
          d_y[i] * (0.5 * (1 + t) + 0.5 * v * (1 - t * t) * k * (1 + 3 * 0.044715 * v * v));
    }
    CHECK(worst(y, expected) < 1e-6);
    CHECK(worst(d_x, d_expected) < 2e-6);
  }
}

TEST_CASE("a GELU's gradient with the sums of its columns has the bits of both kernels") {
  for (const auto& [rows, width] : {std::pair{1, 1}, {5, 31}, {513, 4}, {520, 132}, {1700, 33}}) {
    const Columnwise shape{rows, width, bias_rows_each(rows, width)};
    const std::size_t count = row_begin(static_cast<std::size_t>(rows), width);
    const Floats x = noise(count, 1, 6), d_y = noise(count, 2);
    Floats d = d_y, expected = poisoned(shape.sums_of_runs()), sums = expected;
    run_both([&] { return GeluBackward<float>{{count}, x.data(), d_y.data(), d.data()}; }, {&d});
    run_both([&] { return ColumnSums<float>{shape, d.data(), expected.data()}; }, {&expected});
    Floats d_x = d_y;  // in place
    run_both(
        [&] {
          return GeluBackwardSums<float>{shape, x.data(), d_x.data(), d_x.data(), sums.data()};
        },
        {&d_x, &sums});
    CHECK(d_x == d);
    CHECK(sums == expected);
    Doubles exact(sums.size());
    for (std::size_t i = 0; i < count; ++i)
      exact[i / row_begin(static_cast<std::size_t>(shape.rows_each), width) *
                static_cast<std::size_t>(width) +
            i % static_cast<std::size_t>(width)] += static_cast<double>(d[i]);
    CHECK(worst(sums, exact) < 1e-5);
    const Bfloats x_rounded = rounded(x), d_y_rounded = rounded(d_y);
    Bfloats d_rounded = rounded_poison(count), d_x_rounded = d_rounded;
    run_both(
        [&] {
          return GeluBackward<Bfloat>{
              {count}, x_rounded.data(), d_y_rounded.data(), d_rounded.data()};
        },
        {&d_rounded});
    run_both(
        [&] {
          return ColumnSums<Bfloat>{shape, d_rounded.data(), expected.data()};
        },
        {&expected});
    const auto both = [&] {
      return GeluBackwardSums<Bfloat>{
          shape, x_rounded.data(), d_y_rounded.data(), d_x_rounded.data(), sums.data()};
    };
    run_both(both, {&d_x_rounded});
    run_both(both, {&sums});
    CHECK(d_x_rounded == d_rounded);
    CHECK(sums == expected);
  }
}

TEST_CASE("sums are those of float") {
  const Floats left = noise(7801, 3);
  const Floats right = noise(left.size(), 4);
  Floats sums = left;
  run_both([&] { return Add<float>{{sums.size()}, sums.data(), right.data()}; }, {&sums});
  for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] == left[i] + right[i]);
}

TEST_CASE("runs are added up in the order of the columns of a matrix") {
  for (const int runs : {1, 2, 4, 8, 11, 32})
    for (const int width : {1, 64, 1030}) {
      CAPTURE(runs);
      CAPTURE(width);
      const auto count = static_cast<std::size_t>(width);
      const Floats x = noise(static_cast<std::size_t>(runs) * count, 5);
      Floats sums = poisoned(count), expected = sums;
      run_both([&] { return AddRuns{{count}, runs, x.data(), sums.data()}; }, {&sums});
      run_both(
          [&] {
            return ColumnSums<float>{{runs, width, runs}, x.data(), expected.data()};
          },
          {&expected});
      CHECK(sums == expected);
    }
}

TEST_CASE("embeddings are looked up, and the gradients of their rows are added up in order") {
  constexpr int k_vocabulary = 300;
  constexpr int k_batch = 3;
  for (const int width : {1, 16, 257})
    for (const int context : {1, 5, 120}) {
      CAPTURE(width);
      CAPTURE(context);
      const auto columns = static_cast<std::size_t>(width);
      const int rows = k_batch * context;
      const std::size_t count = static_cast<std::size_t>(rows) * columns;
      std::vector<std::uint32_t> ids(static_cast<std::size_t>(rows));
      for (std::size_t i = 0; i < ids.size(); ++i)
        // Half of the ids are one of three tokens, which therefore have long runs.
        ids[i] = static_cast<std::uint32_t>(dts::mix(i) % (i % 2 == 0 ? 3 : k_vocabulary / 3));
      ids.back() = k_vocabulary - 1;
      const Floats table = noise(k_vocabulary * columns, 6);
      const Floats positions = noise(static_cast<std::size_t>(context) * columns, 7);
      const Floats d = noise(count, 8);
      for (const bool has_positions : {false, true}) {
        Floats out = poisoned(count);
        run_both(
            [&] {
              return EmbeddingForward{{count},
                                      width,
                                      context,
                                      ids.data(),
                                      table.data(),
                                      has_positions ? positions.data() : nullptr,
                                      out.data()};
            },
            {&out});
        for (std::size_t i = 0; i < count; ++i)
          CHECK(out[i] == table[ids[i / columns] * columns + i % columns] +
                              (has_positions ? positions[i % positions.size()] : 0));
      }
      std::vector<std::uint32_t> order(ids.size());
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return ids[a] < ids[b]; });
      Floats gradient = table;
      run_both(
          [&] {
            return TokenGradients{
                k_vocabulary, width, rows, ids.data(), order.data(), d.data(), gradient.data()};
          },
          {&gradient});
      Floats all = table;
      for (std::size_t i = 0; i < count; ++i) all[ids[i / columns] * columns + i % columns] += d[i];
      CHECK(gradient == all);  // the same additions in the same order
      Floats of_positions = poisoned(positions.size());
      run_both(
          [&] {
            return PositionGradients{{positions.size()}, k_batch, d.data(), of_positions.data()};
          },
          {&of_positions});
      Floats expected(positions.size());
      for (std::size_t i = 0; i < count; ++i) expected[i % positions.size()] += d[i];
      CHECK(of_positions == expected);
    }
}

TEST_CASE("squares and totals of whole arrays are those of double precision") {
  for (const std::size_t count : {1U, 16U, 65536U, 65537U, 200000U}) {
    const Floats values = noise(count, 9, 2);
    Doubles partials(Squares{values.data(), count}.blocks(), std::nan(""));
    Floats sum = poisoned(1);
    const auto queue = new_queue();
    queue->launch(Squares{values.data(), count, partials.data()});
    queue->launch(Total<double>{partials.data(), static_cast<int>(partials.size()), sum.data()});
    queue->wait();
    double squares = 0, all = 0;
    for (const float one : values) squares += static_cast<double>(one) * static_cast<double>(one);
    for (const float one : values) all += static_cast<double>(one);
    CHECK(worst(sum, {squares}) < 1e-7);
    Floats total = poisoned(1);
    run_both(
        [&] {
          return Total<float>{values.data(), static_cast<int>(count), total.data()};
        },
        {&total});
    CHECK(worst(total, {all}) < 1e-6);
  }
}

TEST_CASE("every kernel has a number of its own") {
  std::set<std::uint32_t> numbers{Kernels::number_of<Add<float>>(),
                                  Kernels::number_of<CrossEntropy<float>>(),
                                  Kernels::number_of<Total<float>>(),
                                  Kernels::number_of<Total<double>>()};
  CHECK(numbers.size() == 4);
  CHECK_FALSE(Kernels::visit(1000, nullptr, [](const auto&) {}));
}
