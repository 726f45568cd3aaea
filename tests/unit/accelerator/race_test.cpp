// SPDX-License-Identifier: Apache-2.0
// The order of what a device and the host do: the recorder itself, and whole steps on it.
#include "tests/support/race_recorder.hpp"
#include "tests/support/recording_device.hpp"
#include "tests/unit/accelerator/step.hpp"

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

// Two steps with all that follows them: sums of shards, an update that is clipped, an evaluation.
void train_twice(const Step& step, Precision precision, std::unique_ptr<Queue> queue) {
  auto device = DeviceSums::create(step.model,
                                   std::move(queue),
                                   {.shards = k_shards,
                                    .own_shards = k_shards,
                                    .micro_batch = k_micro,
                                    .precision = precision})
                    .value();
  const std::size_t floats = step.model.layout.parameter_floats;
  ChunkUpdate& update = *device->update();
  ChunkUpdate::Owned owned{find_optimizer("lamb"), {}, floats};
  for (std::size_t at = 0; at < floats; at += 1024)
    owned.chunks.push_back(
        {at, at, static_cast<std::uint32_t>(std::min<std::size_t>(1024, floats - at)), 1});
  Floats moments(2 * floats);
  update.begin(owned, step.weights.data(), moments.data());
  StepInput input = step.input;
  input.with_squares = true;
  input.audited = 2;
  std::vector<ChunkReport> reports(owned.chunks.size());
  Doubles squares(owned.chunks.size());
  const std::vector<float> rates(owned.chunks.size(), 0.01F);
  for (int repeat = 0; repeat < 2; ++repeat) {
    input.stays = repeat == 0;
    const Partials sums = device->sum(input, {0, k_shards});
    const float* const gradients = input.stays ? nullptr : sums.begin()->second;
    update.squares(gradients, squares);
    update.step(update_factors({}, {0.01, 1}), gradients, reports);
    update.move(rates, reports);
    update.keep();
  }
  Floats weights(floats);
  update.weights(weights.data());
  update.moments(moments.data());
  (void)device->evaluate(step.samples(), step.weights.data(), nullptr, 1, 0);
  update.begin(owned, step.weights.data(), moments.data());  // is under way when memory is freed
}

}  // namespace

TEST_CASE("accesses without an order between them are races, if one of them writes") {
  const char memory[100] = {};
  RaceRecorder recorder(3);
  recorder.access(0, {memory, 50}, true, "a");
  recorder.access(0, {memory, 50}, true, "b");  // its own
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
  for (const auto& [words, precision] : {std::pair{k_tiny_gpt2, Precision::fp32},
                                         {k_tiny_gpt2, Precision::bf16},
                                         {k_tiny_llama, Precision::fp32},
                                         {k_tiny_llama, Precision::bf16}}) {
    CAPTURE(words);
    const Step step(words);
    train_twice(step, precision, recording_device::new_queue());
    CHECK(joined(recording_device::races()) == "");
    CHECK(joined(recording_device::strays()) == "");
    CHECK(recording_device::launches() > 100);
    const std::size_t waits = recording_device::waits();
    CHECK(waits > 10);
    if (precision == Precision::bf16) continue;
    for (std::size_t number = 0; number < waits; ++number) {
      CAPTURE(number);
      auto queue = recording_device::new_queue();
      recording_device::leave_out_wait(number);
      train_twice(step, precision, std::move(queue));
      CHECK_FALSE(recording_device::races().empty());
    }
  }
}

TEST_CASE("kernels of image networks access what they say, and have no races") {
  for (const char* const words : {"cnn2", "resnet:cifar20,depth=8"})
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
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
