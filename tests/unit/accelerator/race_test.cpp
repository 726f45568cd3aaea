// SPDX-License-Identifier: Apache-2.0
// The order of work on a device and on the host: the recorder itself, and complete steps with it.
#include "tests/support/race_recorder.hpp"
#include "tests/support/recording_device.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/accelerator/step.hpp"

#include <functional>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

constexpr const char* k_tiny_gpt2 =
    "gpt2,vocab_size=19,n_positions=5,n_embd=16,n_layer=1,n_head=2,n_inner=32";
constexpr const char* k_tiny_llama =
    "llama,vocab_size=19,max_position_embeddings=5,hidden_size=16,intermediate_size=32,num_hidden_"
    "layers=1,num_attention_heads=4,num_key_value_heads=2";

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

// The chunks of one of `ranks` ranks: every `ranks`-th.
ChunkUpdate::Owned owned_by_one_of(int ranks, const char* optimizer, std::size_t floats) {
  ChunkUpdate::Owned owned{find_optimizer(optimizer), {}, 0};
  constexpr std::size_t k_chunk = 1024;
  for (std::size_t at = 0; at < floats; at += k_chunk * static_cast<std::size_t>(ranks)) {
    const std::size_t count = std::min(k_chunk, floats - at);
    owned.chunks.push_back({at, owned.floats, static_cast<std::uint32_t>(count), 1});
    owned.floats += count;
  }
  return owned;
}

// Three chunks for an evaluation, the last of which is smaller.
Samples few_samples(const Step& step) {
  Samples few = step.samples();
  few.count = 2 * k_micro + 1;
  return few;
}

// Two complete steps: sums of shards, an update with clipping, an evaluation.
void train_twice(const Step& step,
                 Precision precision,
                 std::unique_ptr<Queue> queue,
                 ActivationStorage storage = {}) {
  const auto device = step.device_of(std::move(queue), precision, storage);
  const std::size_t floats = step.model.layout.parameter_floats;
  ChunkUpdate& update = *device->update();
  const ChunkUpdate::Owned owned = owned_by_one_of(1, "lamb", floats);
  Floats moments(2 * floats);
  update.begin(owned, step.weights.data(), moments.data());
  StepInput input = step.input;
  Timeline timeline(1);
  input.timeline = &timeline;
  input.with_squares = true;
  input.audited = 2;
  std::vector<ChunkReport> reports(owned.chunks.size());
  Doubles squares(owned.chunks.size());
  const std::vector<float> rates(owned.chunks.size(), 0.01F);
  for (int repeat = 0; repeat < 2; ++repeat) {
    input.gradients_stay = repeat == 0;
    const Partials sums = device->sum(input, {0, k_shards});
    const float* const gradients = input.gradients_stay ? nullptr : sums.begin()->second;
    update.squares(gradients, squares);
    update.step(update_factors({}, {0.01, 1}), gradients, reports);
    update.move(rates, reports);
    update.keep();
  }
  Floats weights(floats);
  update.weights(weights.data());
  update.moments(moments.data());
  (void)device->evaluate(few_samples(step), step.weights.data(), nullptr, 1, 0);
  update.begin(owned, step.weights.data(), moments.data());  // is in flight when memory is freed
}

// Steps of one of two ranks. `stage` 1: it has complete gradients; 2: it sends them in parts and
// keeps none; 3: it does not have all weights either.
void train_as_one_of_two(const Step& step, int stage, std::unique_ptr<Queue> queue) {
  const auto device = step.device_of(std::move(queue), Precision::fp32);
  const std::size_t floats = step.model.layout.parameter_floats;
  ChunkUpdate& update = *device->update();
  const ChunkUpdate::Owned owned = owned_by_one_of(2, "adamw", floats);
  Floats state(2 * owned.floats);
  update.begin(owned, step.weights.data(), state.data());
  StepInput input = step.input;
  Timeline timeline(1);
  input.timeline = &timeline;
  GradientBuckets buckets;
  for (std::size_t end = floats; end > 0;) {
    const std::size_t begin = end > 4096 ? end - 4096 : 0;
    buckets.ranges.push_back({begin, end});
    end = begin;
  }
  buckets.reuses_memory = true;
  buckets.ready = [](const Partials&) {};
  if (stage > 1) input.buckets = &buckets;
  Window window({{0, floats / 2, floats}, [](int) {}, [](int) {}, 1});
  if (stage == 3) input.window = &window;
  const Floats gradients(owned.floats, 0.5F);
  std::vector<ChunkReport> reports(owned.chunks.size());
  Floats weights(floats);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Partials sums = device->sum(input, {1, stage == 1 ? k_shards : 2});
    CHECK(sums.size() == (stage == 1 ? 3U : 1U));  // stage 1: copied one by one
    update.step(update_factors({}, {0.01, 1}), gradients.data(), reports);
    update.next_weights(weights.data());
    update.keep();
    (void)device->evaluate(few_samples(step), step.weights.data(), nullptr, 1, 0);
  }
  update.begin(owned, step.weights.data(), state.data());  // is in flight when memory is freed
}

}  // namespace

