// SPDX-License-Identifier: Apache-2.0
// The whole state, of which a rank has its share: on its way to a checkpoint, and its digest.
#include "core/base/hash.hpp"
#include "core/train/loop/run.hpp"

namespace dts::train {

// The digest of the whole state on rank 0, through which all that is divided passes for it. If
// there is something to save, each rank gets what its share has, too. False, on every rank, if
// something came changed.
bool Run::hand_out(Snapshot* saved) {
  update_->bring_weights(state_);
  const Shares shares(layout_, comm_.size());
  Hash64 weights, moments;
  const bool well = update_->hand_out(
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

// Whether digest_ is, on rank 0, that of the whole state; it is made if need be.
bool Run::has_digest() {
  return digest_step_ == state_.step || hand_out(nullptr);
}

// The state that is saved is one that all ranks agree on.
int Run::save() {
  if (options_.checkpoint_dir.empty()) return 0;
  const Timed saving(timeline_.track(0), Phase::save);
  saved_at_ = Clock::now();
  update_->bring_weights(state_);
  if (!update_->verify(state_)) return stop_damaged();
  saved_step_ = state_.step;
  bool well = true;
  const int code = checkpoints_.start(state_, [&](Snapshot& saved) -> std::optional<std::uint64_t> {
    well = hand_out(&saved);
    return well ? std::optional(digest_) : std::nullopt;
  });
  saving_ += seconds_since(saved_at_);
  return well ? code : stop_damaged();
}

}  // namespace dts::train
