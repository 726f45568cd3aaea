// SPDX-License-Identifier: Apache-2.0
// Layers whose activations are recomputed, or kept in host memory: the same bits with less
// memory.
#include "tests/support/sanitized.hpp"
#include "tests/unit/accelerator/step.hpp"

#include <fmt/format.h>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

constexpr int k_layers = 4;

const std::string k_models[] = {
    fmt::format("gpt2,vocab_size=61,n_positions=9,n_embd=48,n_layer={},n_head=3,n_inner=80",
                k_layers),
    fmt::format("llama,vocab_size=61,max_position_embeddings=9,hidden_size=48,intermediate_size=80,"
                "num_hidden_layers={},num_attention_heads=4,num_key_value_heads=2",
                k_layers)};

// The bytes that the device's queue has allocated.
std::size_t g_bytes = 0;

std::unique_ptr<Queue> counting_queue() {
  static dttrain_device table = *host_device::table();
  g_bytes = 0;
  table.allocate = [](dttrain_context* context, std::size_t bytes, void** at) -> const char* {
    g_bytes += bytes;
    return host_device::table()->allocate(context, bytes, at);
  };
  dttrain_answer answer{};
  return std::make_unique<Queue>(table, table.open(0, &answer));
}

struct Computed {
  std::vector<float> sums;
  double loss = 0;  // of an evaluation
  std::size_t bytes = 0;

  bool operator==(const Computed& other) const { return sums == other.sums && loss == other.loss; }
};

Computed on_device(const Step& step, ActivationStorage storage) {
  const auto made = step.device_of(counting_queue(), Precision::bf16, storage);
  Computed all;
  all.bytes = g_bytes;
  for (int repeat = 0; repeat < (dts::tests::k_sanitized ? 1 : 2); ++repeat) {
    all.sums = step.whole(made->sum(step.input, {0, k_shards}));
    all.loss = static_cast<double>(
        made->evaluate(step.samples(), step.weights.data(), nullptr, 1, 0).loss);
  }
  return all;
}

std::size_t bytes_in_fp32(const Step& step, ActivationStorage storage) {
  const auto made = step.device_of(counting_queue(), Precision::fp32, storage);
  return g_bytes;
}

Computed on_processor(const Step& step, ActivationStorage storage) {
  const auto sums =
      ShardSums::create(step.model, k_shards, k_micro, 1, Precision::fp32, storage).value();
  const auto network = Network::create(step.model, k_micro, Precision::fp32, storage).value();
  return {
      step.whole(sums->sum(step.input, {0, k_shards})),
      static_cast<double>(sums->evaluate(step.samples(), step.weights.data(), nullptr, 1, 0).loss),
      network->plan().floats_in_all() * sizeof(float)};
}

}  // namespace

TEST_CASE("activations that are computed again, or kept on the host, have the same bits") {
  for (const std::string& words : k_models) {
    CAPTURE(words);
    const Step step(words);
    const Computed all = on_device(step, {});
    const Computed again = on_device(step, {true, false});
    const Computed offloaded = on_device(step, {true, true});
    CHECK(again == all);
    CHECK(offloaded == all);
    const Computed here = on_processor(step, {});
    const Computed again_here = on_processor(step, {true, false});
    CHECK(again_here == here);
    // Offloading leaves two streams of rows instead of one per layer.
    const std::size_t stream = k_micro * 9 * 48 * sizeof(float);
    CHECK(again.bytes - offloaded.bytes == (k_layers + 1 - 2) * stream);
    // Saves all but one of k_layers layers, which have at least 8 streams each.
    CHECK(all.bytes - again.bytes >= (k_layers - 1) * 8 * stream);
    // Rounded values use the memory of floats.
    CHECK(all.bytes - again.bytes == here.bytes - again_here.bytes);
    CHECK(bytes_in_fp32(step, {}) - bytes_in_fp32(step, {true, false}) ==
          here.bytes - again_here.bytes);
    MESSAGE(words,
            ": ",
            here.bytes,
            " bytes of activations and gradients, ",
            again_here.bytes,
            " with layers computed again, ",
            again_here.bytes - (again.bytes - offloaded.bytes),
            " with what goes in on the host");
  }
}

TEST_CASE("the way back visits each layer but the last twice, and reads what it visits") {
  const Model model = make_model(k_models[0]).value();
  const auto plain = Network::create(model, 1).value();
  const auto again = Network::create(model, 1, Precision::fp32, {true, false}).value();
  const std::size_t blocks = plain->plan().blocks().size();
  CHECK(plain->plan().backward_visits().size() == blocks);
  // A layer of gpt2 has 8 blocks, the last of which is not recomputed.
  const auto visits = again->plan().backward_visits();
  CHECK(visits.size() == blocks + (k_layers - 1) * 7);
  CHECK(again->reads(true).size() == blocks + visits.size());
  CHECK(again->reads(false).size() == blocks);
  // Recomputed in the order of the forward pass, just before the layer's backward pass.
  const auto first =
      std::find_if(visits.begin(), visits.end(), [](auto& one) { return one.again; });
  REQUIRE(first != visits.end());
  CHECK(std::all_of(first, first + 7, [](auto& one) { return one.again; }));
  CHECK((first + 7)->block != (first + 6)->block);
  CHECK((first + 8)->block == (first + 6)->block);
}
