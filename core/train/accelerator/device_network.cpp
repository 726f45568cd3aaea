// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/device_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace dts::train::accelerator {
namespace {

// The positions of `tokens`, all below `most`, sorted by token; stable.
void put_in_order(std::span<const std::uint32_t> tokens, int most, std::uint32_t* order) {
  std::vector<std::uint32_t> next(static_cast<std::size_t>(most) + 1);
  for (const std::uint32_t token : tokens) ++next[token + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t i = 0; i < tokens.size(); ++i)
    order[next[tokens[i]]++] = static_cast<std::uint32_t>(i);
}

}  // namespace

DeviceNetwork::DeviceNetwork(const Model& model,
                             int micro_batch,
                             Precision precision,
                             Queue& queue,
                             ActivationStorage storage,
                             std::function<void(const std::string&)> notify)
    : model_(model),
      queue_(queue),
      blocks_(queue, precision),
      plan_(model, micro_batch, precision, blocks_, storage),
      graphs_(queue, std::move(notify)),
      reader_(model.reads),
      images_(plan_.input().value == nullptr
                  ? 0
                  : static_cast<std::size_t>(micro_batch) * reader_.image_floats()),
      tokens_(plan_.tokens() == nullptr ? 0
                                        : static_cast<std::size_t>(micro_batch) *
                                              static_cast<std::size_t>(model.reads.context)),
      predictions_(static_cast<std::size_t>(micro_batch) *
                   static_cast<std::size_t>(model.reads.predictions())),
      words_(2 * tokens_ + predictions_),
      labels_(queue.allocate<std::uint32_t>(predictions_)),
      losses_(queue.allocate(predictions_)),
      correct_(queue.allocate(predictions_)),
      squares_(queue.allocate<double>(Squares{nullptr, model.layout.parameter_floats}.blocks())) {
  for (InputBuffer& one : input_buffers_) {
    one = {queue.allocate(images_.size()),
           queue.allocate<std::uint32_t>(words_.size()),
           queue.new_event()};
    queue.record(one.read);  // so that to_device_after() can always follow it
  }
  model.build(plan_);
  logits_pitch_ = std::max(plan_.logits_room(), model.classes);
}

// Places without a sample keep the data of an earlier pass. Data arrive while the device computes
// the pass before; then the device itself copies them to their places.
void DeviceNetwork::load(const Samples& samples,
                         std::span<const std::size_t> indices,
                         std::span<const Placement> placements) {
  std::uint32_t* const order = words_.data() + tokens_;
  reader_.read(samples, indices, placements, {images_.data(), words_.data(), order + tokens_});
  if (tokens_ > 0) put_in_order({words_.data(), tokens_}, model_.classes, order);
  InputBuffer& buffer = input_buffers_[next_];
  queue_.to_device_after(buffer.read, buffer.images, images_.data(), images_.size());
  queue_.to_device_after(buffer.read, buffer.words, words_.data(), words_.size());
  queue_.launch(Copy<float>{{images_.size()}, buffer.images, plan_.input().value});
  queue_.launch(Copy<std::uint32_t>{{tokens_}, buffer.words, plan_.tokens()});
  queue_.launch(Copy<std::uint32_t>{{tokens_}, buffer.words + tokens_, blocks_.order()});
  queue_.launch(Copy<std::uint32_t>{{predictions_}, buffer.words + 2 * tokens_, labels_});
  queue_.record(buffer.read);
  next_ ^= 1U;
}

void DeviceNetwork::forward(const Pass& pass, const std::function<void(Range)>& enter) {
  for (const auto& block : plan_.blocks()) {
    if (enter) enter(block->reads());
    block->forward(pass);
  }
}

template <class Value>
void DeviceNetwork::launch_head(int rows, const Objective& objective, bool has_gradient) {
  queue_.launch(CrossEntropy<Value>{{rows, model_.classes},
                                    blocks_.products().as<Value>(plan_.logits().value),
                                    labels_,
                                    objective.scale,
                                    objective.smoothing,
                                    has_gradient,
                                    losses_,
                                    correct_,
                                    logits_pitch_});
}

void DeviceNetwork::head(int rows, const Objective& objective, bool has_gradient) {
  const Edge logits = plan_.logits();
  if (blocks_.products().rounded(logits.value) != nullptr)
    launch_head<Bfloat>(rows, objective, has_gradient);
  else
    launch_head<float>(rows, objective, has_gradient);
  if (!has_gradient || logits.gradient == logits.value) return;
  const std::size_t count = row_begin(static_cast<std::size_t>(rows), logits_pitch_);
  queue_.launch(Copy<float>{{count}, logits.value, logits.gradient});
}

void DeviceNetwork::add_scalars(const Training& training, float* sums) {
  const Layout& layout = model_.layout;
  const auto rows = static_cast<int>(predictions_);
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
    if (training.laps != nullptr) training.laps->lap(phase);
  };
  const auto rows = static_cast<int>(predictions_);
  const auto play = [&](PassKey::Part part, const std::function<void()>& work) {
    if (training.enter || training.with_nan) return work();
    const Objective& objective = training.objective;
    graphs_.play(
        {part, rows, weights, sums, objective.scale, objective.smoothing, training.with_squares},
        work);
  };
  if (training.laps != nullptr) training.laps->begin();
  load(samples, indices, training.placements);
  lap(Phase::data);
  const Pass pass{true, weights, nullptr, sums};
  play(PassKey::Part::forward, [&] {
    forward(pass, training.enter);
    if (training.with_nan) {
      constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();
      queue_.to_device(plan_.logits().value, &k_nan, 1);
    }
    head(rows, training.objective, true);
  });
  lap(Phase::forward);
  play(PassKey::Part::backward, [&] {
    for (const Plan::Visit& visit : plan_.backward_visits()) {
      if (training.enter) training.enter(visit.reads());
      if (visit.again)
        visit.block->forward(pass);
      else
        visit.block->backward(pass);
    }
    add_scalars(training, sums);
  });
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
  const std::size_t predictions = count * static_cast<std::size_t>(model_.reads.predictions());
  const auto rows = static_cast<int>(predictions);
  const auto pass = [&] {
    forward({false, weights, running, nullptr}, enter);
    head(rows, {}, false);
  };
  if (enter)
    pass();
  else
    graphs_.play({PassKey::Part::evaluation, rows, weights}, pass);
  std::vector<float> losses(predictions);
  std::vector<float> correct(predictions);
  queue_.to_host(losses.data(), losses_, predictions);
  queue_.to_host(correct.data(), correct_, predictions);
  Score score;
  for (std::size_t i = 0; i < predictions; ++i) score.add(std::lround(correct[i]), losses[i]);
  return score;
}

}  // namespace dts::train::accelerator
