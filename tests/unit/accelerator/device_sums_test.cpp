// SPDX-License-Identifier: Apache-2.0
// Whole models on the host device against the processor's backend: sums of shards, of runs and
// along the tree, evaluation, and the options of a step.
#include "core/train/accelerator/device_sums.hpp"

#include "tests/support/sanitized.hpp"
#include "tests/unit/accelerator/step.hpp"

using namespace dts::train;
using accelerator::DeviceSums;
using accelerator::k_micro;
using accelerator::k_shards;
using accelerator::k_small;
using accelerator::Step;

namespace {

// For one tensor: the norm of the difference, relative to that of the values.
double relative_difference(const float* values, const float* expected, std::size_t count) {
  double off = 0, all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double difference = static_cast<double>(values[i]) - static_cast<double>(expected[i]);
    off += difference * difference;
    all += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return std::sqrt(off / all);
}

// Two sums of n terms in different orders differ by about epsilon sqrt(n) (N. J. Higham and T.
// Mary, "A New Approach to Probabilistic Rounding Error Analysis", 2019). The longest sums are
// those over rows, and those of products with as many terms as layers are wide; a gradient has
// passed each layer twice.
double tolerance(const Model& model) {
  const int pixels = model.reads.format->side * model.reads.format->side;
  const double terms = model.reads.what == Reads::What::images
                           ? k_micro * pixels
                           : std::max(80, k_micro * model.reads.context);
  return std::numeric_limits<float>::epsilon() * std::sqrt(terms);
}

}  // namespace

TEST_CASE("a step's sums on a device are those of the processor but for roundings") {
  for (const char* const words :
       {k_small,
        // Three queries to each of two heads of keys; the heads together are wider than the model.
        "llama,vocab_size=61,max_position_embeddings=9,hidden_size=48,intermediate_size=80,num_"
        "hidden_layers=2,num_attention_heads=6,num_key_value_heads=2,head_dim=10",
        "llama,vocab_size=17,max_position_embeddings=5,hidden_size=16,intermediate_size=32,num_"
        "hidden_layers=1,num_attention_heads=4,num_key_value_heads=1,tie_word_embeddings=1",
        "llama,vocab_size=61,max_position_embeddings=33,hidden_size=32,intermediate_size=48,num_"
        "hidden_layers=3,num_attention_heads=2",
        "gpt2,vocab_size=17,n_positions=5,n_embd=16,n_layer=0,n_head=1",
        // Vocabularies whose rows are not a multiple of 64.
        "gpt2,vocab_size=131,n_positions=7,n_embd=32,n_layer=1,n_head=2",
        "llama,vocab_size=67,max_position_embeddings=5,hidden_size=16,intermediate_size=32,num_"
        "hidden_layers=1,num_attention_heads=2",
        "gpt2,vocab_size=256,n_positions=33,n_embd=64,n_layer=3,n_head=2",
        "cnn2",
        "mlp,hidden_size=40",
        "resnet:20,depth=8",
        "resnet:cifar20,depth=8"})
    for (const float smoothing : {0.0F, 0.1F}) {
      // Of the kernels, only cross-entropy depends on it, which has a test of its own.
      if (dts::tests::k_sanitized && smoothing == 0) continue;
      CAPTURE(words);
      Step step(words);
      step.input.smoothing = smoothing;
      step.input.with_squares = true;
      const Layout& layout = step.model.layout;
      const std::vector<float> expected =
          step.whole(step.processor()->sum(step.input, {0, k_shards}));
      const std::vector<float> sums = step.whole(step.device()->sum(step.input, {0, k_shards}));
      for (const Tensor& tensor : layout.parameters) {
        CAPTURE(tensor.name);
        CHECK(relative_difference(&sums[tensor.offset], &expected[tensor.offset], tensor.count) <
              tolerance(step.model));
      }
      for (const Scalar which : {Scalar::loss, Scalar::squares}) {
        const auto at = layout.scalar(which);
        CHECK(sums[at] == doctest::Approx(expected[at]).epsilon(1e-6));
      }
      CHECK(sums[layout.scalar(Scalar::correct)] == expected[layout.scalar(Scalar::correct)]);
      for (std::size_t i = 0; i < layout.sum_floats(); ++i)
        if (expected[i] == 0) CHECK(sums[i] == 0);  // padding and flags
    }
}

