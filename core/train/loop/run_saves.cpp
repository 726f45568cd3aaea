// SPDX-License-Identifier: Apache-2.0
// The whole state, of which a rank has its share: on its way to a checkpoint, and its digest.
#include "core/base/hash.hpp"
#include "core/train/loop/run.hpp"

namespace dts::train {

// The digest of the whole state on rank 0, through which all moments pass for it; the weights are
// whole on this rank. If there is something to save, each rank gets those of its share, too.
std::uint64_t Run::gather_moments(Snapshot* saved) {
  const MomentShares shares(layout_, comm_.size());
  Hash64 hash;
  update_->hand_out_moments(
      [&](int rank, std::size_t moment, Range floats) {
        return rank == 0 || (saved != nullptr && shares.has(rank, moment, floats));
      },
      [&](std::size_t moment, Range floats, const float* values) {
        if (comm_.rank() == 0) hash.add(values, floats.size() * sizeof(float));
        if (saved != nullptr) saved->put(moment, floats, values);
      });
  if (comm_.rank() == 0) digest_ = digest(state_, hash.value());
  digest_step_ = state_.step;
  return digest_;
}

std::uint64_t Run::whole_digest() {
  if (digest_step_ == state_.step) return digest_;
  update_->gather_weights(state_);
  gather_moments(nullptr);
  update_->drop_weights(state_);
  return digest_;
}

// The state that is saved is one that all ranks agree on.
int Run::save() {
  if (options_.checkpoint_dir.empty()) return 0;
  if (!update_->verify(state_)) return stop_damaged();
  const Timed saving(timeline_.track(0), Phase::save);
  saved_step_ = state_.step;
  saved_at_ = Clock::now();
  update_->gather_weights(state_);
  const int code =
      checkpoints_.start(state_, [this](Snapshot& saved) { return gather_moments(&saved); });
  update_->drop_weights(state_);
  saving_ += seconds_since(saved_at_);
  return code;
}

}  // namespace dts::train
