// SPDX-License-Identifier: Apache-2.0
// The list of blocks of cnn2 and the passes over it.
#include "core/train/model/network.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <exception>
#include <limits>
#include <numeric>

namespace dts::train {
namespace {

// Mean and standard deviation of the pixels of Fashion-MNIST's training set, scaled to 0..1.
constexpr float k_pixel_mean = 0.2860F;
constexpr float k_pixel_deviation = 0.3530F;
constexpr std::size_t k_padded = std::size_t{k_side + 2} * (k_side + 2);

}  // namespace

Result<std::unique_ptr<Network>> Network::create(const Layout& layout, int micro_batch) {
  omp_set_num_threads(1);
  try {
    return std::unique_ptr<Network>(new Network(layout, micro_batch));
  } catch (const std::exception& e) {
    return fail(
        Errc::internal,
        fmt::format("cannot build the network for {} images per shard: {}", micro_batch, e.what()),
        "choose a smaller --batch or more --shards");
  }
}

Network::Network(const Layout& layout, int micro_batch)
    : layout_(layout), micro_batch_(micro_batch) {
  const Images full{micro_batch, Cnn2::channels1, Cnn2::side, Cnn2::side};
  const Images half{micro_batch, Cnn2::channels1, Cnn2::side / 2, Cnn2::side / 2};
  const Images wide{micro_batch, Cnn2::channels2, Cnn2::side / 2, Cnn2::side / 2};
  const auto batch = static_cast<std::size_t>(micro_batch);
  input_ = edge(batch * k_padded, Gradient::none);
  const Edge conv1 = edge(full.count());
  const Edge pool1 = edge(half.count());
  const Edge conv2 = edge(wide.count());
  const Edge pool2 = edge(wide.count() / 4);
  const Edge hidden = edge(batch * Cnn2::hidden);
  logits_ = edge(batch * Cnn2::classes);
  blocks_.push_back(first_convolution(layout, "conv1", full, input_, conv1));
  blocks_.push_back(bn_relu_pool(layout, "bn1", full, conv1, pool1));
  blocks_.push_back(convolution(layout, "conv2", half, Cnn2::channels2, pool1, conv2));
  blocks_.push_back(bn_relu_pool(layout, "bn2", wide, conv2, pool2));
  blocks_.push_back(
      linear(layout, "fc1", {micro_batch, Cnn2::features, Cnn2::hidden, true}, pool2, hidden));
  blocks_.push_back(
      linear(layout, "fc2", {micro_batch, Cnn2::hidden, Cnn2::classes, false}, hidden, logits_));
  labels_.resize(batch);
  indices_.resize(batch);
}

Edge Network::edge(std::size_t floats, Gradient gradient) {
  Edge made;
  made.value = buffers_.emplace_back(floats).data();
  if (gradient == Gradient::wanted) made.gradient = buffers_.emplace_back(floats).data();
  return made;
}

void Network::prepare(const float* weights) {
  for (const auto& block : blocks_) block->prepare(weights);
}

void Network::load(const Samples& samples, std::span<const std::size_t> indices) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    normalise_image(samples.images + indices[i] * k_pixels,
                    k_side,
                    k_side,
                    k_pixel_mean,
                    k_pixel_deviation,
                    input_.value + i * k_padded);
    labels_[i] = samples.labels[indices[i]];
  }
}

HeadResult Network::head(float scale) {
  return cross_entropy(
      logits_.value, labels_.data(), micro_batch_, Cnn2::classes, scale, logits_.gradient);
}

void Network::train(const Samples& samples,
                    std::span<const std::size_t> indices,
                    const float* weights,
                    float scale,
                    float* sums,
                    bool with_nan) {
  load(samples, indices);
  if (with_nan) input_.value[k_side + 3] = std::numeric_limits<float>::quiet_NaN();
  const Pass pass{true, weights, nullptr, sums};
  for (const auto& block : blocks_) block->forward(pass);
  const HeadResult result = head(scale);
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) (*block)->backward(pass);
  std::fill_n(sums + layout_.scalar(Scalar::loss), static_cast<std::size_t>(Scalar::count), 0.0F);
  sums[layout_.scalar(Scalar::loss)] = result.loss;
  sums[layout_.scalar(Scalar::correct)] = static_cast<float>(result.correct);
}

int Network::evaluate(const Samples& samples,
                      std::size_t first,
                      std::size_t count,
                      const float* weights,
                      const float* running) {
  std::iota(indices_.begin(), indices_.end(), first);
  load(samples, {indices_.data(), count});
  std::fill(labels_.begin() + static_cast<std::ptrdiff_t>(count), labels_.end(), std::uint8_t{0});
  const Pass pass{false, weights, running, nullptr};
  for (const auto& block : blocks_) block->forward(pass);
  int correct = 0;
  for (std::size_t i = 0; i < count; ++i)
    correct += cross_entropy(
                   logits_.value + i * Cnn2::classes, &labels_[i], 1, Cnn2::classes, 1.0F, nullptr)
                   .correct;
  return correct;
}

}  // namespace dts::train
