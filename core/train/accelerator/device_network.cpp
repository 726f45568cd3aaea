// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/device_network.hpp"

#include <cmath>
#include <limits>
#include <numeric>

namespace dts::train::accelerator {

DeviceNetwork::DeviceNetwork(const Model& model, int micro_batch, Precision precision, Queue& queue)
    : model_(model),
      queue_(queue),
      blocks_(queue, precision),
      plan_(model, micro_batch, precision, blocks_),
      reader_(model.reads),
      images_(plan_.input().value == nullptr
                  ? 0
                  : static_cast<std::size_t>(micro_batch) * reader_.image_floats()),
      tokens_(plan_.tokens() == nullptr ? 0
                                        : static_cast<std::size_t>(micro_batch) *
                                              static_cast<std::size_t>(model.reads.context)),
      host_labels_(static_cast<std::size_t>(micro_batch) *
                   static_cast<std::size_t>(model.reads.predictions())),
      labels_(queue.allocate<std::uint32_t>(host_labels_.size())),
      losses_(queue.allocate(host_labels_.size())),
      correct_(queue.allocate(host_labels_.size())),
      squares_(queue.allocate<double>(Squares{nullptr, model.layout.parameter_floats}.blocks())) {
  model.build(plan_);
}

// The places of samples that there are not keep those of an earlier pass.
void DeviceNetwork::load(const Samples& samples,
                         std::span<const std::size_t> indices,
                         std::span<const Placement> placements) {
  reader_.read(samples, indices, placements, {images_.data(), tokens_.data(), host_labels_.data()});
  queue_.to_device(plan_.input().value, images_.data(), images_.size());
  queue_.to_device(plan_.tokens(), tokens_.data(), tokens_.size());
  queue_.to_device(labels_, host_labels_.data(), host_labels_.size());
}

void DeviceNetwork::forward(const Pass& pass, const std::function<void(Range)>& enter) {
  for (const auto& block : plan_.blocks()) {
    if (enter) enter(block->reads());
    block->forward(pass);
  }
}

void DeviceNetwork::head(int rows, const Objective& objective, bool has_gradient) {
  queue_.launch(CrossEntropy{{rows, model_.classes},
                             plan_.logits().value,
                             labels_,
                             objective.scale,
                             objective.smoothing,
                             has_gradient,
                             losses_,
                             correct_});
  const Edge logits = plan_.logits();
  if (!has_gradient || logits.gradient == logits.value) return;
  const std::size_t count =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(model_.classes);
  queue_.launch(Copy{{count}, logits.value, logits.gradient});
}

void DeviceNetwork::add_scalars(const Training& training, float* sums) {
  const Layout& layout = model_.layout;
  const auto rows = static_cast<int>(host_labels_.size());
  queue_.clear(sums + layout.scalar(Scalar::loss), static_cast<std::size_t>(Scalar::count));
  queue_.launch(Total<float>{losses_, rows, sums + layout.scalar(Scalar::loss)});
  queue_.launch(Total<float>{correct_, rows, sums + layout.scalar(Scalar::correct)});
  if (!training.with_squares) return;
  const Squares squares{sums, layout.parameter_floats, squares_};
  queue_.launch(squares);
  queue_.launch(Total<double>{
      squares_, static_cast<int>(squares.blocks()), sums + layout.scalar(Scalar::squares)});
}

void DeviceNetwork::train(const Samples& samples,
                          std::span<const std::size_t> indices,
                          const float* weights,
                          const Training& training,
                          float* sums) {
  const auto lap = [&](Phase phase) {
    if (training.watch == nullptr) return;
    queue_.wait();
    training.watch->lap(phase);
  };
  load(samples, indices, training.placements);
  lap(Phase::data);
  const Pass pass{true, weights, nullptr, sums};
  forward(pass, training.enter);
  if (training.with_nan) {
    constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();
    queue_.to_device(plan_.logits().value, &k_nan, 1);
  }
  head(static_cast<int>(host_labels_.size()), training.objective, true);
  lap(Phase::forward);
  for (auto block = plan_.blocks().rbegin(); block != plan_.blocks().rend(); ++block) {
    if (training.enter) training.enter((*block)->reads_again());
    (*block)->backward(pass);
  }
  add_scalars(training, sums);
  lap(Phase::backward);
}

Score DeviceNetwork::evaluate(const Samples& samples,
                              std::size_t first,
                              std::size_t count,
                              const float* weights,
                              const float* running,
                              const std::function<void(Range)>& enter) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), first);
  load(samples, indices, {});
  forward({false, weights, running, nullptr}, enter);
  const std::size_t predictions = count * static_cast<std::size_t>(model_.reads.predictions());
  head(static_cast<int>(predictions), {}, false);
  std::vector<float> losses(predictions);
  std::vector<float> correct(predictions);
  queue_.to_host(losses.data(), losses_, predictions);
  queue_.to_host(correct.data(), correct_, predictions);
  Score score;
  for (std::size_t i = 0; i < predictions; ++i) score.add(std::lround(correct[i]), losses[i]);
  return score;
}

}  // namespace dts::train::accelerator
