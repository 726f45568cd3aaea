// SPDX-License-Identifier: Apache-2.0
// The amount of device memory that a layer, or a network of images, reads and writes, counted from
// what kernels and products declare: a lower limit for the time of a step outside products. Nothing
// is computed.
#include "tests/unit/accelerator/step.hpp"

#include <fmt/format.h>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

double g_traffic = 0;

const dttrain_device& host_table() {
  return *host_device::table();
}

// Counts each array once per kernel, however often its blocks read it.
std::unique_ptr<Queue> traffic_queue() {
  static dttrain_device table = host_table();
  table.launch = [](dttrain_context* /*context*/, std::uint32_t number, const void* arguments) {
    Kernels::visit(number, arguments, [](const auto& kernel) {
      kernel.accesses([](const Access& one) { g_traffic += static_cast<double>(one.bytes); });
    });
    return static_cast<const char*>(nullptr);
  };
  table.multiply = [](dttrain_context* /*context*/, const dttrain_product* p) {
    const double read = p->factors == DTTRAIN_BF16 ? 2 : 4;
    const double written = p->rounds != 0 ? 2 : 4;
    const double rows = p->rows, columns = p->columns;
    g_traffic += read * p->inner * (rows + columns);
    const int arrays = 1 + (p->plus != nullptr ? 1 : 0) + (p->before != nullptr ? 1 : 0);
    g_traffic += written * rows * columns * arrays;
    return static_cast<const char*>(nullptr);
  };
  table.begin_graph = nullptr;
  dttrain_answer answer{};
  return std::make_unique<Queue>(table, table.open(0, &answer));
}

constexpr int k_context = 64;
constexpr int k_width = 64;

// The bytes of the forward and backward pass of one shard.
double bytes_of(const Step& step, Precision precision, int samples) {
  const auto device =
      DeviceSums::create(
          step.model,
          traffic_queue(),
          {.shards = 1, .own_shards = 1, .micro_batch = samples, .precision = precision})
          .value();
  g_traffic = 0;
  (void)device->sum({step.samples(), step.weights.data(), 0, 0, samples}, {0, 1});
  return g_traffic;
}

// The bytes per sample, without what is read once per step.
double of_sample(const std::string& words, Precision precision) {
  const Step step(words);
  return (bytes_of(step, precision, 4) - bytes_of(step, precision, 2)) / 2;
}

// The bytes per token and column of the model.
double of_layer(const char* family, Precision precision) {
  const auto of_layers = [&](int layers) {
    return of_sample(fmt::format(fmt::runtime(family), k_context, k_width, layers), precision);
  };
  return (of_layers(2) - of_layers(1)) / (k_context * k_width);
}

}  // namespace

TEST_CASE("a layer with rounded activations moves less than 0.6 of what one of fp32 does") {
  for (const auto& [family, most] :
       {std::pair{"gpt2,vocab_size=16,n_positions={},n_embd={},n_layer={},n_head=1", 206.0},
        {"llama,vocab_size=16,max_position_embeddings={},hidden_size={},num_hidden_layers={},"
         "intermediate_size=256,num_attention_heads=1",
         300.0}}) {
    const double rounded = of_layer(family, Precision::bf16);
    const double exact = of_layer(family, Precision::fp32);
    MESSAGE(std::string(family),
            ": ",
            rounded,
            " bytes a token, layer and column in bf16, ",
            exact,
            " in fp32");
    CHECK(rounded < most);
    CHECK(rounded < 0.6 * exact);
  }
}

TEST_CASE("ResNet-20 reads and writes images as often as its layers do, rounded ones in half") {
  // Convolutions compute 188,416 values. Bytes per value: forward 4 for the convolution and 8 for
  // its normalisation, backward 14 and 8; in addition sums of streams and shortcuts.
  constexpr double k_values = 188416;
  const double rounded = of_sample("resnet:cifar20", Precision::bf16);
  const double exact = of_sample("resnet:cifar20", Precision::fp32);
  MESSAGE("an image of ResNet-20: ", rounded / 1e6, " MB in bf16, ", exact / 1e6, " MB in fp32");
  CHECK(rounded / k_values < 40);
  CHECK(rounded < 0.55 * exact);
}
