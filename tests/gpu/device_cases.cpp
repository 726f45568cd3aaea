// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/device_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace device_check {
namespace {

using namespace dts::train;
using namespace dts::train::accelerator;

// Integers below `most`, in an array of floats.
Floats numbers(std::size_t count, std::uint64_t most) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<std::uint32_t>(dts::mix(i) % most);
    std::memcpy(&values[i], &number, sizeof number);
  }
  return values;
}

const std::uint32_t* as_numbers(const float* at) {
  return reinterpret_cast<const std::uint32_t*>(at);
}

void add_elements(std::vector<Case>& all) {
  constexpr std::size_t k_count = 100003;
  const Floats x = noise(k_count, 1, 5);
  const Floats y = noise(k_count, 2);
  all.push_back({"add", 0, {x, y}, [](Queue& queue, const Places& at) {
                   queue.launch(Add<float>{{k_count}, at[0], at[1]});
                 }});
  all.push_back({"gelu_forward", 1e-6, {x, nothing(k_count)}, [](Queue& queue, const Places& at) {
                   queue.launch(GeluForward<float>{{k_count}, at[0], at[1]});
                 }});
  all.push_back({"gelu_backward",
                 1e-5,  // at 5, an error of the gate counts 36 times
                 {x, y},
                 [](Queue& queue, const Places& at) {
                   queue.launch(GeluBackward<float>{{k_count}, at[0], at[1], at[1]});
                 }});
  all.push_back(
      {"swiglu",
       2e-6,
       {x, y, nothing(k_count), noise(k_count, 18), nothing(k_count)},
       [](Queue& queue, const Places& at) {
         queue.launch(SwigluForward<float>{{k_count}, at[0], at[1], at[2]});
         queue.launch(SwigluBackward<float>{{k_count}, at[0], at[1], at[3], at[4], at[3]});
       }});
  all.push_back(
      {"rotate",
       1e-6,
       {noise(60 * 200, 19), noise(10 * 24, 20), noise(10 * 24, 21)},
       [](Queue& queue, const Places& at) {
         queue.launch(Rotate<float>{{60 * 4 * 24}, 10, 4, 24, 200, at[1], at[2], -1, at[0]});
       }});
  all.push_back(
      {"gelu and swiglu bf16",
       2e-2,  // the next bf16 value is 2^-8 away
       {stored<Bfloat>(x),
        stored<Bfloat>(y),
        nothing(k_count / 2 + 1),
        nothing(k_count / 2 + 1),
        nothing(k_count / 2 + 1)},
       [](Queue& queue, const Places& at) {
         const auto of = [&](std::size_t i) { return reinterpret_cast<Bfloat*>(at[i]); };
         queue.launch(GeluForward<Bfloat>{{k_count}, of(0), of(2)});
         queue.launch(GeluBackward<Bfloat>{{k_count}, of(0), of(1), of(3)});
         queue.launch(SwigluForward<Bfloat>{{k_count}, of(0), of(1), of(4)});
         queue.launch(SwigluBackward<Bfloat>{{k_count}, of(0), of(1), of(2), of(2), of(4)});
         queue.launch(Add<Bfloat>{{k_count}, of(3), of(1)});
       },
       0,
       {0, 1, 2, 3, 4}});
  all.push_back({"copy", 0, {x, nothing(k_count)}, [](Queue& queue, const Places& at) {
                   queue.launch(Copy<float>{{k_count / 2}, at[0], at[1]});
                   queue.launch(
                       Copy<std::uint32_t>{{k_count - k_count / 2},
                                           as_numbers(at[0] + k_count / 2),
                                           reinterpret_cast<std::uint32_t*>(at[1] + k_count / 2)});
                 }});
  all.push_back(
      {"rotate bf16",
       1e-2,
       {stored<Bfloat>(noise(60 * 200, 19)), noise(10 * 24, 20), noise(10 * 24, 21)},
       [](Queue& queue, const Places& at) {
         queue.launch(Rotate<Bfloat>{
             {60 * 4 * 24}, 10, 4, 24, 200, at[1], at[2], -1, reinterpret_cast<Bfloat*>(at[0])});
       },
       0,
       {0}});
  all.push_back({"squares", 1e-6, {x, nothing(4), nothing(1)}, [](Queue& queue, const Places& at) {
                   auto* const partials = reinterpret_cast<double*>(at[1]);
                   queue.launch(Squares{at[0], k_count, partials});
                   queue.launch(Total<double>{partials, 2, at[2]});
                 }});
  all.push_back({"total", 1e-6, {x, nothing(1)}, [](Queue& queue, const Places& at) {
                   queue.launch(Total<float>{at[0], k_count, at[1]});
                 }});
}

