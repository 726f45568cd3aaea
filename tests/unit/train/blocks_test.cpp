// SPDX-License-Identifier: Apache-2.0
// Every block's forward pass against a double-precision reference, every gradient against finite
// differences of it.
#include "core/train/model/blocks.hpp"

#include "core/train/memory/buffer.hpp"
#include "core/train/model/network.hpp"
#include "tests/unit/train/block_bench.hpp"
#include "tests/unit/train/cnn2.hpp"
#include "tests/unit/train/gradient_check.hpp"
#include "tests/unit/train/readiness.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <thread>

using namespace dts::train;
using reference::check_gradient;
using reference::check_values;
using reference::Values;

namespace {

constexpr int k_batch = 3;

const Images k_full{k_batch, 16, 28, 28};
const Images k_wide{k_batch, 32, 14, 14};

}  // namespace

TEST_CASE("the first convolution and its gradient") {
  Bench bench(cnn2().layout);
  Activation in(k_batch * 30 * 30);
  Activation out(k_full.count());
  const Values x = reference::random_values(k_batch * 28 * 28, 1);
  for (int n = 0; n < k_batch; ++n)
    for (int y = 0; y < 28; ++y)
      for (int col = 0; col < 28; ++col)
        in.value.data()[(n * 30 + y + 1) * 30 + col + 1] =
            static_cast<float>(x[static_cast<std::size_t>((n * 28 + y) * 28 + col)]);
  const Values w = reference::random_values(144, 2);
  const Values objective = reference::random_values(k_full.count(), 3);
  bench.set("conv1.weight", w);
  const auto forward = [&](const Values& weights) {
    return reference::convolution(
        {k_batch, 1, 28, 28},
        k_full,
        [&](int n, int, int y, int col) {
          return x[static_cast<std::size_t>((n * 28 + y) * 28 + col)];
        },
        weights);
  };
  const auto block = first_convolution(bench.layout, "conv1", k_full, in.edge(), out.edge());
  bench.run(*block, out, objective);
  check_values(out.value.data(), forward(w), 1e-5);
  check_gradient(
      bench.gradient("conv1.weight"),
      [&](const Values& v) { return reference::dot(forward(v), objective); },
      w,
      1e-5);
}

TEST_CASE("batch normalisation, ReLU and pooling, and their gradients through the statistics") {
  for (const Images& shape : {k_full, k_wide}) {
    Bench bench(cnn2().layout);
    const std::string name = shape.channels == 16 ? "bn1" : "bn2";
    const auto channels = static_cast<std::size_t>(shape.channels);
    Activation in(shape.count());
    Activation out(shape.count() / 4);
    Values x = reference::random_values(shape.count(), 7);
    for (double& v : x)
      v = static_cast<double>(static_cast<float>(3 * v + 1));    // as floats: equal ties
    const Values gamma = reference::random_values(channels, 8);  // of both signs
    const Values beta = reference::random_values(channels, 9);
    const Values objective = reference::random_values(shape.count() / 4, 10);
    fill(in.value, x);
    bench.set(name + ".weight", gamma);
    bench.set(name + ".bias", beta);
    const auto f = [&](const Values& input, const Values& g, const Values& b) {
      return reference::dot(reference::bn_relu_pool(shape, input, g, b), objective);
    };
    const auto block = bn_relu_pool(bench.layout, name, shape, in.edge(), out.edge());
    bench.run(*block, out, objective);
    check_values(out.value.data(), reference::bn_relu_pool(shape, x, gamma, beta), 1e-5);
    check_gradient(
        bench.gradient(name + ".weight"),
        [&](const Values& v) { return f(x, v, beta); },
        gamma,
        1e-4);
    check_gradient(
        bench.gradient(name + ".bias"),
        [&](const Values& v) { return f(x, gamma, v); },
        beta,
        1e-4);
    check_gradient(
        in.gradient.data(), [&](const Values& v) { return f(v, gamma, beta); }, x, 1e-4);
  }
}

TEST_CASE("a window without a positive value passes no gradient but the statistics'") {
  const Images shape{1, 16, 2, 2};
  Buffer x(64);
  Buffer d_x(64);
  std::iota(x.data(), x.data() + 64, 0.0F);
  const std::vector<float> gamma(16, 1.0F);
  const std::vector<float> beta(16, -100.0F);
  std::vector<float> mean(16);
  std::vector<float> variance(16);
  std::vector<float> d_gamma(16, 9.0F);
  std::vector<float> d_beta(16, 9.0F);
  const std::vector<float> d_out(16, 1.0F);
  channel_statistics(shape, x.data(), mean.data(), variance.data());
  bn_relu_pool_backward(shape,
                        x.data(),
                        {gamma.data(), beta.data(), mean.data(), variance.data()},
                        d_out.data(),
                        d_x.data(),
                        d_gamma.data(),
                        d_beta.data());
  for (int i = 0; i < 64; ++i) CHECK(d_x.data()[i] == 0.0F);
  CHECK(d_beta[3] == 0.0F);
  CHECK(d_gamma[3] == 0.0F);
}

