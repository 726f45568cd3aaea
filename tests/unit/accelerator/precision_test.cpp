// SPDX-License-Identifier: Apache-2.0
// Rounded factors of products: bf16, which is rounded as on the processor, and TF32.
#include "tests/support/sanitized.hpp"
#include "tests/unit/accelerator/step.hpp"

#include <bit>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

constexpr const char* k_grouped =
    "llama,vocab_size=61,max_position_embeddings=9,hidden_size=48,intermediate_size=80,num_hidden_"
    "layers=2,num_attention_heads=6,num_key_value_heads=2";

// For all gradients: the norm of the difference, relative to that of the values.
double difference(const Model& model, const Floats& values, const Floats& expected) {
  double off = 0, all = 0;
  for (std::size_t i = 0; i < model.layout.parameter_floats; ++i) {
    const double one = static_cast<double>(values[i]) - static_cast<double>(expected[i]);
    off += one * one;
    all += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return std::sqrt(off / all);
}

Floats sums_of(const Step& step, Precision precision) {
  return step.whole(step.device(precision)->sum(step.input, {0, k_shards}));
}

}  // namespace

TEST_CASE("matrices are rounded to bf16 as on the processor, with gaps between rows and matrices") {
  Floats values = noise(3 * 5 * 40, 1, 1e-3F);
  const float specials[] = {0.0F,
                            -0.0F,
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::denorm_min(),
                            std::bit_cast<float>(0x3F808000U),  // ties
                            std::bit_cast<float>(0x3F818000U),
                            std::bit_cast<float>(0x7F800001U)};  // a NaN with only low bits
  std::copy(std::begin(specials), std::end(specials), values.begin());
  constexpr int k_matrices = 3, k_rows = 4, k_columns = 11, k_pitch = 17;
  constexpr std::int64_t k_stride = 90;
  Floats packed;
  for (int matrix = 0; matrix < k_matrices; ++matrix)
    for (int row = 0; row < k_rows; ++row)
      for (int column = 0; column < k_columns; ++column)
        packed.push_back(
            values[static_cast<std::size_t>(matrix * k_stride + row * k_pitch + column)]);
  std::vector<Bf16> expected(packed.size());
  round_to_bf16(packed.data(), packed.size(), expected.data());
  std::vector<Bfloat> rounded(packed.size(), 0xFFFF);
  const auto queue = new_queue();
  queue->launch(RoundMatrices{
      {packed.size()}, k_rows, k_columns, k_pitch, k_stride, values.data(), rounded.data()});
  queue->wait();
  CHECK(std::equal(rounded.begin(), rounded.end(), expected.begin()));
}

TEST_CASE("an array without gaps is rounded as on the processor, wherever it begins") {
  const Floats values = noise(1500, 4);
  std::vector<Bf16> expected(values.size());
  round_to_bf16(values.data(), values.size(), expected.data());
  const auto queue = new_queue();
  for (const std::size_t from : {0U, 1U, 4U})
    for (const std::size_t to : {0U, 2U, 4U})
      for (const std::size_t count : {1U, 4U, 1030U}) {
        std::vector<Bfloat> rounded(to + count + 4, 0xFFFF);
        queue->launch(Round{{count}, values.data() + from, rounded.data() + to});
        queue->wait();
        std::vector<Bfloat> all(rounded.size(), 0xFFFF);
        std::copy_n(expected.begin() + static_cast<std::ptrdiff_t>(from),
                    count,
                    all.begin() + static_cast<std::ptrdiff_t>(to));
        CHECK(rounded == all);
      }
}

TEST_CASE("gradients of bf16 and TF32 are those of fp32 but for the roundings of factors") {
  for (const std::string words : {k_small, k_grouped}) {
    CAPTURE(words);
    const Step step(words);
    const Floats exactly = step.whole(step.processor()->sum(step.input, {0, k_shards}));
    const double of_bf16 = difference(step.model, sums_of(step, Precision::bf16), exactly);
    const double of_tf32 = difference(step.model, sums_of(step, Precision::tf32), exactly);
    MESSAGE(words, ": off by ", of_bf16, " with bf16, by ", of_tf32, " with TF32");
    // A rounding has an error of at most 2^-9 or 2^-12, and some roundings follow each other.
    CHECK(of_bf16 > 0x1p-12);
    CHECK(of_bf16 < 0x1p-5);
    CHECK(of_tf32 > 0x1p-15);
    CHECK(of_tf32 < 0x1p-8);
    if (best_bf16_instructions() == Bf16Instructions::none) {
      MESSAGE("skipped: this processor has no instructions for bf16 to compare with");
      continue;
    }
    const auto processor = ShardSums::create(step.model, k_shards, k_micro, 1, Precision::bf16);
    REQUIRE(processor);
    const Floats alike = step.whole((*processor)->sum(step.input, {0, k_shards}));
    const double apart = difference(step.model, sums_of(step, Precision::bf16), alike);
    MESSAGE("from the processor's bf16 by ", apart);
    // Independent roundings would differ by sqrt(2) times this. Device and processor share all
    // roundings except those of attention's weights, which the device rounds before the division by
    // their sum (without these, the difference is a fifth), and except where sums in another order
    // are rounded to another neighbour.
    CHECK(apart < of_bf16);
  }
}

TEST_CASE("no cut into runs changes a bit of a device's sums with rounded factors") {
  for (const Precision precision : {Precision::bf16, Precision::tf32}) {
    const Step step(k_grouped);
    const Floats expected = sums_of(step, precision);
    for (int cut = 1; cut < k_shards; cut += 2) {
      const auto left = step.device(precision);
      const auto right = step.device(precision);
      Partials all = left->sum(step.input, {0, cut});
      all.merge(right->sum(step.input, {cut, k_shards}));
      CHECK(step.whole(all) == expected);
    }
  }
}

TEST_CASE("gradients of image networks in bf16 are those of fp32 but for roundings") {
  for (const std::string words : {"cnn2", "resnet:cifar20,depth=8"}) {
    // With sanitizers, race_test.cpp runs the same kernels of it on fewer samples.
    if (dts::tests::k_sanitized && words == "cnn2") continue;
    const Step step(words);
    const Floats exactly = step.whole(step.processor()->sum(step.input, {0, k_shards}));
    const double of_bf16 = difference(step.model, sums_of(step, Precision::bf16), exactly);
    MESSAGE(words, ": off by ", of_bf16, " with bf16");
    CHECK(of_bf16 > 0x1p-12);
    CHECK(of_bf16 < 0x1p-4);
  }
}
