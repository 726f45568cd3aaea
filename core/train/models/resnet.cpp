// SPDX-License-Identifier: Apache-2.0
// resnet: residual networks for small images (K. He et al., "Deep Residual Learning for Image
// Recognition", 2015, section 4.2). Convolution and batch normalisation, three stages of n blocks
// of two convolutions each with 1, 2 and 4 times `width` channels, the mean over the pixels, a
// linear layer; depth 6n + 2. Shortcuts have no parameters (option A). Names, initial values and
// the places of the zero channels are those of the common PyTorch version, Y. Idelbayev's
// pytorch_resnet_cifar10. Each shard is normalised by its own statistics.
#include "core/train/data/samples.hpp"
#include "core/train/model/plan.hpp"
#include "core/train/models/model_table.hpp"

#include <fmt/format.h>

#include <cmath>

namespace dts::train {
namespace resnet {
namespace {

constexpr int k_stages = 3;

struct Shape {
  int depth = 0;
  int width = 0;
  const ImageFormat* format = nullptr;

  [[nodiscard]] int blocks() const { return (depth - 2) / (2 * k_stages); }  // blocks per stage

  // The shape of the activations of a stage, 0 to 2.
  [[nodiscard]] Images images(int batch, int stage) const {
    const int side = (format->side - 1) / (1 << stage) + 1;
    return {batch, width << stage, side, side};
  }

  // Whether the block reads the stream of the previous stage.
  [[nodiscard]] static bool is_narrowing(int stage, int block) { return stage > 0 && block == 0; }

  // Our own kernel is only for one channel to 16; for other shapes oneDNN is faster.
  [[nodiscard]] bool has_own_kernel() const { return format->channels == 1 && width == k_lanes; }
};

std::string name_of(int stage, int block, const char* part) {
  return fmt::format("layer{}.{}.{}", stage + 1, block, part);
}

void add_convolution(Layout& layout, const std::string& name, int in, int out) {
  layout.add_parameter({.name = name + ".weight",
                        .shape = {out, in, 3, 3},
                        .init = Init::normal,  // K. He et al., "Delving Deep into Rectifiers", 2015
                        .deviation = std::sqrt(2 / static_cast<float>(9 * in))});
}

Layout layout_of(const Shape& s) {
  Layout layout;
  add_convolution(layout, "conv1", s.format->channels, s.width);
  add_batch_norm(layout, "bn1", s.width, s.format->side * s.format->side);
  for (int stage = 0; stage < k_stages; ++stage)
    for (int block = 0; block < s.blocks(); ++block) {
      const Images out = s.images(1, stage);
      const int in = Shape::is_narrowing(stage, block) ? out.channels / 2 : out.channels;
      add_convolution(layout, name_of(stage, block, "conv1"), in, out.channels);
      add_batch_norm(layout, name_of(stage, block, "bn1"), out.channels, out.height * out.width);
      add_convolution(layout, name_of(stage, block, "conv2"), out.channels, out.channels);
      add_batch_norm(layout, name_of(stage, block, "bn2"), out.channels, out.height * out.width);
    }
  add_linear(layout, "linear", s.width << (k_stages - 1), k_classes);
  return layout;
}

// Two operations for each of the 3 x 3 taps, and for each weight of the linear layer.
double flops_of(const Shape& s, const Layout& layout) {
  const auto convolution = [&](const std::string& name, int stage) {
    const Images out = s.images(1, stage);
    return 2.0 * static_cast<double>(layout.parameter(name + ".weight").count) * out.height *
           out.width;
  };
  double others = 2.0 * static_cast<double>(layout.parameter("linear.weight").count);
  for (int stage = 0; stage < k_stages; ++stage)
    for (int block = 0; block < s.blocks(); ++block)
      for (const char* const part : {"conv1", "conv2"})
        others += convolution(name_of(stage, block, part), stage);
  return training_flops(convolution("conv1", 0), others);
}

// The activations of a stage share gradients, each needed only during some backward passes.
struct Stage {
  Images images;
  float* d_stream = nullptr;
  float* d_convolution = nullptr;  // of a convolution's output
  float* d_branch = nullptr;       // of a convolution's input
};

class Builder {
 public:
  Builder(Plan& plan, const Shape& shape) : plan_(plan), s_(shape) {}

  void build() {
    stage_ = make_stage(0);
    Edge at = add_stem();
    for (int stage = 0; stage < k_stages; ++stage)
      for (int block = 0; block < s_.blocks(); ++block) {
        const Stage before = stage_;
        if (Shape::is_narrowing(stage, block)) stage_ = make_stage(stage);
        at = add_block(name_of(stage, block, ""), before, at);
      }
    add_head(at);
  }

 private:
  [[nodiscard]] Stage make_stage(int index) {
    const Images images = s_.images(plan_.micro_batch(), index);
    return {images,
            plan_.floats(images.count()),
            plan_.floats(images.count()),
            plan_.floats(images.count())};
  }

