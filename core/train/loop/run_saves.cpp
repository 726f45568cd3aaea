// SPDX-License-Identifier: Apache-2.0
// Gathers the complete state, of which each rank has a share, for a checkpoint or its digest.
#include "core/base/hash.hpp"
#include "core/train/loop/run.hpp"

namespace dts::train {

// Computes the digest of the complete state on rank 0, through which all divided arrays pass. With
// `saved`, each rank also gets the data of its share. Returns false, on every rank, if something
// arrived changed.
bool Run::distribute_state(Snapshot* saved) {
  update_->copy_weights_to_host(state_);
  const Shares shares(layout_, comm_.size());
  Hash64 weights, moments;
  const bool well = update_->distribute_state(
      state_,
      [&](int rank, ArrayOf array, Range floats) {
        return rank == 0 || (saved != nullptr && shares.has(rank, array, floats));
      },
      [&](ArrayOf array, Range floats, const float* values) {
        if (comm_.rank() == 0) (array ? moments : weights).add(values, floats.bytes());
        if (saved != nullptr) saved->put(array, floats, values);
      });
  const auto theirs = state_.has_all ? std::nullopt : std::optional(weights.value());
  if (comm_.rank() == 0) digest_ = digest(state_, moments.value(), theirs);
  if (well) digest_step_ = state_.step;
  return well;
}

// Ensures that rank 0's digest_ is that of the current state. False if something arrived changed.
bool Run::has_digest() {
  return digest_step_ == state_.step || distribute_state(nullptr);
}

// Saves only a state that all ranks agree on.
int Run::save() {
  if (options_.checkpoint_dir.empty()) return 0;
  const Timed saving(timeline_.track(0), Phase::save);
  saved_at_ = Clock::now();
  update_->copy_weights_to_host(state_);
  if (!update_->verify(state_)) return stop_damaged();
  saved_step_ = state_.step;
  bool well = true;
  const int code = checkpoints_.start(state_, [&](Snapshot& saved) -> std::optional<std::uint64_t> {
    well = distribute_state(&saved);
    return well ? std::optional(digest_) : std::nullopt;
  });
  saving_ += seconds_since(saved_at_);
  return well ? code : stop_damaged();
}

}  // namespace dts::train
