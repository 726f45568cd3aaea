// SPDX-License-Identifier: Apache-2.0
#include "core/train/model/plan.hpp"

#include "core/train/data/samples.hpp"

namespace dts::train {

Plan::Plan(const Model& model, int micro_batch, Precision precision)
    : model_(model),
      micro_batch_(micro_batch),
      precision_(precision),
      own_(processor_blocks()),
      maker_(*own_) {
  begin();
}

Plan::Plan(const Model& model, int micro_batch, Precision precision, BlockMaker& maker)
    : model_(model), micro_batch_(micro_batch), precision_(precision), maker_(maker) {
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

std::vector<Range> Plan::reads(bool training) const {
  std::vector<Range> all;
  for (const auto& block : blocks_) all.push_back(block->reads());
  if (training)
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
      all.push_back((*block)->reads_again());
  return all;
}

}  // namespace dts::train
