// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/device_cases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace device_check {
namespace {

using namespace dts::train::accelerator;

// All transpositions, in a batch with gaps between rows, with nothing added, the output itself, or
// another array and a bias.
void add_exact(std::vector<Case>& all, int rows, int columns, int inner, int batch) {
  for (int way = 0; way < 12; ++way) {
    const bool left = (way & 1) != 0, right = (way & 2) != 0;
    const bool adds = way / 4 == 1, is_fused = way / 4 == 2;
    const int gap = 8 * batch - 8;
    const int left_pitch = (left ? rows : inner) + gap;
    const int right_pitch = (right ? inner : columns) + gap;
    const int pitch = columns + gap;
    const std::int64_t left_stride = std::int64_t{left_pitch} * (left ? inner : rows);
    const std::int64_t right_stride = std::int64_t{right_pitch} * (right ? columns : inner);
    const std::int64_t stride = std::int64_t{pitch} * rows;
    const auto floats = [&](std::int64_t one) { return static_cast<std::size_t>(one * batch); };
    all.push_back({"product " + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
                       std::to_string(inner) + (left ? " T" : " N") + (right ? "T" : "N") +
                       (adds ? " adds" : "") + (is_fused ? " bias" : ""),
                   1e-5 * std::sqrt(static_cast<double>(inner)),
                   {noise(floats(left_stride), 15),
                    noise(floats(right_stride), 16),
                    noise(floats(stride), 17),
                    noise(floats(stride), 28),
                    noise(static_cast<std::size_t>(columns), 29)},
                   [=](Queue& queue, const Places& at) {
                     queue.multiply({{at[0], left_pitch, left ? 1 : 0, left_stride},
                                     {at[1], right_pitch, right ? 1 : 0, right_stride},
                                     at[2],
                                     rows,
                                     columns,
                                     inner,
                                     pitch,
                                     stride,
                                     batch,
                                     DTTRAIN_FP32,
                                     0,
                                     adds       ? at[2]
                                     : is_fused ? at[3]
                                                : nullptr,
                                     is_fused ? at[4] : nullptr,
                                     DTTRAIN_STRAIGHT,
                                     nullptr,
                                     nullptr,
                                     0});
                   }});
  }
}

// Factors of bf16 are rounded by our kernel, so that both sides read the same values; TF32 factors
// may be reduced by the product itself. A batch is one matrix after the other.
void add_rounded_products(std::vector<Case>& all, int rows, int columns, int inner, int batch = 1) {
  const auto stride = [](int a, int b) { return std::int64_t{a} * b; };
  const auto floats = [=](int a, int b) { return static_cast<std::size_t>(stride(a, b) * batch); };
  const std::string shape = std::to_string(rows) + "x" + std::to_string(columns) + "x" +
                            std::to_string(inner) + (batch > 1 ? " side by side" : "");
  // The size of a rounded factor, so that the next one is aligned for any vector.
  const std::size_t of_one =
      (std::max(floats(rows, inner), floats(inner, columns)) + 127) / 128 * 64;
  for (const bool left : {false, true})
    for (const bool right : {false, true})
      for (const int factors : {DTTRAIN_BF16, DTTRAIN_TF32}) {
        const double each = factors == DTTRAIN_BF16 ? 1e-5 : 2e-3;
        all.push_back(
            {std::string(factors == DTTRAIN_BF16 ? "bf16" : "tf32") + " product " + shape +
                 (left ? " T" : " N") + (right ? "T" : "N"),
             each * std::sqrt(static_cast<double>(inner)),
             {noise(floats(rows, inner), 26),
              noise(floats(inner, columns), 27),
              nothing(floats(rows, columns))},
             [=](Queue& queue, const Places& at) {
               const void* of_left = at[0];
               const void* of_right = at[1];
               if (factors == DTTRAIN_BF16) {
                 const auto round = [&](const float* from, std::size_t count, float* place) {
                   auto* const to = reinterpret_cast<Bfloat*>(place);
                   queue.launch(Round{{count}, from, to});
                   return to;
                 };
                 of_left = round(at[0], floats(rows, inner), at[3]);
                 of_right = round(at[1], floats(inner, columns), at[3] + of_one);
               }
               queue.multiply(
                   {{of_left, left ? rows : inner, left ? 1 : 0, stride(rows, inner)},
                    {of_right, right ? inner : columns, right ? 1 : 0, stride(inner, columns)},
                    at[2],
                    rows,
                    columns,
                    inner,
                    columns,
                    stride(rows, columns),
                    batch,
                    factors,
                    0,
                    nullptr,
                    nullptr,
                    DTTRAIN_STRAIGHT,
                    nullptr,
                    nullptr,
                    0});
             },
             2 * of_one});
      }
}

// Products with rounded results and addends. Each result is the left factor of another product,
// which converts it to fp32.
void add_rounded_results(std::vector<Case>& all, int rows, int columns, int inner) {
  const auto floats = [](int a, int b) {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
  };
  const std::size_t most = floats(std::max({rows, columns, inner}), std::max(columns, inner));
  const std::size_t room = (most + 127) / 128 * 64;  // for one rounded array
  for (const bool is_in_place : {false, true})
    all.push_back({"bf16 result " + std::to_string(rows) + "x" + std::to_string(columns) + "x" +
                       std::to_string(inner) + (is_in_place ? " adds" : " bias"),
                   2e-2,
                   {noise(floats(rows, inner), 30),
                    noise(floats(inner, columns), 31, 0.1F),
                    noise(floats(rows, columns), 32),
                    noise(static_cast<std::size_t>(columns), 33),
                    noise(floats(columns, columns), 34, 0.1F),
                    nothing(floats(rows, columns))},
                   [=](Queue& queue, const Places& at) {
                     const auto round = [&](std::size_t which, std::size_t count) {
                       auto* const to = reinterpret_cast<Bfloat*>(at[6] + which * room);
                       const auto columns_in_all = static_cast<int>(count);
                       queue.launch(RoundMatrices{
                           {count}, 1, columns_in_all, columns_in_all, 0, at[which], to});
                       return to;
                     };
                     const Bfloat* const left = round(0, floats(rows, inner));
                     const Bfloat* const right = round(1, floats(inner, columns));
                     Bfloat* const plus = round(2, floats(rows, columns));
                     const Bfloat* const bias = round(3, static_cast<std::size_t>(columns));
                     const Bfloat* const last = round(4, floats(columns, columns));
                     auto* const apart = reinterpret_cast<Bfloat*>(at[6] + 5 * room);
                     Bfloat* const out = is_in_place ? plus : apart;
                     queue.multiply({{left, inner, 0, 0},
                                     {right, columns, 0, 0},
                                     out,
                                     rows,
                                     columns,
                                     inner,
                                     columns,
                                     0,
                                     1,
                                     DTTRAIN_BF16,
                                     1,
                                     plus,
                                     is_in_place ? nullptr : bias,
                                     DTTRAIN_STRAIGHT,
                                     nullptr,
                                     nullptr,
                                     0});
                     queue.multiply({{out, columns, 0, 0},
                                     {last, columns, 0, 0},
                                     at[5],
                                     rows,
                                     columns,
                                     columns,
                                     columns,
                                     0,
                                     1,
                                     DTTRAIN_BF16,
                                     0,
                                     nullptr,
                                     nullptr,
                                     DTTRAIN_STRAIGHT,
                                     nullptr,
                                     nullptr,
                                     0});
                   },
                   6 * room});
}

// A product with a GELU, and a product that is multiplied by the gradient of a GELU.
template <class Value>
void add_curves(std::vector<Case>& all, int rows, int columns, int inner) {
  const auto area = [](int a, int b) { return row_begin(static_cast<std::size_t>(a), b); };
  const auto some = [](std::size_t count, std::uint64_t seed, float size) {
    return stored<Value>(noise(count, seed, size));
  };
  const Floats none = nothing(some(area(rows, columns), 0, 1).size());
  const int factors = k_is_rounded<Value> ? DTTRAIN_BF16 : DTTRAIN_FP32;
  const int rounds = k_is_rounded<Value> ? 1 : 0;
  Case made{
      std::string(k_is_rounded<Value> ? "bf16" : "fp32") + " GELU of a product " +
          std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(inner),
      k_is_rounded<Value> ? 2e-2 : 1e-4,
      {some(area(rows, inner), 41, 1),
       some(area(inner, columns), 42, 0.3F),
       some(static_cast<std::size_t>(columns), 43, 1),
       some(area(rows, inner), 44, 1),
       none,
       none,
       none,
       nothing(Columnwise{rows, columns, 128}.sums_of_runs())},
      [=](Queue& queue, const Places& at) {
        const auto multiply = [&](float* left, float* out, float* bias, int curve, float* sums) {
          queue.multiply({{left, inner, 0, 0},
                          {at[1], columns, 0, 0},
                          out,
                          rows,
                          columns,
                          inner,
                          columns,
                          0,
                          1,
                          factors,
                          rounds,
                          nullptr,
                          bias,
                          curve,
                          at[4],
                          sums,
                          128});
        };
        multiply(at[0], at[5], at[2], DTTRAIN_GELU, nullptr);
        multiply(at[3], at[6], nullptr, DTTRAIN_GELU_GRADIENT, at[7]);
      }};
  if (k_is_rounded<Value>) made.rounded = {0, 1, 2, 3, 4, 5, 6};
  all.push_back(std::move(made));
}

// The last of 65 tokens: its logits, a product by themselves in rows with room for 128, and the
// gradients of its weights and, added to that of other tokens, of the input.
template <class Value>
void add_last_token(std::vector<Case>& all, int rows, int inner) {
  constexpr int k_room = 128, k_others = 64, k_rounds = k_is_rounded<Value> ? 1 : 0;
  const auto some = [](int count, int each, std::uint64_t seed, float size = 1) {
    return stored<Value>(noise(row_begin(static_cast<std::size_t>(count), each), seed, size));
  };
  Case made{std::string(k_is_rounded<Value> ? "bf16" : "fp32") + " product of one token",
            k_is_rounded<Value> ? 2e-2 : 1e-4,
            {some(rows, inner, 51),
             some(1, inner, 52, 0.1F),
             some(rows, k_room, 53),
             some(rows, inner, 54),
             nothing(static_cast<std::size_t>(inner))},
            [=](Queue& queue, const Places& at) {
              Value* const logits = reinterpret_cast<Value*>(at[2]) + k_others;
              dttrain_product product{};
              product.count = 1;
              product.factors = k_is_rounded<Value> ? DTTRAIN_BF16 : DTTRAIN_FP32;
              const auto multiply = [&](void* out, int pitch, int rounds, const void* plus) {
                std::tie(product.out, product.pitch, product.rounds, product.plus) =
                    std::tuple(out, pitch, rounds, plus);
                queue.multiply(product);
              };
              product.left = {at[0], inner, 0, 0};
              product.right = {at[1], inner, 1, 0};
              std::tie(product.rows, product.columns, product.inner) = std::tuple(rows, 1, inner);
              multiply(logits, k_room, k_rounds, nullptr);
              product.left = {logits, k_room, 1, 0};
              product.right = {at[0], inner, 0, 0};
              std::tie(product.rows, product.columns, product.inner) = std::tuple(1, inner, rows);
              multiply(at[4], inner, 0, nullptr);
              product.left = {logits, k_room, 0, 0};
              product.right = {at[1], inner, 0, 0};
              std::tie(product.rows, product.columns, product.inner) = std::tuple(rows, inner, 1);
              multiply(at[3], inner, k_rounds, at[3]);
            }};
  if (k_is_rounded<Value>) made.rounded = {0, 1, 2, 3};
  all.push_back(std::move(made));
}

}  // namespace

void add_products(std::vector<Case>& all, Sizes sizes) {
  add_exact(all, 64, 96, 128, 1);
  add_exact(all, 17, 23, 9, 1);
  add_exact(all, 65, 64, 40, 3);
  if (sizes == Sizes::all) add_exact(all, 256, 768, 768, 1);
  add_rounded_products(all, 64, 96, 128);
  add_rounded_products(all, 17, 23, 9);
  add_rounded_products(all, 128, 256, 192);
  add_rounded_products(all, 96, 64, 256, 4);  // as gradients of weights by runs of rows
  add_last_token<Bfloat>(all, 128, 96);
  add_last_token<float>(all, 128, 96);
  add_rounded_results(all, 64, 96, 128);
  add_rounded_results(all, 17, 23, 9);
  for (const auto& [rows, columns, inner] :
       {std::tuple{64, 96, 128}, {17, 23, 9}, {128, 256, 64}, {520, 32, 16}}) {
    add_curves<Bfloat>(all, rows, columns, inner);
    add_curves<float>(all, rows, columns, inner);
  }
}

}  // namespace device_check
