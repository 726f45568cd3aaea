// SPDX-License-Identifier: Apache-2.0
// The sums of a step have the same bits for every number of threads and every division into runs.
#include "core/train/backend/shard_sums.hpp"

#include "core/train/data/sampler.hpp"
#include "tests/unit/train/cnn2.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace dts::train;

namespace {

constexpr int k_shards = 6;  // not a power of two
constexpr int k_micro = 2;

struct Data {
  std::vector<std::uint8_t> images;
  std::vector<std::uint8_t> labels;

  explicit Data(std::size_t count) : images(count * k_pixels), labels(count) {
    for (std::size_t i = 0; i < images.size(); ++i)
      images[i] = static_cast<std::uint8_t>(dts::mix(i) & 0xff);
    for (std::size_t i = 0; i < count; ++i) labels[i] = static_cast<std::uint8_t>(i % 10);
  }

  [[nodiscard]] Samples view() const { return {images.data(), labels.data(), labels.size()}; }
};

struct Step {
  Layout layout = cnn2().layout;
  Data data{40};
  Buffer weights{layout.parameter_floats};
  StepInput input;

  Step() {
    initial_weights(layout, 3, weights.data());
    input = {data.view(), weights.data(), 9, 4, k_shards * k_micro};
  }

  [[nodiscard]] std::unique_ptr<ShardSums> make(int threads) const {
    auto sums = ShardSums::create(cnn2(), k_shards, k_micro, threads);
    REQUIRE(sums);
    return std::move(*sums);
  }

  [[nodiscard]] std::vector<float> whole(const Partials& partials) const {
    const float* const sum = combine({0, k_shards}, partials, 0, layout.sum_floats());
    REQUIRE(sum != nullptr);
    return {sum, sum + layout.sum_floats()};
  }
};

}  // namespace

TEST_CASE("threads and runs do not change a bit of a step's sums") {
  const Step step;
  const auto alone = step.make(1);
  const std::vector<float> expected = step.whole(alone->sum(step.input, {0, k_shards}));
  CHECK(std::any_of(expected.begin(), expected.end(), [](float v) { return v != 0.0F; }));
  for (const int threads : {2, 3, 8}) {
    const auto sums = step.make(threads);
    CHECK(step.whole(sums->sum(step.input, {0, k_shards})) == expected);
    CHECK(step.whole(sums->sum(step.input, {0, k_shards})) ==
          expected);  // with its buffers used again
  }
  const auto left = step.make(2);
  const auto right = step.make(1);
  Partials both = left->sum(step.input, {0, 2});
  both.merge(right->sum(step.input, {2, k_shards}));
  CHECK(step.whole(both) == expected);
}

TEST_CASE("gradients that are handed over early are those of the end, in their order") {
  Step step;
  const auto alone = step.make(1);
  const std::vector<float> expected = step.whole(alone->sum(step.input, {0, k_shards}));
  const std::size_t count = step.layout.parameter_floats;
  for (const std::size_t cuts : {1U, 2U, 7U, 50U})
    for (const int threads : {1, 2, 3, 8})
      for (const Span run : {Span{0, k_shards}, Span{1, k_shards}, Span{2, 3}}) {
        CAPTURE(cuts);
        CAPTURE(threads);
        const auto sums = step.make(threads);
        std::vector<std::vector<float>> left;
        int polls = 0;
        GradientBuckets buckets;
        for (std::size_t cut = cuts; cut > 0; --cut)
          buckets.ranges.push_back(
              {count / 16 * (cut - 1) / cuts * 16, count / 16 * cut / cuts * 16});
        buckets.ready = [&](const Partials& partials) {
          const Range range = buckets.ranges[left.size()];
          left.emplace_back();
          for (const auto& [node, partial] : partials)
            left.back().insert(left.back().end(), partial + range.begin, partial + range.end);
        };
        buckets.progress = [&] { ++polls; };
        step.input.buckets = &buckets;
        step.input.miscomputed.reset();
        const Partials all = sums->sum(step.input, run);
        REQUIRE(left.size() == cuts);
        for (std::size_t cut = 0; cut < cuts; ++cut) {
          std::vector<float> now;
          for (const auto& [node, partial] : all)
            now.insert(
                now.end(), partial + buckets.ranges[cut].begin, partial + buckets.ranges[cut].end);
          CHECK(left[cut] == now);
        }
        if (threads == 1 && cuts >= 7) CHECK(polls > 0);  // not only at the end
        if (run == Span{0, k_shards}) CHECK(step.whole(all) == expected);
        left.clear();
        polls = 0;
        step.input.miscomputed = 7;  // then nothing is handed over early
        (void)sums->sum(step.input, run);
        CHECK(left.size() == cuts);
        CHECK(polls == 0);
      }
}

