// SPDX-License-Identifier: Apache-2.0
// cnn2: conv 3x3 1->16, BN, ReLU, pool; conv 3x3 16->32, BN, ReLU, pool; 1568->128, ReLU; 128->10.
// 2.4 MFLOP forward per image. The inputs of fc1 are ordered [channel / 16][y][x][channel % 16].
#include "core/train/data/samples.hpp"
#include "core/train/model/plan.hpp"
#include "core/train/models/model_table.hpp"

namespace dts::train {
namespace cnn2 {
namespace {

constexpr int k_channels1 = 16;
constexpr int k_channels2 = 32;
constexpr int k_last_pixels = (k_side / 4) * (k_side / 4);
constexpr int k_features = k_channels2 * k_last_pixels;
constexpr int k_hidden = 128;

void add_convolution(Layout& layout, const std::string& index, int in, int out, int side) {
  layout.add_parameter({.name = "conv" + index + ".weight",
                        .shape = {out, in, 3, 3},
                        .init = Init::fan_in_uniform,
                        .fan_in = in * 9});
  add_batch_norm(layout, "bn" + index, out, side * side);
}

void build(Plan& plan) {
  const int batch = plan.micro_batch();
  const Precision precision = plan.precision();
  const Images full{batch, k_channels1, k_side, k_side};
  const Images half{batch, k_channels1, k_side / 2, k_side / 2};
  const Images wide{batch, k_channels2, k_side / 2, k_side / 2};
  const auto images = static_cast<std::size_t>(batch);
  const Edge conv1 = plan.edge(full.count());
  const Edge pool1 = plan.edge(half.count());
  const Edge conv2 = plan.edge(wide.count());
  const Edge pool2 = plan.edge(wide.count() / 4);
  const Edge hidden = plan.edge(images * k_hidden);
  const Edge logits = plan.edge(images * k_classes);
  const Layout& layout = plan.layout();
  plan.add(plan.maker().first_convolution(layout, "conv1", full, plan.input(), conv1));
  plan.add(plan.maker().bn_relu_pool(layout, "bn1", full, conv1, pool1));
  plan.add(
      plan.maker().convolution(layout, "conv2", {half, k_channels2, 1, precision}, pool1, conv2));
  plan.add(plan.maker().bn_relu_pool(layout, "bn2", wide, conv2, pool2));
  plan.add(plan.maker().linear(
      layout, "fc1", {batch, k_features, k_hidden, true, precision}, pool2, hidden));
  plan.add(plan.maker().linear(
      layout, "fc2", {batch, k_hidden, k_classes, false, precision}, hidden, logits));
  plan.set_logits(logits);
}

// Two operations for each of the 3 x 3 taps, and for each weight of a linear layer.
constexpr double k_conv1_flops = 2.0 * 9 * k_channels1 * k_side * k_side;
constexpr double k_other_flops = 2.0 * 9 * k_channels1 * k_channels2 * (k_side / 2) * (k_side / 2) +
                                 2.0 * k_hidden * (k_features + k_classes);

Result<Model> make(const Sizes& /*none*/) {
  Model model;
  Layout& layout = model.layout;
  add_convolution(layout, "1", 1, k_channels1, k_side);
  add_convolution(layout, "2", k_channels1, k_channels2, k_side / 2);
  add_linear(layout, "fc1", k_features, k_hidden, k_last_pixels);
  add_linear(layout, "fc2", k_hidden, k_classes);
  model.reads.padding = 1;
  model.classes = k_classes;
  model.flops = training_flops(k_conv1_flops, k_other_flops);
  model.build = build;
  return model;
}

}  // namespace
}  // namespace cnn2

extern const ModelRow k_cnn2;
const ModelRow k_cnn2{
    "cnn2", "two convolutions with batch normalisation, two linear layers", {}, {}, cnn2::make};

}  // namespace dts::train
