// SPDX-License-Identifier: Apache-2.0
// The folder of checkpoints: step-000000200/{state.safetensors,manifest.json}, each complete or
// absent.
//
// A checkpoint is written as step-N.tmp.<random>, synced, and renamed. Only rank 0 uses it; not
// thread-safe.
#pragma once

#include "core/train/checkpoint/checkpoint.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

struct StoreOptions {
  std::string folder;
  std::uint64_t attempt = 1;  // ours
  unsigned keep = 3;          // newest checkpoints kept
  bool begin_anew = false;    // at step 0 if every checkpoint is damaged
};

// The result of a commit. `refusal` is empty, or says which newer attempt has taken over the
// folder.
struct Commit {
  std::string refusal;
};

// "step-000000200".
[[nodiscard]] std::string checkpoint_name(std::uint64_t step);

// Writes a checkpoint of `state`, then removes the oldest beyond `keep`. The folder's file `fence`
// is read before the rename: a higher attempt number in it refuses the commit. On error or refusal
// no temporary folder remains and older checkpoints are untouched. Errc::io for a full disk.
[[nodiscard]] Result<Commit> save_checkpoint(const StoreOptions& options,
                                             const Layout& layout,
                                             const State& state,
                                             std::uint64_t samples_seen,
                                             const Fingerprint& config);

struct Loaded {
  std::string name;                   // of the checkpoint used; empty if none
  std::vector<std::string> refusals;  // "step-000000200: why", newest first
  std::string other_bits;             // why results will not be bit-identical; empty if they will
};

// Fills `state` from the newest checkpoint that verifies, and removes temporary folders of dead
// writers. Errc::invalid if that checkpoint belongs to another configuration (the error says what
// differs), or if all checkpoints are damaged and begin_anew is not set.
[[nodiscard]] Result<Loaded> load_newest_checkpoint(const StoreOptions& options,
                                                    const Layout& layout,
                                                    const Fingerprint& config,
                                                    State& state);

}  // namespace dts::train
