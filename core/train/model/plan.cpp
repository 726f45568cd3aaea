// SPDX-License-Identifier: Apache-2.0
#include "core/train/model/plan.hpp"

#include "core/train/data/samples.hpp"

namespace dts::train {

Plan::Plan(const Model& model, int micro_batch, Precision precision)
    : model_(model), micro_batch_(micro_batch), precision_(precision) {
  const auto samples = static_cast<std::size_t>(micro_batch);
  const auto side = static_cast<std::size_t>(model.reads.format->side + 2 * model.reads.padding);
  if (model.reads.what == Reads::What::images)
    input_.value =
        floats(samples * static_cast<std::size_t>(model.reads.format->channels) * side * side);
  else
    tokens_.resize(samples * static_cast<std::size_t>(model.reads.context));
}

float* Plan::floats(std::size_t count) {
  return buffers_.emplace_back(count).data();
}

std::size_t Plan::bytes() const {
  std::size_t all = 0;
  for (const Buffer& buffer : buffers_) all += buffer.size() * sizeof(float);
  return all;
}

}  // namespace dts::train