void add_rows(std::vector<Case>& all, int rows, int width) {
  const std::string shape = " " + std::to_string(rows) + "x" + std::to_string(width);
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(width);
  const auto columns = static_cast<std::size_t>(width);
  const auto each = static_cast<std::size_t>(rows);
  const std::size_t sums = Columnwise{rows, width}.sums_of_runs();
  const int each_run = norm_rows_each(rows);
  const std::size_t of_norm = Columnwise{rows, width, each_run}.sums_of_runs();
  all.push_back({"layer_norm" + shape,
                 2e-5,
                 {noise(count, 4, 3),
                  noise(columns, 5),
                  noise(columns, 6),
                  nothing(count),
                  nothing(each),
                  nothing(each),
                  noise(count, 7),
                  noise(count, 8),
                  nothing(of_norm),
                  nothing(of_norm),
                  nothing(sums)},
                 [=](Queue& queue, const Places& at) {
                   queue.launch(Normalise<NormKind::layer, float>{
                       {rows, width}, 1e-5F, at[0], at[1], at[2], at[3], at[4], at[5]});
                   queue.launch(NormaliseBackward<NormKind::layer, float>{rows,
                                                                          width,
                                                                          each_run,
                                                                          at[0],
                                                                          at[1],
                                                                          at[4],
                                                                          at[5],
                                                                          at[6],
                                                                          at[7],
                                                                          true,
                                                                          nullptr,
                                                                          at[8],
                                                                          at[9]});
                   queue.launch(ColumnSums<float>{{rows, width}, at[6], at[10]});
                 }});
  all.push_back({"gelu_backward_sums" + shape,
                 3e-5,
                 {noise(count, 1, 5), noise(count, 2), nothing(sums)},
                 [=](Queue& queue, const Places& at) {
                   queue.launch(GeluBackwardSums<float>{{rows, width}, at[0], at[1], at[1], at[2]});
                 }});
  all.push_back(
      {"gelu_backward_sums bf16" + shape,
       2e-2,
       {stored<Bfloat>(noise(count, 1, 5)), stored<Bfloat>(noise(count, 2)), nothing(sums)},
       [=](Queue& queue, const Places& at) {
         auto* const d = reinterpret_cast<Bfloat*>(at[1]);
         queue.launch(GeluBackwardSums<Bfloat>{
             {rows, width}, reinterpret_cast<const Bfloat*>(at[0]), d, d, at[2]});
       },
       0,
       {0, 1}});
  all.push_back({"rms_norm" + shape,
                 2e-5,
                 {noise(count, 4, 3),
                  noise(columns, 5),
                  nothing(count),
                  nothing(each),
                  noise(count, 7),
                  noise(count, 8),
                  nothing(of_norm)},
                 [=](Queue& queue, const Places& at) {
                   constexpr auto k_zero = NormKind::rms;
                   queue.launch(Normalise<k_zero, float>{
                       {rows, width}, 1e-6F, at[0], at[1], nullptr, at[2], nullptr, at[3]});
                   queue.launch(NormaliseBackward<k_zero, float>{rows,
                                                                 width,
                                                                 each_run,
                                                                 at[0],
                                                                 at[1],
                                                                 nullptr,
                                                                 at[3],
                                                                 at[4],
                                                                 at[5],
                                                                 true,
                                                                 nullptr,
                                                                 at[6],
                                                                 nullptr});
                 }});
  all.push_back({"norms bf16" + shape,
                 2e-2,
                 {noise(count, 4, 3),
                  noise(columns, 5),
                  noise(columns, 6),
                  nothing(count / 2 + 1),
                  nothing(each),
                  nothing(each),
                  nothing(count / 2 + 1),
                  nothing(each),
                  nothing(sums),
                  stored<Bfloat>(noise(count, 7)),
                  noise(count, 8),
                  noise(count, 18),
                  nothing(of_norm),
                  nothing(of_norm),
                  nothing(of_norm)},
                 [=](Queue& queue, const Places& at) {
                   constexpr auto k_zero = NormKind::rms;
                   const auto of = [&](std::size_t i) { return reinterpret_cast<Bfloat*>(at[i]); };
                   queue.launch(Normalise<NormKind::layer, Bfloat>{
                       {rows, width}, 1e-5F, at[0], at[1], at[2], of(3), at[4], at[5]});
                   queue.launch(Normalise<NormKind::rms, Bfloat>{
                       {rows, width}, 1e-6F, at[0], at[1], nullptr, of(6), nullptr, at[7]});
                   queue.launch(ColumnSums<Bfloat>{{rows, width}, of(3), at[8]});
                   queue.launch(NormaliseBackward<NormKind::layer, Bfloat>{rows,
                                                                           width,
                                                                           each_run,
                                                                           at[0],
                                                                           at[1],
                                                                           at[4],
                                                                           at[5],
                                                                           of(9),
                                                                           at[10],
                                                                           true,
                                                                           nullptr,
                                                                           at[12],
                                                                           at[13]});
                   queue.launch(NormaliseBackward<k_zero, Bfloat>{rows,
                                                                  width,
                                                                  each_run,
                                                                  at[0],
                                                                  at[1],
                                                                  nullptr,
                                                                  at[7],
                                                                  of(9),
                                                                  at[11],
                                                                  false,
                                                                  nullptr,
                                                                  at[14],
                                                                  nullptr});
                 },
                 0,
                 {3, 6, 9}});
  all.push_back({"cross_entropy" + shape,
                 1e-5,
                 {noise(count, 9, 9), numbers(each, columns), nothing(each), nothing(each)},
                 [=](Queue& queue, const Places& at) {
                   queue.launch(CrossEntropy<float>{
                       {rows, width}, at[0], as_numbers(at[1]), 0.5F, 0.1F, true, at[2], at[3]});
                 }});
  all.push_back(
      {"cross_entropy bf16" + shape,
       2e-2,
       {stored<Bfloat>(noise(count, 9, 9)), numbers(each, columns), nothing(each), nothing(each)},
       [=](Queue& queue, const Places& at) {
         queue.launch(CrossEntropy<Bfloat>{{rows, width},
                                           reinterpret_cast<Bfloat*>(at[0]),
                                           as_numbers(at[1]),
                                           0.5F,
                                           0.1F,
                                           true,
                                           at[2],
                                           at[3]});
       },
       0,
       {0}});
}