TEST_CASE("no cut into runs changes a bit of a device's sums, nor does the order of threads") {
  const Step step;
  const auto device = step.device();
  const std::vector<float> expected = step.whole(device->sum(step.input, {0, k_shards}));
  CHECK(step.whole(device->sum(step.input, {0, k_shards})) == expected);
  host_device::set_order(host_device::Order::descending);
  CHECK(step.whole(step.device()->sum(step.input, {0, k_shards})) == expected);
  host_device::set_order(host_device::Order::ascending);
  for (int cut = 1; cut < k_shards; ++cut)
    for (int second = cut; second < k_shards; ++second) {
      const auto left = step.device();
      const auto middle = step.device();
      Partials all = left->sum(step.input, {0, cut});
      all.merge(middle->sum(step.input, {cut, second}));
      all.merge(device->sum(step.input, {second, k_shards}));
      CHECK(step.whole(all) == expected);
    }
}

TEST_CASE("a device's evaluation is that of the processor, whoever evaluates which part") {
  const Step step;
  const auto device = step.device();
  const auto processor = step.processor();
  const Samples samples = step.samples();
  const Score expected = processor->evaluate(samples, step.weights.data(), nullptr, 1, 0);
  const Score all = device->evaluate(samples, step.weights.data(), nullptr, 1, 0);
  CHECK(all.correct == expected.correct);
  CHECK(static_cast<double>(all.loss) ==
        doctest::Approx(static_cast<double>(expected.loss)).epsilon(1e-6));
  Score apart;
  for (int part = 0; part < 3; ++part)
    apart += device->evaluate(samples, step.weights.data(), nullptr, 3, part);
  CHECK(apart.correct == all.correct);
  CHECK(apart.loss == all.loss);
}

TEST_CASE("gradients that leave are those of the end, in their order, and memory is given back") {
  Step step;
  const auto device = step.device();
  const std::size_t count = step.model.layout.parameter_floats;
  for (const bool reuses_memory : {false, true}) {
    const Span run = reuses_memory ? Span{2, 3} : Span{1, k_shards};
    step.input.buckets = nullptr;
    std::vector<std::vector<float>> expected;
    for (const auto& [node, sums] : device->sum(step.input, run))
      expected.emplace_back(sums, sums + step.model.layout.sum_floats());
    GradientBuckets buckets;
    for (std::size_t cut = 5; cut > 0; --cut)
      buckets.ranges.push_back({count / 16 * (cut - 1) / 5 * 16, count / 16 * cut / 5 * 16});
    buckets.reuses_memory = reuses_memory;
    std::size_t left = 0;
    buckets.ready = [&](const Partials& partials) {
      const Range range = buckets.ranges[left++];
      REQUIRE(partials.size() == expected.size());
      std::size_t at = 0;
      for (const auto& [node, partial] : partials) {
        const std::vector<float>& one = expected[at++];
        CHECK(std::equal(partial + range.begin, partial + range.end, one.data() + range.begin));
      }
    };
    step.input.buckets = &buckets;
    const auto own = step.device();
    for (int repeat = 0; repeat < 2; ++repeat) {
      left = 0;
      const Partials all = own->sum(step.input, run);
      CHECK(left == buckets.ranges.size());
      CHECK(std::equal(all.begin()->second + count,
                       all.begin()->second + step.model.layout.sum_floats(),
                       expected.front().data() + count));
    }
    left = 0;
    expected.clear();
    CHECK(own->sum(step.input, {0, 0}).empty());  // a rank without a shard
    CHECK(left == buckets.ranges.size());
  }
}

TEST_CASE("weights that are only there within a window give the same sums and scores") {
  Step step;
  const auto device = step.device();
  const Partials first = device->sum(step.input, {2, 3});
  const std::size_t count = step.model.layout.sum_floats();
  const std::vector<float> expected(first.begin()->second, first.begin()->second + count);
  const Score score = device->evaluate(step.samples(), step.weights.data(), nullptr, 1, 0);
  // The window's parts do not match tensors. Absent weights are NaN.
  std::vector<std::size_t> begins;
  const std::size_t floats = step.model.layout.parameter_floats;
  for (std::size_t at = 0; at < floats; at += 1600) begins.push_back(at);
  begins.push_back(floats);
  Buffer there(floats);
  const auto part = [&](int index) {
    const auto i = static_cast<std::size_t>(index);
    return std::pair(begins[i], begins[i + 1] - begins[i]);
  };
  const auto drop = [&](int index) {
    std::fill_n(there.data() + part(index).first,
                part(index).second,
                std::numeric_limits<float>::quiet_NaN());
  };
  for (int i = 0; i + 1 < static_cast<int>(begins.size()); ++i) drop(i);
  Window window({begins,
                 [&](int index) {
                   const auto [begin, size] = part(index);
                   std::copy_n(step.weights.data() + begin, size, there.data() + begin);
                 },
                 drop,
                 1});
  step.input.window = &window;
  step.input.weights = there.data();
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto own = step.device();
    const Partials sums = own->sum(step.input, {2, 3});
    CHECK(std::equal(expected.begin(), expected.end(), sums.begin()->second));
    CHECK(own->sum(step.input, {3, 3}).empty());
    Score apart;
    for (int rank = 0; rank < 2; ++rank)
      apart += own->evaluate_within(window, step.samples(), there.data(), nullptr, 2, rank);
    CHECK(apart.loss == score.loss);
    CHECK(apart.correct == score.correct);
  }
}

