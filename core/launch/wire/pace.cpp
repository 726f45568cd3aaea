// SPDX-License-Identifier: Apache-2.0
#include "core/launch/wire/pace.hpp"

#include "core/base/median.hpp"

#include <algorithm>

namespace dts::launch {

void PaceWatch::observe(
    std::uint64_t step, std::uint64_t save, std::uint64_t work, std::uint64_t input, Time now) {
  if (save != 0 && save != save_) {
    save_ = save;
    ++seen_saves_;
    saves_.push_back(save);
    if (saves_.size() > k_saves) saves_.pop_front();
  }
  if (step == step_) return;
  step_ = step;
  if (work == 0) return;
  steps_.push_back({work, std::min(input, work), now});
  if (steps_.size() > k_steps) steps_.pop_front();
}

bool PaceWatch::knows_work() const {
  return steps_.size() == k_steps ||
         (steps_.size() >= k_fewest_steps && steps_.back().seen - steps_.front().seen >= k_longest);
}

Pace PaceWatch::pace() const {
  Pace pace;
  pace.save = median(std::vector(saves_.begin(), saves_.end()));
  pace.saves = seen_saves_;
  if (!knows_work()) return pace;
  std::vector<std::uint64_t> works, inputs;
  for (const Step& step : steps_) {
    works.push_back(step.work);
    inputs.push_back(step.input);
  }
  pace.work = median(std::move(works));
  pace.input = median(std::move(inputs));
  return pace;
}

bool PaceWatch::take_news() {
  const bool save = !has_reported_save_ && seen_saves_ > 0;
  const bool work = !has_reported_work_ && knows_work();
  has_reported_save_ = has_reported_save_ || save;
  has_reported_work_ = has_reported_work_ || work;
  return save || work;
}

}  // namespace dts::launch