  [[nodiscard]] Edge activation(float* gradient) {
    return {plan_.floats(stage_.images.count()), gradient};
  }

  Edge add_bn_relu(const std::string& name, Edge from, float* gradient, const float* residual) {
    const Edge to = activation(gradient);
    plan_.add(plan_.maker().bn_relu(plan_.layout(), name, stage_.images, from, to, residual));
    return to;
  }

  Edge add_stem() {
    const Edge convolved = activation(stage_.d_convolution);
    const int side = s_.format->side;
    if (s_.has_own_kernel())
      plan_.add(plan_.maker().first_convolution(
          plan_.layout(), "conv1", stage_.images, plan_.input(), convolved));
    else
      plan_.add(plan_.maker().convolution(
          plan_.layout(),
          "conv1",
          {{plan_.micro_batch(), s_.format->channels, side, side}, s_.width, 1, plan_.precision()},
          plan_.input(),
          convolved));
    return add_bn_relu("bn1", convolved, stage_.d_stream, nullptr);
  }

  Edge add_convolution(const std::string& name, const Images& in_shape, Edge from) {
    const Edge to = activation(stage_.d_convolution);
    const int stride = in_shape.channels == stage_.images.channels ? 1 : 2;
    plan_.add(
        plan_.maker().convolution(plan_.layout(),
                                  name,
                                  {in_shape, stage_.images.channels, stride, plan_.precision()},
                                  from,
                                  to));
    return to;
  }

  // Adds a block that reads the stream at `from`, of stage `before`. Returns the stream after it.
  Edge add_block(const std::string& name, const Stage& before, Edge from) {
    Edge residual = from;
    Edge branch = from;
    if (before.d_stream != stage_.d_stream) {
      residual = activation(stage_.d_stream);
      plan_.add(plan_.maker().narrowing_shortcut(before.images, from, residual));
    } else {
      branch.gradient = stage_.d_branch;
      plan_.add(plan_.maker().gradient_sum(stage_.images.count(), from, branch.gradient));
    }
    const Edge first = add_convolution(name + "conv1", before.images, branch);
    const Edge middle = add_bn_relu(name + "bn1", first, stage_.d_branch, nullptr);
    const Edge second = add_convolution(name + "conv2", stage_.images, middle);
    return add_bn_relu(name + "bn2", second, stage_.d_stream, residual.value);
  }

  void add_head(Edge from) {
    const auto batch = static_cast<std::size_t>(plan_.micro_batch());
    const int channels = stage_.images.channels;
    const Edge means = plan_.edge(batch * static_cast<std::size_t>(channels));
    const Edge logits = plan_.edge(batch * k_classes);
    plan_.add(plan_.maker().average_pool(stage_.images, from, means));
    plan_.add(
        plan_.maker().linear(plan_.layout(),
                             "linear",
                             {plan_.micro_batch(), channels, k_classes, false, plan_.precision()},
                             means,
                             logits));
    plan_.set_logits(logits);
  }

  Plan& plan_;
  Shape s_;
  Stage stage_;
};

constexpr Size k_sizes[] = {{"depth", 20, 8, 1202},
                            {"width", 16, 16, 1024},
                            {"num_channels", 1, 1, 3},
                            {"image_size", 28, 28, 32}};

constexpr Preset k_presets[] = {{"20", "depth=20"},
                                {"56", "depth=56"},
                                {"cifar20", "depth=20,num_channels=3,image_size=32"},
                                {"cifar56", "depth=56,num_channels=3,image_size=32"}};

Result<Model> make(const Sizes& sizes) {
  Shape shape{sizes.integer("depth"), sizes.integer("width")};
  for (const ImageFormat* const format : {&k_fashion_mnist, &k_cifar10})
    if (format->channels == sizes.integer("num_channels") &&
        format->side == sizes.integer("image_size"))
      shape.format = format;
  if ((shape.depth - 2) % (2 * k_stages) != 0 || shape.width % k_lanes != 0 ||
      shape.format == nullptr)
    return fail(
        Errc::usage,
        fmt::format("resnet: {} is not possible", sizes.text()),
        "depth is 6n + 2, width a multiple of 16, and images are num_channels=1,image_size=28 "
        "(as Fashion-MNIST's) or 3 and 32 (CIFAR-10's)");
  Model model;
  model.layout = layout_of(shape);
  model.flops = flops_of(shape, model.layout);
  model.reads.padding = shape.has_own_kernel() ? 1 : 0;
  model.reads.format = shape.format;
  model.classes = k_classes;
  model.build = [shape](Plan& plan) { Builder(plan, shape).build(); };
  return model;
}

}  // namespace
}  // namespace resnet

extern const ModelRow k_resnet;
const ModelRow k_resnet{"resnet",
                        "a residual network for small images",
                        resnet::k_sizes,
                        resnet::k_presets,
                        resnet::make};

}  // namespace dts::train