template <class Factors>
void add_attention(std::vector<Case>& all, int context, int width, bool rounds) {
  using Stored = typename Factors::Stored;
  constexpr int k_batch = 2, k_heads = 4, k_keys = 2;
  const int of_queries = k_heads * width;
  const int of_keys = k_keys * width;
  const auto rows = static_cast<std::size_t>(k_batch * context);
  const std::size_t queries = rows * static_cast<std::size_t>(of_queries);
  const std::size_t keys = rows * static_cast<std::size_t>(of_keys);
  const auto array = [](std::size_t count, std::uint64_t seed, float size) {
    return stored<Stored>(noise(count, seed, size));
  };
  all.push_back(
      {"attention " + std::to_string(context) + "x" + std::to_string(width) +
           (rounds ? " bf16" : ""),
       // Weights are rounded to bf16, and a sum in another order may round to the next value.
       rounds ? 2e-2 : 1e-5,
       {array(queries, 10, 3),
        array(keys, 11, 1),
        array(keys, 12, 1),
        array(queries, 13, 1),
        array(queries, 0, 0),
        nothing(rows * k_heads),
        array(queries, 0, 0),
        nothing(rows * k_heads),
        array(keys, 0, 0),
        array(keys, 0, 0)},
       [=](Queue& queue, const Places& at) {
         const auto rows_of = [&](std::size_t which, int pitch) {
           return HeadRows<Stored>{reinterpret_cast<Stored*>(at[which]), pitch};
         };
         const auto given = [&](std::size_t which, int pitch) {
           return HeadRows<const Stored>{reinterpret_cast<const Stored*>(at[which]), pitch};
         };
         const Attend<Factors> base{{k_batch, context, width, k_heads, k_keys, 0.125F},
                                    given(0, of_queries),
                                    given(1, of_keys),
                                    given(2, of_keys)};
         queue.launch(AttendForward<Factors>{base, rows_of(4, of_queries), at[5]});
         const AttendBackward<Factors> both{base, given(3, of_queries), at[5]};
         queue.launch(
             AttendQueries<Factors>{both, given(4, of_queries), rows_of(6, of_queries), at[7]});
         queue.launch(AttendKeys<Factors>{both, at[7], rows_of(8, of_keys), rows_of(9, of_keys)});
       },
       0,
       rounds ? std::vector<std::size_t>{0, 1, 2, 3, 4, 6, 8, 9} : std::vector<std::size_t>{}});
}

