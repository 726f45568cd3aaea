// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a training run: all ranks write while training continues.
//
// A save copies the state, each rank its share, and returns. Then a thread of each rank writes and
// syncs its file; once all have done so, a thread of rank 0 adds the manifest and commits. The
// ranks learn from each step's sums when to enter the next phase, so that no rank waits for a disk.
// At most one save is in flight: the next one waits for it.
#pragma once

#include "core/train/checkpoint/checkpoint_store.hpp"
#include "core/train/comm/comm.hpp"
#include "core/train/options/options.hpp"
#include "core/train/telemetry/report.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <utility>

namespace dts::train {

// All functions except the const ones are collective: every rank calls them in the same order.
// Functions with an exit code return the same one on all ranks, 0 for success; an error has been
// printed then. Not thread-safe.
class Checkpoints {
 public:
  struct Hooks {
    // Called on every rank for each committed checkpoint.
    std::function<void(const SaveEvent&)> on_saved;
    // If set, writes additional files of each rank into the folder of that step. Runs on a thread
    // of its own.
    std::function<Result<void>(const std::string& folder, std::uint64_t step)> beside = nullptr;
    // Returns the parameters that this rank owns, in ascending order.
    std::function<std::vector<Range>()> own;
    // If set, is called after load() sets a range of initial weights; a rank keeps only its own.
    std::function<void(Range)> on_weights = nullptr;
  };

  // Does nothing without a folder in the options. `layout` must outlive it.
  Checkpoints(Comm& comm, const Options& options, const Layout& layout, Hooks hooks);

  // Takes over the folder from earlier attempts. `config` must match that of a checkpoint;
  // `numerics` describes what these ranks compute with. Both are written to later checkpoints.
  [[nodiscard]] int open(const Fingerprint& config, const Fingerprint& numerics);

  // Reads `state` from the newest checkpoint, or initialises it. Afterwards each rank has at least
  // the weights and momentum that it owns.
  [[nodiscard]] int load(State& state);

  // Whether load() has found a checkpoint.
  [[nodiscard]] bool has_loaded() const { return !loaded_.name.empty(); }

  // Whether `digest`, on rank 0, is the one in the loaded checkpoint's manifest. If not, call
  // load() again, which then takes the checkpoint before. Always true if none was loaded.
  [[nodiscard]] bool is_right(std::uint64_t digest, Report& report);

  // Begins to save `state`. `gather` adds each rank's share of the arrays that are divided among
  // the ranks, and returns the digest of the whole state, which only rank 0 needs to know. If it
  // returns nullopt, on every rank, nothing is saved. A state that is not finite is not committed.
  [[nodiscard]] int start(const State& state,
                          const std::function<std::optional<std::uint64_t>(Snapshot&)>& gather);

  // Whether a save is in flight; the same on all ranks.
  [[nodiscard]] bool are_under_way() const { return phase_ != Phase::idle; }

  // Whether this rank is still writing. advance() needs to know whether any rank is.
  [[nodiscard]] bool busy() const;

  // To be called after each step. `ranks_busy` must be true if any rank is busy().
  [[nodiscard]] int advance(bool ranks_busy);

  // Waits for the save in flight, if there is one.
  [[nodiscard]] int finish();

 private:
  enum class Phase { idle, writing, committing };
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool active() const { return !options_.checkpoint_dir.empty(); }

  [[nodiscard]] Result<void> take_over(int& code);
  [[nodiscard]] std::string path_of(const std::string& name) const;
  [[nodiscard]] std::pair<Result<Manifest>, bool> check_together(const std::string& name);
  [[nodiscard]] Result<void> check_what_is_named();
  [[nodiscard]] Result<void> find();
  [[nodiscard]] Result<PartFile> write(std::uint64_t step) const;
  [[nodiscard]] int end_phase();
  [[nodiscard]] int end_writing();
  [[nodiscard]] int end_committing();
  [[nodiscard]] int drain();
  // The error to report for a failed save; sets the exit code if the disk is not the cause.
  [[nodiscard]] Result<void> failure(const Error& error, int& code) const;

  Comm& comm_;
  const Options& options_;
  const Layout& layout_;
  Hooks hooks_;
  CheckpointStore store_;  // used by rank 0
  std::string staging_;
  Loaded loaded_;  // ranks other than 0 have only the name
  Snapshot snapshot_;
  Manifest manifest_;  // of the save in flight
  Phase phase_ = Phase::idle;
  std::future<Result<PartFile>> written_;
  std::future<Result<Commit>> committed_;
  SaveEvent event_;
  Clock::time_point requested_;
  std::optional<Clock::time_point> finishing_;  // since when the ranks wait for the save
};

}  // namespace dts::train
