// SPDX-License-Identifier: Apache-2.0
// The blocks of transformers against double-precision references, every gradient against
// fourth-order differences, with each instruction set of this processor.
#include "core/train/model/token_blocks.hpp"

#include "core/train/device/kernel_table.hpp"
#include "core/train/model/network.hpp"
#include "tests/unit/train/attention_bench.hpp"
#include "tests/unit/train/cnn2.hpp"
#include "tests/unit/train/gradient_check.hpp"
#include "tests/unit/train/readiness.hpp"
#include "tests/unit/train/token_reference.hpp"

#include <doctest/doctest.h>

#include <functional>

using namespace dts::train;
using reference::check_gradient;
using reference::check_values;
using reference::k_smooth;
using reference::random_values;
using reference::Values;

namespace {

void with_each_instruction_set(const std::function<void()>& test) {
  for (int set = 0; set <= static_cast<int>(best_instruction_set()); ++set) {
    CAPTURE(set);
    select_kernels(static_cast<InstructionSet>(set));
    test();
  }
}

// `ours` minus what was there before.
std::vector<float> less(const Buffer& ours, float before) {
  std::vector<float> rest(ours.all().begin(), ours.all().end());
  for (float& v : rest) v -= before;
  return rest;
}

}  // namespace

TEST_CASE("layer norm and RMS norm, and their gradients, which are added to a stream's") {
  constexpr int k_rows = 3;
  constexpr int k_width = 48;
  constexpr double k_epsilon = 1e-5;
  with_each_instruction_set([&] {
    for (const bool is_layer : {true, false}) {
      Layout layout = layout_of({{"n.weight", {k_width}}});
      if (is_layer) layout.add_parameter({.name = "n.bias", .shape = {k_width}});
      Bench bench(layout, 20);
      const float before = is_layer ? 0.25F : 0.0F;
      Activation x(k_rows * k_width, 1, before);
      Activation y(k_rows * k_width, 2);
      const Values objective = random_values(k_rows * k_width, 3);
      const Norm norm{"n", {k_rows, k_width}, 1e-5F, is_layer ? Into::adds : Into::overwrites};
      const auto block = is_layer ? layer_norm(bench.layout, norm, x.edge(), y.edge())
                                  : rms_norm(bench.layout, norm, x.edge(), y.edge());
      bench.run(*block, y, objective);
      const Values beta = is_layer ? bench.values[1] : Values{};
      const auto f = [&](const Values& in, const Values& g, const Values& b) {
        return reference::dot(reference::norm(in, g, b, k_epsilon), objective);
      };
      check_values(
          y.value.data(), reference::norm(x.values, bench.values[0], beta, k_epsilon), 1e-5);
      check_gradient(
          less(x.gradient, before).data(),
          [&](const Values& v) { return f(v, bench.values[0], beta); },
          x.values,
          2e-5,
          k_smooth);
      check_gradient(
          bench.gradient("n.weight"),
          [&](const Values& v) { return f(x.values, v, beta); },
          bench.values[0],
          1e-5,
          k_smooth);
      if (is_layer)
        check_gradient(
            bench.gradient("n.bias"),
            [&](const Values& v) { return f(x.values, bench.values[0], v); },
            beta,
            1e-5,
            k_smooth);
      CHECK(block->completes() == Range{0, bench.layout.parameter_floats});
    }
  });
}

TEST_CASE("GELU and SwiGLU, also far from zero") {
  constexpr std::size_t k_count = 64;
  with_each_instruction_set([&] {
    Bench bench;
    Activation x(k_count, 4);
    Activation up(k_count, 5);
    Activation y(k_count, 6);
    const Values objective = random_values(k_count, 7);
    for (std::size_t i = 0; i < k_count; ++i) {
      x.values[i] *= i < 48 ? 4 : 60;
      x.value.data()[i] = static_cast<float>(x.values[i]);
      x.values[i] = static_cast<double>(x.value.data()[i]);
    }
    bench.run(*gelu(k_count, x.edge(), y.edge()), y, objective);
    check_values(y.value.data(), reference::gelu(x.values), 2e-5);
    check_gradient(
        x.gradient.data(),
        [&](const Values& v) { return reference::dot(reference::gelu(v), objective); },
        x.values,
        1e-5,
        k_smooth);
    bench.run(*swiglu(k_count, x.edge(), up.edge(), y.edge()), y, objective);
    check_values(y.value.data(), reference::swiglu(x.values, up.values), 2e-5);
    check_gradient(
        x.gradient.data(),
        [&](const Values& v) { return reference::dot(reference::swiglu(v, up.values), objective); },
        x.values,
        1e-5,
        k_smooth);
    check_gradient(
        up.gradient.data(),
        [&](const Values& v) { return reference::dot(reference::swiglu(x.values, v), objective); },
        up.values,
        1e-5,
        k_smooth);
  });
}