TEST_CASE("threads and runs do not change a bit of a residual network's sums, augmented") {
  const Model model = make_model("resnet,depth=8").value();
  const Data data(40);
  Buffer weights(model.layout.parameter_floats);
  initial_weights(model.layout, 3, weights.data());
  StepInput input{data.view(), weights.data(), 9, 4, k_shards * k_micro};
  const auto sums_of = [&](int threads) {
    const auto sums = ShardSums::create(model, k_shards, k_micro, threads).value();
    const Partials parts = sums->sum(input, {0, k_shards});
    const std::size_t count = model.layout.sum_floats();
    const float* const sum = combine({0, k_shards}, parts, 0, count);
    REQUIRE(sum != nullptr);
    return std::vector<float>(sum, sum + count);
  };
  const std::vector<float> plain = sums_of(1);
  input.augmentation = {true, true};
  const std::vector<float> expected = sums_of(1);
  CHECK(expected != plain);
  for (const int threads : {2, 3}) CHECK(sums_of(threads) == expected);
}

TEST_CASE(
    "a shard computed once more has the checksum of the first time, and the step's sums stay") {
  Step step;
  step.input.audited = 3;
  const auto owner = step.make(2);
  const Partials sums = owner->sum(step.input, {2, k_shards});
  const std::uint64_t computed = owner->audited();
  const std::vector<float> first(sums.begin()->second,
                                 sums.begin()->second + step.layout.sum_floats());
  CHECK(computed != 0);
  CHECK(owner->recompute(step.input) == computed);
  CHECK(std::equal(first.begin(), first.end(), sums.begin()->second));
  const auto auditor = step.make(1);
  (void)auditor->sum(step.input, {0, 2});
  CHECK(auditor->audited() == 0);
  CHECK(auditor->recompute(step.input) == computed);
  step.input.miscomputed = 7;
  CHECK(auditor->recompute(step.input) != computed);
}

TEST_CASE("what is looked at of one shard is its own, though gradients are handed over early") {
  Step step;
  const Span run{0, 2};  // a shard for each of two threads
  const auto squares_of = [&](const Partials& sums) {
    return sums.begin()->second[step.layout.scalar(Scalar::squares)];
  };
  GradientBuckets buckets{{{0, step.layout.parameter_floats}}, [](const Partials&) {}, [] {}};
  step.input.audited = 0;
  step.input.with_squares = true;
  const auto alone = step.make(1);
  const float squares = squares_of(alone->sum(step.input, run));
  const std::uint64_t audited = alone->audited();
  step.input.buckets = &buckets;
  const auto both = step.make(2);
  for (int repeat = 0; repeat < 50; ++repeat) {
    CHECK(squares_of(both->sum(step.input, run)) == squares);
    CHECK(both->audited() == audited);
  }
}

TEST_CASE("correct predictions are counted once whoever counts them") {
  const Step step;
  Buffer running(step.layout.statistic_floats);
  initial_statistics(step.layout, running.data());
  const auto one = step.make(1);
  const auto two = step.make(2);
  const Score all = one->evaluate(step.data.view(), step.weights.data(), running.data(), 1, 0);
  Score apart;
  for (int part = 0; part < 3; ++part)
    apart += two->evaluate(step.data.view(), step.weights.data(), running.data(), 3, part);
  CHECK(all.correct == apart.correct);
  CHECK(all.loss == apart.loss);
  CHECK(all.correct > 0);
  CHECK(all.loss > 0);
}