void add_embedding(std::vector<Case>& all, int vocabulary, int width) {
  constexpr int k_context = 65;
  constexpr int k_rows = 3 * k_context;
  const auto columns = static_cast<std::size_t>(width);
  const std::size_t table = static_cast<std::size_t>(vocabulary) * columns;
  const Floats ids = numbers(k_rows, static_cast<std::uint64_t>(vocabulary));
  std::vector<std::uint32_t> order(k_rows);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return as_numbers(ids.data())[a] < as_numbers(ids.data())[b];
  });
  all.push_back(
      {"embedding " + std::to_string(vocabulary) + "x" + std::to_string(width),
       0,
       {ids,
        noise(table, 12),
        noise(k_context * columns, 13),
        nothing(k_rows * columns),
        noise(table, 14),
        nothing(k_context * columns),
        as_floats(order)},
       [=](Queue& queue, const Places& at) {
         queue.launch(EmbeddingForward{
             {k_rows * columns}, width, k_context, as_numbers(at[0]), at[1], at[2], at[3]});
         queue.launch(TokenGradients{
             vocabulary, width, k_rows, as_numbers(at[0]), as_numbers(at[6]), at[3], at[4]});
         queue.launch(PositionGradients{{k_context * columns}, 3, at[3], at[5]});
       }});
}

