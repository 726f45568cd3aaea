// SPDX-License-Identifier: Apache-2.0
// How much of a device's memory a layer reads and writes, counted from what kernels and products
// say: the floor of a step's time where it is not products.
#include "tests/unit/accelerator/step.hpp"

#include <fmt/format.h>

using namespace dts::train;
using namespace dts::train::accelerator;

namespace {

double g_bytes = 0;

const dttrain_device& host() {
  return *host_device::table();
}

// Each array counts once for a kernel, however often its blocks read it.
std::unique_ptr<Queue> counting_queue() {
  static dttrain_device table = host();
  table.launch = [](dttrain_context* context, std::uint32_t number, const void* arguments) {
    Kernels::visit(number, arguments, [](const auto& kernel) {
      kernel.accesses([](const Access& one) { g_bytes += static_cast<double>(one.bytes); });
    });
    return host().launch(context, number, arguments);
  };
  table.multiply = [](dttrain_context* context, const dttrain_product* p) {
    const double read = p->factors == DTTRAIN_BF16 ? 2 : 4;
    const double written = p->rounds != 0 ? 2 : 4;
    const double rows = p->rows, columns = p->columns;
    g_bytes += read * p->inner * (rows + columns);
    g_bytes += written * rows * columns * (p->plus != nullptr ? 2 : 1);
    return host().multiply(context, p);
  };
  table.begin_graph = nullptr;
  dttrain_answer answer{};
  return std::make_unique<Queue>(table, table.open(0, &answer));
}

constexpr int k_context = 64;
constexpr int k_width = 64;

// Of the forward and backward pass of one shard.
double bytes_of(const char* family, Precision precision, int layers, int samples) {
  const std::string words = fmt::format(fmt::runtime(family), k_context, k_width, layers);
  const Model model = make_model(words).value();
  const auto device =
      DeviceSums::create(
          model,
          counting_queue(),
          {.shards = 1, .own_shards = 1, .micro_batch = samples, .precision = precision})
          .value();
  Samples all;
  const std::vector<std::byte> bytes(4096);
  all.context = model.reads.context;
  all.tokens = {bytes.data(), bytes.size(), 1};
  all.count = 8;
  const Buffer weights(model.layout.parameter_floats);
  g_bytes = 0;
  (void)device->sum({all, weights.data(), 0, 0, samples}, {0, 1});
  return g_bytes;
}

// For a token and a column of the model, without what is read once a step however many there are.
double of_layer(const char* family, Precision precision) {
  const auto of_tokens = [&](int layers) {
    return bytes_of(family, precision, layers, 4) - bytes_of(family, precision, layers, 2);
  };
  return (of_tokens(2) - of_tokens(1)) / (2.0 * k_context * k_width);
}

}  // namespace

TEST_CASE("a layer with rounded activations moves less than 0.6 of what one of fp32 does") {
  for (const auto& [family, most] :
       {std::pair{"gpt2,vocab_size=16,n_positions={},n_embd={},n_layer={},n_head=1", 270.0},
        {"llama,vocab_size=16,max_position_embeddings={},hidden_size={},num_hidden_layers={},"
         "intermediate_size=256,num_attention_heads=1",
         390.0}}) {
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