TEST_CASE("fully connected layers and their gradients, with and without ReLU") {
  for (const bool relu : {true, false}) {
    const int inputs = relu ? k_cnn2_features : k_cnn2_hidden;
    const int outputs = relu ? k_cnn2_hidden : k_classes;
    const std::string name = relu ? "fc1" : "fc2";
    Bench bench(cnn2().layout);
    Activation in(static_cast<std::size_t>(k_batch * inputs));
    Activation out(static_cast<std::size_t>(k_batch * outputs));
    const Values x = reference::random_values(static_cast<std::size_t>(k_batch * inputs), 11);
    const Values w = reference::random_values(static_cast<std::size_t>(outputs * inputs), 12);
    const Values b = reference::random_values(static_cast<std::size_t>(outputs), 13);
    const Values objective =
        reference::random_values(static_cast<std::size_t>(k_batch * outputs), 14);
    fill(in.value, x);
    bench.set(name + ".weight", w);
    bench.set(name + ".bias", b);
    const auto f = [&](const Values& input, const Values& weights, const Values& bias) {
      return reference::dot(reference::linear(k_batch, inputs, outputs, input, weights, bias, relu),
                            objective);
    };
    const auto block =
        linear(bench.layout, name, {k_batch, inputs, outputs, relu}, in.edge(), out.edge());
    bench.run(*block, out, objective);
    check_values(
        out.value.data(), reference::linear(k_batch, inputs, outputs, x, w, b, relu), 1e-4);
    check_gradient(
        bench.gradient(name + ".weight"), [&](const Values& v) { return f(x, v, b); }, w, 1e-5);
    check_gradient(
        bench.gradient(name + ".bias"), [&](const Values& v) { return f(x, w, v); }, b, 1e-5);
    check_gradient(
        in.gradient.data(), [&](const Values& v) { return f(v, w, b); }, x, 1e-5);
  }
}

TEST_CASE("softmax cross-entropy, its gradient and its count, also for large logits") {
  const std::vector<std::uint32_t> labels{3, 0, 9};
  Values logits = reference::random_values(30, 15);
  logits[3] = 5;   // right
  logits[17] = 6;  // wrong
  std::vector<float> ours(logits.begin(), logits.end());
  std::vector<float> gradient(30);
  const HeadResult result =
      cross_entropy(ours.data(), labels.data(), 3, 10, {0.5F, 0}, gradient.data());
  CHECK(static_cast<double>(result.loss) ==
        doctest::Approx(reference::cross_entropy(logits, labels, 10)).epsilon(1e-6));
  check_gradient(
      gradient.data(),
      [&](const Values& v) { return 0.5 * reference::cross_entropy(v, labels, 10); },
      logits,
      1e-5);
  CHECK(result.correct >= 1);
  CHECK(result.correct <= 2);
  for (float& v : ours) v *= 1000;
  CHECK(std::isfinite(cross_entropy(ours.data(), labels.data(), 3, 10, {}, gradient.data()).loss));
}

TEST_CASE("label smoothing mixes each label's loss with the mean over all classes") {
  const std::vector<std::uint32_t> labels{3, 0, 9};
  constexpr double k_smoothing = 0.1;
  const Values logits = reference::random_values(30, 16);
  const auto expected = [&](const Values& v) {
    double loss = (1 - k_smoothing) * reference::cross_entropy(v, labels, 10);
    for (std::uint32_t c = 0; c < 10; ++c)
      loss += k_smoothing / 10 * reference::cross_entropy(v, {c, c, c}, 10);
    return loss;
  };
  const std::vector<float> ours(logits.begin(), logits.end());
  std::vector<float> gradient(30);
  const Objective objective{1, static_cast<float>(k_smoothing)};
  const auto result = cross_entropy(ours.data(), labels.data(), 3, 10, objective, gradient.data());
  CHECK(static_cast<double>(result.loss) == doctest::Approx(expected(logits)).epsilon(1e-6));
  check_gradient(gradient.data(), expected, logits, 1e-5);
}

namespace {

// Five generated images.
struct FiveImages {
  std::vector<std::uint8_t> pixels = std::vector<std::uint8_t>(5 * k_pixels);
  std::vector<std::uint8_t> labels{1, 2, 3, 4, 5};

  FiveImages() {
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<std::uint8_t>(dts::mix(i) & 0xff);
  }

