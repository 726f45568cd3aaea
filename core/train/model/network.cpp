// SPDX-License-Identifier: Apache-2.0
// Runs the blocks of a plan.
#include "core/train/model/network.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>

namespace dts::train {
namespace {

constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

Result<std::unique_ptr<Network>> Network::create(const Model& model,
                                                 int micro_batch,
                                                 Precision precision,
                                                 ActivationStorage storage) {
  const int most = std::numeric_limits<int>::max() / model.reads.predictions();
  if (micro_batch > most)
    return fail(Errc::usage,
                fmt::format("{} samples per shard of {} positions each are too many, at most {} "
                            "are possible",
                            micro_batch,
                            model.reads.predictions(),
                            most),
                "choose a smaller --batch or more --shards");
  omp_set_num_threads(1);
  try {
    return std::unique_ptr<Network>(new Network(model, micro_batch, precision, storage));
  } catch (const std::exception& e) {
    return fail(
        Errc::internal,
        fmt::format(
            "cannot build {} for {} samples per shard: {}", model.name, micro_batch, e.what()),
        "choose a smaller --batch or more --shards");
  }
}

Network::Network(const Model& model,
                 int micro_batch,
                 Precision precision,
                 ActivationStorage storage)
    : model_(model), plan_(model, micro_batch, precision, storage), reader_(model.reads) {
  model.build(plan_);
  indices_.resize(static_cast<std::size_t>(micro_batch));
  labels_.resize(indices_.size() * static_cast<std::size_t>(model.reads.predictions()));
}

void Network::prepare(const float* weights) {
  for (const auto& block : plan_.blocks()) block->prepare(weights);
}

void Network::forward(const Pass& pass, const std::function<void()>& enter) {
  for (const auto& block : plan_.blocks()) {
    if (enter) {
      enter();
      block->prepare(pass.weights);
    }
    block->forward(pass);
  }
}

void Network::call_hooks(const Training& training) {
  for (std::size_t i = 0; i < plan_.blocks().size(); ++i) training.enter();
  for (const Plan::Visit& visit : plan_.backward_visits()) {
    training.enter();
    const Range range = visit.again ? Range{} : visit.block->completes();
    if (range.begin < range.end) training.ready(range);
  }
}

HeadResult Network::head(const Objective& objective) {
  return cross_entropy(plan_.logits().value,
                       labels_.data(),
                       static_cast<int>(labels_.size()),
                       model_.classes,
                       objective,
                       plan_.logits().gradient);
}

void Network::back(const Pass& pass, const Training& training) {
  for (const Plan::Visit& visit : plan_.backward_visits()) {
    if (training.enter) training.enter();
    if (visit.again) {
      if (training.enter) visit.block->prepare(pass.weights);
      visit.block->forward(pass);
      continue;
    }
    visit.block->backward(pass);
    const Range range = visit.block->completes();
    if (training.ready && range.begin < range.end) training.ready(range);
  }
}

void Network::train(const Samples& samples,
                    std::span<const std::size_t> indices,
                    const Training& training,
                    float* sums) {
  const auto lap = [&](Phase phase) {
    if (training.watch != nullptr) training.watch->lap(phase);
  };
  reader_.read(samples, indices, training.placements, input());
  lap(Phase::data);
  const bool has_image = plan_.input().value != nullptr;
  const int padding = model_.reads.padding;
  if (training.with_nan && has_image)  // the first pixel
    plan_.input().value[(model_.reads.format->side + 2 * padding) * padding + padding] = k_nan;
  const Pass pass{true, training.weights, nullptr, sums};
  forward(pass, training.enter);
  if (training.with_nan && !has_image) plan_.logits().value[0] = k_nan;
  const HeadResult result = head(training.objective);
  lap(Phase::forward);
  back(pass, training);
  const Layout& layout = model_.layout;
  std::fill_n(sums + layout.scalar(Scalar::loss), static_cast<std::size_t>(Scalar::count), 0.0F);
  sums[layout.scalar(Scalar::loss)] = result.loss;
  sums[layout.scalar(Scalar::correct)] = static_cast<float>(result.correct);
  lap(Phase::backward);
}

Score Network::evaluate(const Samples& samples,
                        std::size_t first,
                        std::size_t count,
                        const float* weights,
                        const float* running,
                        const std::function<void()>& enter) {
  std::iota(indices_.begin(), indices_.end(), first);
  reader_.read(samples, {indices_.data(), count}, {}, input());
  forward({false, weights, running, nullptr}, enter);
  Score score;
  const auto predictions = static_cast<std::size_t>(model_.reads.predictions());
  for (std::size_t i = 0; i < count * predictions; ++i) {
    const HeadResult one =
        cross_entropy(plan_.logits().value + i * static_cast<std::size_t>(model_.classes),
                      &labels_[i],
                      1,
                      model_.classes,
                      {},
                      nullptr);
    score.add(one.correct, one.loss);
  }
  return score;
}

}  // namespace dts::train