TEST_CASE("a shard that a device computes once more has the checksum of the first time") {
  Step step;
  step.input.audited = 3;
  const auto owner = step.device();
  const auto auditor = step.device();
  const std::size_t count = step.model.layout.sum_floats();
  const Partials sums = owner->sum(step.input, {2, k_shards});
  const std::vector<float> before(sums.begin()->second, sums.begin()->second + count);
  const std::uint64_t computed = owner->audited();
  CHECK(computed != 0);
  CHECK(owner->recompute(step.input) == computed);
  CHECK(std::equal(before.begin(), before.end(), sums.begin()->second));
  (void)auditor->sum(step.input, {0, 2});
  CHECK(auditor->audited() == 0);
  CHECK(auditor->recompute(step.input) == computed);
  step.input.miscomputed = 7;
  CHECK(auditor->recompute(step.input) != computed);
  step.input.miscomputed.reset();
  step.input.nan_shard = 3;
  const Partials spoilt = auditor->sum(step.input, {3, 4});
  CHECK(std::isnan(spoilt.begin()->second[step.model.layout.scalar(Scalar::loss)]));
}

TEST_CASE("what a device has no memory for is an error before the first step") {
  const Step step;
  dttrain_device table = *host_device::table();
  table.allocate = [](dttrain_context* context, size_t bytes, void** at) -> const char* {
    return bytes > 20000 ? "out of memory" : host_device::table()->allocate(context, bytes, at);
  };
  dttrain_answer answer{};
  const auto made =
      DeviceSums::create(step.model,
                         std::make_unique<accelerator::Queue>(table, table.open(0, &answer)),
                         {.shards = k_shards, .own_shards = k_shards, .micro_batch = k_micro});
  REQUIRE_FALSE(made);
  const std::string expected =
      "cannot build gpt2 for 2 samples per shard on the device: out of memory";
  CHECK(made.error().message.find(expected) == 0);
  CHECK(made.error().message.find(" bytes more than the ") != std::string::npos);
  // Nor enough for the moments of the update.
  static std::size_t most = 0;
  most = (step.model.layout.sum_floats() + 1) * sizeof(float);
  table.allocate = [](dttrain_context* context, size_t bytes, void** at) -> const char* {
    return bytes > most ? "out of memory" : host_device::table()->allocate(context, bytes, at);
  };
  for (const std::size_t moments : {0U, 2U}) {
    const auto other =
        DeviceSums::create(step.model,
                           std::make_unique<accelerator::Queue>(table, table.open(0, &answer)),
                           {.shards = k_shards,
                            .own_shards = k_shards,
                            .micro_batch = k_micro,
                            .own_floats = step.model.layout.parameter_floats,
                            .moments = moments});
    CHECK(other.has_value() == (moments == 0));
    if (!other) CHECK(other.error().message.find(expected) == 0);
  }
}

TEST_CASE("a device that fails in a step tells who can end the process") {
  static bool is_broken = false;
  is_broken = false;
  const Step step;
  dttrain_device table = *host_device::table();
  table.multiply = [](dttrain_context* context, const dttrain_product* product) -> const char* {
    return is_broken ? "it is gone" : host_device::table()->multiply(context, product);
  };
  dttrain_answer answer{};
  std::string message;
  const auto device =
      DeviceSums::create(step.model,
                         std::make_unique<accelerator::Queue>(table, table.open(0, &answer)),
                         {.shards = k_shards,
                          .own_shards = k_shards,
                          .micro_batch = k_micro,
                          .failed = [&](const std::string& what) { message = what; }})
          .value();
  CHECK(device->sum(step.input, {0, 1}).size() == 1);
  is_broken = true;
  CHECK_THROWS_AS((void)device->sum(step.input, {0, 1}), accelerator::DeviceError);
  CHECK(message == "it is gone");
}