TEST_CASE("accesses without an order between them are races, if one of them writes") {
  const char memory[100] = {};
  RaceRecorder recorder(3);
  recorder.access(0, {memory, 50}, true, "a");
  recorder.access(0, {memory, 50}, true, "b");  // accesses of one actor are ordered
  recorder.access(1, {memory + 50, 50}, true, "c");
  CHECK(recorder.races().empty());
  recorder.access(1, {memory + 49, 2}, false, "d");
  CHECK(recorder.races() == std::vector<std::string>{"b and d"});
  recorder.access(2, {memory + 60, 5}, false, "e");
  CHECK(recorder.races().back() == "c and e");
}

TEST_CASE("reads need no order, and a write after them needs one to each") {
  const char memory[100] = {};
  RaceRecorder recorder(3);
  recorder.access(0, {memory, 100}, false, "a");
  recorder.access(1, {memory + 10, 10}, false, "b");
  recorder.access(2, {memory + 10, 1}, false, "c");
  CHECK(recorder.races().empty());
  recorder.wait(2, recorder.event(0));
  recorder.access(2, {memory, 100}, true, "d");
  CHECK(recorder.races() == std::vector<std::string>{"b and d"});
}

TEST_CASE("an event orders what was before it, also by way of a third, and nothing after it") {
  for (const bool waits : {true, false}) {
    const char memory[10] = {};
    RaceRecorder recorder(3);
    recorder.access(0, {memory, 10}, true, "a");
    recorder.wait(1, recorder.event(0));
    if (waits) recorder.wait(2, recorder.event(1));
    recorder.access(2, {memory + 3, 1}, true, "b");
    CHECK(recorder.races().empty() == waits);
    const auto event = recorder.event(2);
    recorder.access(2, {memory + 4, 1}, true, "c");
    recorder.wait(0, event);
    const std::size_t before = recorder.races().size();
    recorder.access(0, {memory + 3, 1}, false, "d");
    CHECK(recorder.races().size() == before);
    recorder.access(0, {memory + 4, 1}, false, "e");
    CHECK(recorder.races().back() == "c and e");
  }
}

TEST_CASE("whole steps have no races, kernels access what they say, and no wait may be left out") {
  using Train = std::function<void(const Step&, std::unique_ptr<Queue>)>;
  const auto alone = [](Precision precision) -> Train {
    return [precision](const Step& step, std::unique_ptr<Queue> queue) {
      train_twice(step, precision, std::move(queue));
    };
  };
  const auto one_of_two = [](int stage) -> Train {
    return [stage](const Step& step, std::unique_ptr<Queue> queue) {
      train_as_one_of_two(step, stage, std::move(queue));
    };
  };

  struct Case {
    const char* name;
    Train train;
    bool leaves_out;  // omits each wait in turn
    bool has_graphs;
  };

  // Sanitizers find nothing more in steps that differ only by a wait.
  const Case cases[] = {{"alone", alone(Precision::fp32), true, true},
                        {"alone, bf16", alone(Precision::bf16), false, true},
                        {"whole gradients", one_of_two(1), true, true},
                        {"parts of gradients", one_of_two(2), true, false},
                        {"parts of weights", one_of_two(3), true, false}};
  for (const char* const words : {k_tiny_gpt2, k_tiny_llama}) {
    const Step step(words);
    for (const Case& one : cases) {
      CAPTURE(step.model.name);
      CAPTURE(one.name);
      one.train(step, recording_device::new_queue());
      CHECK(joined(recording_device::races()) == "");
      CHECK(joined(recording_device::strays()) == "");
      CHECK(recording_device::launches() > 100);
      if (one.has_graphs) CHECK(recording_device::replays() > 0);
      const std::size_t waits = recording_device::waits();
      CHECK(waits > 10);
      for (std::size_t number = 0; one.leaves_out && !dts::tests::k_sanitized && number < waits;
           ++number) {
        CAPTURE(number);
        auto queue = recording_device::new_queue();
        recording_device::skip_wait(number);
        one.train(step, std::move(queue));
        CHECK_FALSE(recording_device::races().empty());
      }
    }
  }
}

TEST_CASE("nor do steps that compute layers again from memory of the host") {
  for (const char* const words :
       {"gpt2,vocab_size=19,n_positions=5,n_embd=16,n_layer=3,n_head=2,n_inner=32",
        "llama,vocab_size=19,max_position_embeddings=5,hidden_size=16,intermediate_size=32,"
        "num_hidden_layers=3,num_attention_heads=4,num_key_value_heads=2"}) {
    CAPTURE(words);
    train_twice(Step(words), Precision::fp32, recording_device::new_queue(), {true, true});
    CHECK(joined(recording_device::races()) == "");
    CHECK(joined(recording_device::strays()) == "");
  }
}

TEST_CASE("kernels of image networks access what they say, and have no races") {
  for (const char* const words : {"cnn2", "resnet:cifar20,depth=8"})
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
      if (dts::tests::k_sanitized && precision == Precision::fp32)
        continue;  // bf16 uses all kernels
      CAPTURE(words);
      const Step step(words);
      auto device = DeviceSums::create(step.model,
                                       recording_device::new_queue(),
                                       {.shards = k_shards, .precision = precision})
                        .value();
      const Floats running(step.model.layout.statistic_floats, 1.0F);
      Samples few = step.samples();
      few.count = 1;
      (void)device->sum(step.input, {2, 3});
      (void)device->evaluate(few, step.weights.data(), running.data(), 1, 0);
      CHECK(joined(recording_device::races()) == "");
      CHECK(joined(recording_device::strays()) == "");
      CHECK(recording_device::launches() > 30);
    }
}