TEST_CASE("projections in both layouts, with and without a bias and a residual") {
  constexpr int k_rows = 5;
  constexpr int k_in = 32;
  constexpr int k_out = 48;
  for (const bool is_in_out : {true, false}) {
    Layout layout = layout_of({{"p.weight", {is_in_out ? k_in : k_out, is_in_out ? k_out : k_in}}});
    if (is_in_out) layout.add_parameter({.name = "p.bias", .shape = {k_out}});
    Bench bench(layout, 30);
    const float before = is_in_out ? 0.0F : 0.5F;
    Activation x(k_rows * k_in, 8, before);
    Activation y(k_rows * k_out, 9);
    const Activation residual(k_rows * k_out, 10);
    const Values objective = random_values(k_rows * k_out, 11);
    const auto block = projection(bench.layout,
                                  {.weight = "p.weight",
                                   .bias = is_in_out ? "p.bias" : "",
                                   .rows = k_rows,
                                   .in = k_in,
                                   .out = k_out,
                                   .is_in_out = is_in_out,
                                   .residual = is_in_out ? residual.value.data() : nullptr,
                                   .into = is_in_out ? Into::overwrites : Into::adds},
                                  x.edge(),
                                  y.edge());
    bench.run(*block, y, objective);
    const auto forward = [&](const Values& in, const Values& w) {
      Values all = reference::product(k_rows, k_in, k_out, in, w, is_in_out);
      for (std::size_t i = 0; is_in_out && i < all.size(); ++i)
        all[i] += bench.values[1][i % k_out] + residual.values[i];
      return all;
    };
    check_values(y.value.data(), forward(x.values, bench.values[0]), 1e-4);
    check_gradient(
        less(x.gradient, before).data(),
        [&](const Values& v) { return reference::dot(forward(v, bench.values[0]), objective); },
        x.values,
        1e-5,
        k_smooth);
    check_gradient(
        bench.gradient("p.weight"),
        [&](const Values& v) { return reference::dot(forward(x.values, v), objective); },
        bench.values[0],
        1e-5,
        k_smooth);
    if (!is_in_out) continue;
    Values sums(k_out);
    for (std::size_t i = 0; i < objective.size(); ++i) sums[i % k_out] += objective[i];
    check_values(bench.gradient("p.bias"), sums, 1e-5);
  }
}

TEST_CASE("causal attention, several queries to a head of keys, over more than one run of rows") {
  for (const reference::AttentionShape& s :
       {reference::AttentionShape{2, 5, 16, 4, 2}, {1, 70, 8, 1, 1}, {2, 3, 20, 3, 3}}) {
    with_each_instruction_set([&] {
      AttentionBench bench{s};
      const Activation &q = bench.q, &k = bench.k, &v = bench.v;
      bench.run(Precision::fp32);
      const auto f = [&](const Values& a, const Values& b, const Values& c) {
        return reference::dot(reference::attention(s, a, b, c), bench.objective);
      };
      check_values(
          bench.out.value.data(), reference::attention(s, q.values, k.values, v.values), 1e-5);
      check_gradient(
          q.gradient.data(),
          [&](const Values& x) { return f(x, k.values, v.values); },
          q.values,
          2e-5,
          k_smooth);
      check_gradient(
          k.gradient.data(),
          [&](const Values& x) { return f(q.values, x, v.values); },
          k.values,
          2e-5,
          k_smooth);
      check_gradient(
          v.gradient.data(),
          [&](const Values& x) { return f(q.values, k.values, x); },
          v.values,
          2e-5,
          k_smooth);
    });
  }
}

TEST_CASE("rotations turn pairs by their position's angle, and gradients back") {
  constexpr int k_context = 7;
  constexpr int k_width = 12;
  constexpr int k_heads = 2;
  const auto angles = std::make_shared<const Angles>(k_context, k_width, 10000.0);
  Bench bench;
  Activation x(2 * k_context * k_heads * k_width, 17);
  const auto block =
      rotation(angles, 2, k_context, k_width, {x.edge(), k_heads * k_width, k_heads});
  block->forward({});
  Values expected = x.values;
  for (int row = 0; row < 2 * k_context * k_heads; ++row)
    for (int i = 0; i < k_width / 2; ++i) {
      const double angle = row / k_heads % k_context * std::pow(10000.0, -2.0 * i / k_width);
      const std::size_t a = reference::index(row, k_width, i);
      const std::size_t b = a + k_width / 2;
      expected[a] = x.values[a] * std::cos(angle) - x.values[b] * std::sin(angle);
      expected[b] = x.values[b] * std::cos(angle) + x.values[a] * std::sin(angle);
    }
  check_values(x.value.data(), expected, 1e-6);
  // A rotation preserves products: its effect on a gradient is the inverse rotation.
  std::copy(expected.begin(), expected.end(), x.gradient.data());
  block->backward({});
  check_values(x.gradient.data(), x.values, 1e-6);
}

