// SPDX-License-Identifier: Apache-2.0
// A GELU computed by products, against a GELU with kernels of its own.
#include "core/train/accelerator/device_blocks.hpp"
#include "tests/unit/accelerator/device.hpp"

#include <stdexcept>
#include <string>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

constexpr int k_rows = 521, k_in = 16, k_inner = 24, k_out = 8;

Layout two_matrices() {
  Layout layout;
  layout.add_parameter({.name = "a.weight", .shape = {k_in, k_inner}});
  layout.add_parameter({.name = "a.bias", .shape = {k_inner}});
  layout.add_parameter({.name = "b.weight", .shape = {k_inner, k_out}});
  return layout;
}

// A projection, a GELU and a second projection on the host device.
class Branch {
 public:
  // `is_given`: the GELU reads the output of the first projection, otherwise a copy of it.
  // `is_read`: the second projection reads the output of the GELU, otherwise a copy of that.
  Branch(bool is_given, bool is_read)
      : x_(edge(k_in)),
        inner_(edge(k_inner)),
        taken_(is_given ? inner_ : edge(k_inner)),
        curved_(edge(k_inner)),
        read_(is_read ? curved_ : edge(k_inner)),
        y_(edge(k_out)) {
    queue_->wait();  // for the zeros of allocate()
    fill(x_.value, floats_of(k_rows, k_in), 1);
    fill(y_.gradient, floats_of(k_rows, k_out), 2);
    weights_ = noise(layout_.parameter_floats, 3, 0.5F);
    sums_ = poisoned(layout_.sum_floats());
    first_ = blocks_.projection(
        layout_, {"a.weight", "a.bias", k_rows, k_in, k_inner, true}, x_, inner_);
    gelu_ = blocks_.gelu(floats_of(k_rows, k_inner), taken_, curved_);
    second_ =
        blocks_.projection(layout_, {"b.weight", "", k_rows, k_inner, k_out, true}, read_, y_);
  }

  void run() {
    const Pass pass{true, weights_.data(), nullptr, sums_.data()};
    first_->forward(pass);
    copy(inner_.value, taken_.value);
    gelu_->forward(pass);
    copy(curved_.value, read_.value);
    second_->forward(pass);
    second_->backward(pass);
    copy(read_.gradient, curved_.gradient);
    gelu_->backward(pass);
    copy(taken_.gradient, inner_.gradient);
    first_->backward(pass);
    queue_->wait();
  }

  [[nodiscard]] DeviceBlocks& blocks() { return blocks_; }

  [[nodiscard]] const Layout& layout() const { return layout_; }

  [[nodiscard]] Edge inner() const { return inner_; }

  [[nodiscard]] Edge curved() const { return curved_; }

  [[nodiscard]] Edge edge(int width) {
    const std::size_t count = floats_of(k_rows, width);
    return {blocks_.floats(count), blocks_.floats(count)};
  }

  // All results.
  [[nodiscard]] Floats results() const {
    Floats all(y_.value, y_.value + floats_of(k_rows, k_out));
    all.insert(all.end(), x_.gradient, x_.gradient + floats_of(k_rows, k_in));
    all.insert(all.end(), sums_.begin(), sums_.begin() + layout_.parameter_floats);
    return all;
  }

 private:
  static void fill(float* to, std::size_t count, std::uint64_t seed) {
    const Floats values = noise(count, seed, 2);
    std::copy(values.begin(), values.end(), to);
  }

  void copy(const float* from, float* to) {
    if (from != to) queue_->launch(Copy<float>{{floats_of(k_rows, k_inner)}, from, to});
  }

  std::unique_ptr<Queue> queue_ = new_queue();
  DeviceBlocks blocks_{*queue_, Precision::fp32};
  Layout layout_ = two_matrices();
  Edge x_, inner_, taken_, curved_, read_, y_;
  Floats weights_, sums_;
  std::unique_ptr<Block> first_, gelu_, second_;
};

Floats results(bool is_given, bool is_read) {
  Branch branch(is_given, is_read);
  branch.run();
  return branch.results();
}

}  // namespace

TEST_CASE("a GELU is the same whether products compute it or kernels of its own") {
  const Floats kernels = results(false, false);
  const auto is_nan = [](float value) { return std::isnan(value); };
  CHECK(std::count_if(kernels.begin(), kernels.end(), is_nan) == 8);  // padding after the bias
  for (const auto& kind : {std::pair{true, true}, {true, false}, {false, true}}) {
    const bool is_given = kind.first, is_read = kind.second;
    CAPTURE(is_given);
    CAPTURE(is_read);
    const Floats given = results(is_given, is_read);
    REQUIRE(given.size() == kernels.size());
    const auto bound = [](float value) { return 1e-6F * (1 + std::abs(value)); };
    int wrong = 0;
    for (std::size_t i = 0; i < given.size(); ++i)
      if (std::isnan(kernels[i]) ? !std::isnan(given[i])
                                 : !(std::abs(given[i] - kernels[i]) < bound(kernels[i])))
        ++wrong;
    CHECK(wrong == 0);
  }
}

TEST_CASE("what products cannot compute of a GELU is refused when blocks are made") {
  const std::size_t count = floats_of(k_rows, k_inner);
  Branch branch(true, true);
  CHECK_THROWS_AS((void)branch.blocks().gelu(count, branch.inner(), branch.edge(k_inner)),
                  std::logic_error);
  Branch other(true, true);
  CHECK_THROWS_AS((void)other.blocks().projection(other.layout(),
                                                  {"b.weight", "", k_rows, k_inner, k_out, true},
                                                  other.curved(),
                                                  other.edge(k_out)),
                  std::logic_error);
}
