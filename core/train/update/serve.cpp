// SPDX-License-Identifier: Apache-2.0
// ShardedUpdate: a server, which applies gradients as they arrive, and the way its weights get to
// all ranks.
#include "core/train/update/sharded_update.hpp"

#include <cmath>
#include <utility>

namespace dts::train {

ShardedUpdate::Ended ShardedUpdate::serve(const PartOfStep& part,
                                          UpdateStep step,
                                          const float* gradients,
                                          State& state) {
  sums_.gradients = gradients;
  settings_.optimization = part.settings;
  step.lr *= part.share;
  each(own_, [&](int chunk, int thread) {
    check_owned(state, chunk);
    move(chunk, thread, step, part.gradient_scale, state);
    record_next(chunk);
  });
  find_damage();
  if (!findings_.empty()) return Ended::damaged;
  if (first_not_finite()) return Ended::not_finite;
  std::swap(state.weights, next_weights_);
  std::swap(momentum_, next_momentum_);
  std::swap(records_, next_records_);
  return Ended::well;
}

void ShardedUpdate::record_damaged_slice(int peer) {
  const bool serves = !own_.empty();
  find(serves ? Found::message : Found::answer,
       ownership_.owned(serves ? comm_.rank() : peer, 0),
       peer);
}

bool ShardedUpdate::publish(State& state) {
  damaged_ = !findings_.empty();
  next_records_ = records_;
  exchange_records(state.weights.data());
  std::swap(records_, next_records_);
  return !damaged_;
}

}  // namespace dts::train