TEST_CASE("embeddings look up, and gather the gradients of equal tokens") {
  constexpr int k_width = 16;
  const std::vector<std::uint32_t> ids{3, 1, 3, 0, 3, 2};
  for (const Into into : {Into::overwrites, Into::adds}) {
    Bench bench(layout_of({{"t", {5, k_width}}, {"p", {3, k_width}}}), 40);
    std::fill_n(bench.sums.data(), bench.layout.parameter_floats, 2.0F);
    Activation out(6 * k_width, 18);
    const Values objective = random_values(6 * k_width, 19);
    const auto block =
        embedding(bench.layout, {"t", "p", 2, 3, k_width, into}, ids.data(), out.edge());
    bench.run(*block, out, objective);
    Values expected(6 * k_width);
    Values table(5 * k_width, into == Into::adds ? 2 : 0);
    Values positions(3 * k_width);
    for (int row = 0; row < 6; ++row)
      for (int i = 0; i < k_width; ++i) {
        const std::size_t at = reference::index(row, k_width, i);
        const std::size_t token =
            reference::index(static_cast<int>(ids[static_cast<std::size_t>(row)]), k_width, i);
        const std::size_t position = reference::index(row % 3, k_width, i);
        expected[at] = bench.values[0][token] + bench.values[1][position];
        table[token] += objective[at];
        positions[position] += objective[at];
      }
    check_values(out.value.data(), expected, 1e-6);
    check_values(bench.gradient("t"), table, 1e-6);
    check_values(bench.gradient("p"), positions, 1e-6);
  }
}

TEST_CASE("cross-entropy over many classes, smoothed and not, in place of the logits") {
  constexpr int k_classes_here = 75;
  const std::vector<std::uint32_t> labels{3, 74, 9};
  with_each_instruction_set([&] {
    for (const double smoothing : {0.0, 0.2}) {
      Activation logits(3 * k_classes_here, 21);
      for (std::size_t i = 0; i < logits.values.size(); ++i) {
        logits.value.data()[i] *= 20;
        logits.values[i] = static_cast<double>(logits.value.data()[i]);
      }
      const auto expected = [&](const Values& v) {
        double loss = (1 - smoothing) * reference::cross_entropy(v, labels, k_classes_here);
        for (std::uint32_t c = 0; c < k_classes_here; ++c)
          loss +=
              smoothing / k_classes_here * reference::cross_entropy(v, {c, c, c}, k_classes_here);
        return loss;
      };
      const Objective objective{2, static_cast<float>(smoothing)};
      const HeadResult result = cross_entropy(
          logits.value.data(), labels.data(), 3, k_classes_here, objective, logits.value.data());
      CHECK(static_cast<double>(result.loss) ==
            doctest::Approx(expected(logits.values)).epsilon(1e-6));
      check_gradient(
          logits.value.data(),
          [&](const Values& v) { return 2 * expected(v); },
          logits.values,
          2e-5,
          k_smooth);
    }
  });
}

TEST_CASE("a NaN among logits or scores is a NaN in what comes of it") {
  with_each_instruction_set([&] {
    std::vector<float> logits(40, 0.5F);
    logits[37] = std::nanf("");
    const std::uint32_t label = 1;
    CHECK(std::isnan(cross_entropy(logits.data(), &label, 1, 40, {}, logits.data()).loss));
    std::vector<float> scores(40, 0.5F);
    scores[3] = std::nanf("");
    float top = 0;
    float inverse = 0;
    token_kernels().softmax({scores.data(), 1, 40, 39, 1.0F}, &top, &inverse);
    CHECK(std::isnan(scores[3]));
    CHECK(std::isnan(inverse));
  });
}

TEST_CASE("the exponential of the kernels is that of double precision") {
  with_each_instruction_set([] {
    double worst = 0;
    for (float x = -80.0F; x < 0; x += 0.0137F) {
      const float logits[2] = {x, 0};
      float powers[2];
      (void)token_kernels().softmax_sums(logits, 2, powers);
      worst = std::max(
          worst, std::abs(static_cast<double>(powers[0]) / std::exp(static_cast<double>(x)) - 1));
    }
    CHECK(worst < 2.5e-7);
  });
}

TEST_CASE("decoders announce each range of gradients once, when it is final, and all of them") {
  for (const char* const words :
       {"gpt2,vocab_size=40,n_positions=9,n_embd=32,n_layer=2,n_head=2",
        "llama,vocab_size=40,max_position_embeddings=9,hidden_size=32,intermediate_size=48,"
        "num_hidden_layers=2,num_attention_heads=2",
        "llama,vocab_size=40,max_position_embeddings=9,hidden_size=32,intermediate_size=48,"
        "num_hidden_layers=1,num_attention_heads=2,tie_word_embeddings=1"}) {
    const Model model = make_model(words).value();
    std::vector<std::uint8_t> text(100);
    for (std::size_t i = 0; i < text.size(); ++i)
      text[i] = static_cast<std::uint8_t>(dts::mix(i) % 40);
    Samples samples;
    samples.tokens = {reinterpret_cast<const std::byte*>(text.data()), text.size(), 1};
    samples.context = 9;
    samples.count = 11;
    check_readiness(model, samples, {7, 2});
  }
}
