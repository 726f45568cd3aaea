// SPDX-License-Identifier: Apache-2.0
#include "core/train/model/plan.hpp"

#include "core/train/data/samples.hpp"

namespace dts::train {

Plan::Plan(const Model& model, int micro_batch, Precision precision, ActivationStorage storage)
    : model_(model),
      micro_batch_(micro_batch),
      precision_(precision),
      storage_(storage),
      own_(processor_blocks()),
      maker_(*own_) {
  begin();
}

Plan::Plan(const Model& model,
           int micro_batch,
           Precision precision,
           BlockMaker& maker,
           ActivationStorage storage)
    : model_(model),
      micro_batch_(micro_batch),
      precision_(precision),
      storage_(storage),
      maker_(maker) {
  begin();
}

void Plan::begin() {
  const Reads& reads = model_.reads;
  const auto samples = static_cast<std::size_t>(micro_batch_);
  const auto side = static_cast<std::size_t>(reads.format->side + 2 * reads.padding);
  if (reads.what == Reads::What::images)
    input_.value = floats(samples * static_cast<std::size_t>(reads.format->channels) * side * side);
  else
    tokens_ = maker_.tokens(samples * static_cast<std::size_t>(reads.context));
}

void Plan::begin_layer() {
  in_layer_ = true;
  next_shared_ = 0;
  layers_.push_back({blocks_.size(), blocks_.size()});
}

void Plan::end_layer(float* input, std::size_t count) {
  in_layer_ = false;
  layers_.back().end = blocks_.size();
  if (storage_.offloads) add(maker_.offload(input, count));
}

// Layers request the same sizes in the same order and share them; a request that differs gets
// memory of its own.
float* Plan::layer_floats(std::size_t count) {
  if (!storage_.recomputes || !in_layer_) return floats(count);
  const std::size_t place = next_shared_++;
  if (place == shared_.size()) shared_.push_back({floats(count), count});
  return shared_[place].count == count ? shared_[place].at : floats(count);
}

// Offloaded inputs are in host memory before the output of the next layer but one overwrites them.
float* Plan::output_floats(std::size_t number, std::size_t count) {
  if (!storage_.offloads) return floats(count);
  if (offload_outputs_.empty()) offload_outputs_ = {floats(count), floats(count)};
  return offload_outputs_[number % offload_outputs_.size()];
}

// Does not recompute the last layer, whose values are still there, nor the last block of any layer,
// because nobody reads its output again.
std::vector<Plan::Visit> Plan::backward_visits() const {
  std::vector<Visit> visits;
  std::size_t next = blocks_.size();
  const auto back_to = [&](std::size_t begin) {
    while (next > begin) visits.push_back({blocks_[--next].get(), false});
  };
  for (auto layer = layers_.rbegin(); layer != layers_.rend() && storage_.recomputes; ++layer) {
    back_to(layer->end);
    if (layer != layers_.rbegin())
      for (std::size_t i = layer->begin; i + 1 < layer->end; ++i)
        visits.push_back({blocks_[i].get(), true});
    back_to(layer->begin);
  }
  back_to(0);
  return visits;
}

std::vector<Range> Plan::reads(bool training) const {
  std::vector<Range> all;
  for (const auto& block : blocks_) all.push_back(block->reads());
  if (training)
    for (const Visit& visit : backward_visits()) all.push_back(visit.reads());
  return all;
}

}  // namespace dts::train