  [[nodiscard]] Samples view() const { return {pixels.data(), labels.data(), 5}; }
};

const std::vector<std::size_t> k_three{4, 0, 2};

}  // namespace

TEST_CASE(
    "a network gives the same bits twice and on another thread, and evaluates its own "
    "predictions") {
  const Layout& layout = cnn2().layout;
  Buffer weights(layout.parameter_floats);
  Buffer running(layout.statistic_floats);
  initial_weights(layout, 1, weights.data());
  initial_statistics(layout, running.data());
  const FiveImages images;
  Buffer first(layout.sum_floats());
  Buffer second(layout.sum_floats());
  const auto train = [&](Buffer& sums) {
    auto network = Network::create(cnn2(), 3);
    REQUIRE(network);
    (*network)->prepare(weights.data());
    for (int i = 0; i < 2; ++i)
      (*network)->train(images.view(), k_three, {weights.data(), {0.1F, 0}}, sums.data());
  };
  train(first);
  std::thread([&] { train(second); }).join();
  CHECK(std::equal(first.data(), first.data() + first.size(), second.data()));
  auto network = Network::create(cnn2(), 3);
  REQUIRE(network);
  (*network)->prepare(weights.data());
  const Score whole = (*network)->evaluate(images.view(), 0, 3, weights.data(), running.data());
  Score apart;
  for (std::size_t i = 0; i < 3; ++i)
    apart += (*network)->evaluate(images.view(), i, 1, weights.data(), running.data());
  CHECK(whole.correct == apart.correct);
  CHECK(whole.loss == apart.loss);
  CHECK(whole.not_finite == 0);
}

TEST_CASE("losses that are not finite are counted, and are in no sum") {
  const Model model = make_model("mlp,num_hidden_layers=0").value();
  Buffer weights(model.layout.parameter_floats);
  std::fill_n(weights.data(), weights.size(), 3e38F);
  Buffer running(model.layout.statistic_floats);
  const FiveImages images;
  auto network = Network::create(model, 3);
  REQUIRE(network);
  (*network)->prepare(weights.data());
  const Score score = (*network)->evaluate(images.view(), 0, 3, weights.data(), running.data());
  CHECK(score.not_finite == 3);
  CHECK(score.loss == 0);
}

TEST_CASE("each range of gradients is announced once, when it is final, and all of them are") {
  const FiveImages images;
  for (const char* const words : {"cnn2",
                                  "mlp",
                                  "mlp,num_hidden_layers=0",
                                  "mlp,hidden_size=9",
                                  "resnet,depth=14",
                                  "resnet,depth=8,width=32"}) {
    const Model model = make_model(words).value();
    check_readiness(model, images.view(), k_three);
  }
}

TEST_CASE("a model that is unknown, or has no such size, is refused by name") {
  const auto error_of = [](const char* words) { return make_model(words).error().message; };
  CHECK(error_of("cnn3") == "unknown model 'cnn3'");
  CHECK(error_of("cnn2:large") == "cnn2 has no size 'large'");
  CHECK(error_of("cnn2,hidden_size=3") == "cnn2: 'hidden_size=3' is not valid");
  for (const char* const wrong :
       {"hidden_size", "hidden_size=", "hidden_size=0.5", "hidden_size=0"})
    CHECK(error_of((std::string("mlp,") + wrong).c_str()) ==
          "mlp: '" + std::string(wrong) + "' is not valid");
  CHECK(make_model("mlp,hidden_size=65536,num_hidden_layers=256").value().layout.parameter_floats ==
        1095285473296);
  CHECK(error_of("gpt2,n_embd=40") ==
        "gpt2: n_embd 40 and n_inner 160 must be multiples of 16, and n_embd of n_head 12");
  CHECK(error_of("resnet,depth=21").find("resnet: depth=21,") == 0);
  CHECK(error_of("resnet,num_channels=3").find("image_size=28 is not possible") !=
        std::string::npos);
  CHECK(make_model("resnet:20").value().layout.parameters.size() == 19 * 3 + 2);
  CHECK(make_model("llama").value().layout.parameter_floats == 6738415616);  // as Llama 2 7B
  CHECK(error_of("llama,hidden_size=2147483648") == "llama: 'hidden_size=2147483648' is not valid");
  // The largest value of each size: no product overflows.
  CHECK(error_of("llama,vocab_size=16777216,hidden_size=65536,intermediate_size=1048576,"
                 "num_hidden_layers=1024,num_attention_heads=1024,head_dim=65536") ==
        "llama has 18227703899553792 parameters, at most 1099511627776 are possible");
  CHECK(make_model("gpt2").value().layout.parameters.size() == 2 + 12 * 12 + 2);
  CHECK(make_model("mlp,hidden_size=64").value().sizes == "hidden_size=64,num_hidden_layers=2");
}
