// SPDX-License-Identifier: Apache-2.0
// mlp: fully connected layers on the pixels of an image, with ReLU between them.
#include "core/train/data/samples.hpp"
#include "core/train/model/plan.hpp"
#include "core/train/models/model_table.hpp"

#include <fmt/format.h>

namespace dts::train {
namespace mlp {
namespace {

struct Shape {
  int hidden = 0;
  int layers = 0;  // number of hidden layers

  [[nodiscard]] int in(int layer) const { return layer == 0 ? static_cast<int>(k_pixels) : hidden; }

  [[nodiscard]] int out(int layer) const { return layer == layers ? k_classes : hidden; }
};

std::string name_of(int layer) {
  return fmt::format("layers.{}", layer);
}

void build(Plan& plan, const Shape& shape) {
  Edge from = plan.input();
  for (int layer = 0; layer <= shape.layers; ++layer) {
    const int out = shape.out(layer);
    const Edge to =
        plan.edge(static_cast<std::size_t>(plan.micro_batch()) * static_cast<std::size_t>(out));
    plan.add(plan.maker().linear(
        plan.layout(),
        name_of(layer),
        {plan.micro_batch(), shape.in(layer), out, layer < shape.layers, plan.precision()},
        from,
        to));
    from = to;
  }
  plan.set_logits(from);
}

constexpr Size k_sizes[] = {{"hidden_size", 128, 1, 65536}, {"num_hidden_layers", 2, 0, 256}};

Result<Model> make(const Sizes& sizes) {
  const Shape shape{sizes.integer("hidden_size"), sizes.integer("num_hidden_layers")};
  Model model;
  for (int layer = 0; layer <= shape.layers; ++layer)
    add_linear(model.layout, name_of(layer), shape.in(layer), shape.out(layer));
  model.classes = k_classes;
  const auto flops = [&](int layer) { return 2.0 * shape.in(layer)*shape.out(layer); };
  double others = 0;
  for (int layer = 1; layer <= shape.layers; ++layer) others += flops(layer);
  model.flops = training_flops(flops(0), others);
  model.build = [shape](Plan& plan) { build(plan, shape); };
  return model;
}

}  // namespace
}  // namespace mlp

extern const ModelRow k_mlp;
const ModelRow k_mlp{"mlp", "linear layers with ReLU", mlp::k_sizes, {}, mlp::make};

}  // namespace dts::train