template <UpdateRule rule>
void add_update(std::vector<Case>& all, const std::string& name) {
  constexpr std::size_t k_kinds = k_moments_of<rule>;
  std::vector<OwnChunk> chunks;
  std::size_t owned = 0;
  for (const std::uint32_t count : {1024U, 16U, 1008U, 144U, 1024U}) {
    chunks.push_back({owned + 32, owned, count, count % 32 == 0 ? 1U : 0U});
    owned += count;
  }
  const std::size_t count = chunks.size();
  Floats moments = noise(k_kinds * owned, 23);
  for (float& one : moments) one = std::abs(one);
  UpdateFactors factors{
      0.5F, 0.01F, 0.1F, 0.999F, 0.9F, 0.9F, 0.99F, 0.1F, 0.01F, 1e-8F, 1.2F, 1.3F};
  // Compares the reports of ChecksumChunks and the arrays of the step, but not the reports of the
  // step, whose checksums differ with any rounding.
  all.push_back(
      {"update " + name,
       2e-6,
       {as_floats(chunks),
        noise(owned, 22),
        noise(owned + 64, 24),
        moments,
        nothing(count * sizeof(ChunkReport) / sizeof(float)),
        nothing(owned),
        nothing(k_kinds * owned),
        Floats(count, 0.003F),
        nothing(2 * count),  // doubles, compared by their sum
        nothing(1)},
       [=](Queue& queue, const Places& at) {
         const Chunkwise base{count, reinterpret_cast<const OwnChunk*>(at[0]), owned, owned + 64};
         queue.launch(ChecksumChunks{
             base, at[2], at[3], static_cast<int>(k_kinds), reinterpret_cast<ChunkReport*>(at[4])});
         auto* const squares = reinterpret_cast<double*>(at[8]);
         queue.launch(ChunkSquares{base, at[1], squares});
         queue.launch(Total<double>{squares, static_cast<int>(count), at[9]});
         queue.clear(at[8], 2 * count);
         auto* const reports = reinterpret_cast<ChunkReport*>(at[10]);
         queue.launch(
             UpdateChunks<rule>{base, factors, at[1], at[2], at[5], at[3], at[6], reports});
         queue.launch(ApplyDirections{base, at[7], at[2], at[5], reports});
       },
       count * sizeof(ChunkReport) / sizeof(float)});
}

void add_rounding(std::vector<Case>& all) {
  constexpr int k_rows = 33, k_columns = 51, k_pitch = 64, k_matrices = 3;
  constexpr std::size_t k_rounded = std::size_t{k_matrices} * k_rows * k_columns;
  all.push_back({"round_matrices",
                 0,
                 {noise(std::size_t{k_matrices} * k_rows * k_pitch, 25, 1e-3F), nothing(k_rounded)},
                 [=](Queue& queue, const Places& at) {
                   queue.launch(RoundMatrices{{k_rounded},
                                              k_rows,
                                              k_columns,
                                              k_pitch,
                                              std::int64_t{k_rows} * k_pitch,
                                              at[0],
                                              reinterpret_cast<Bfloat*>(at[1])});
                 }});
  constexpr std::size_t k_each = 4099;
  all.push_back({"add_runs",
                 1e-6,
                 {noise(9 * k_each, 27), nothing(k_each)},
                 [=](Queue& queue, const Places& at) {
                   queue.launch(AddRuns{{k_each}, 9, at[0], at[1]});
                 }});
  all.push_back({"round",
                 0,
                 {noise(2 * k_rounded, 26), nothing(k_rounded)},
                 [=](Queue& queue, const Places& at) {
                   queue.launch(Round{{2 * k_rounded}, at[0], reinterpret_cast<Bfloat*>(at[1])});
                 }});
}

}  // namespace

std::vector<Case> all_cases(Sizes sizes) {
  const bool has_large = sizes == Sizes::all;
  std::vector<Case> all;
  add_elements(all);
  for (const auto& [rows, width] : {std::pair{1, 1}, {5, 31}, {33, 257}})
    add_rows(all, rows, width);
  if (has_large)
    for (const auto& [rows, width] : {std::pair{64, 768}, {7, 50257}, {1700, 33}})
      add_rows(all, rows, width);
  for (const auto& [context, width] :
       {std::pair{1, 64}, {31, 20}, {64, 64}, {130, 64}, {257, 80}}) {
    if (context > 64 && !has_large) continue;
    add_attention<PlainFactors>(all, context, width, false);
    add_attention<TensorRowFactors>(all, context, width, true);
  }
  add_embedding(all, 300, 48);
  if (has_large) add_embedding(all, 5003, 257);
  add_update<UpdateRule::sgd>(all, "sgd");
  add_update<UpdateRule::nesterov>(all, "nesterov");
  add_update<UpdateRule::adam>(all, "adam");
  add_update<UpdateRule::lamb>(all, "lamb");
  add_rounding(all);
  add_images(all);
  add_products(all, sizes);
  add_kernel_products(all);
  return all;
}

}  // namespace device_check
