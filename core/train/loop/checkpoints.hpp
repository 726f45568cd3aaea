// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a training run: all ranks write while training goes on.
//
// A save copies the state (each rank its share) and returns. Then each rank's thread writes and
// syncs its file; once all have, rank 0's thread adds the manifest and commits. The ranks learn
// from each step's sums when to go from one phase to the next, so that no rank waits for a disk. At
// most one save is in flight: the next one waits for it.
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

// All but the const ones are collective: every rank calls them in the same order. Those with an
// exit code return the same one on all ranks, 0 for success; the error has been printed then. Not
// thread-safe.
class Checkpoints {
 public:
  struct Hooks {
    // Called on every rank for each checkpoint committed.
    std::function<void(const SaveEvent&)> told;
    // If set: what each rank writes beside its share of the state, into the folder of that step, on
    // a thread of its own.
    std::function<Result<void>(const std::string& folder, std::uint64_t step)> beside = nullptr;
    // What this rank owns of the parameters, ascending.
    std::function<std::vector<Range>()> own;
    // If set: told of initial weights that load() has put there, of which a rank keeps its own.
    std::function<void(Range)> weights_came = nullptr;
  };

  // Without a folder in the options it does nothing. `layout` must outlive it.
  Checkpoints(Comm& comm, const Options& options, const Layout& layout, Hooks hooks);

  // Takes the folder over from earlier attempts. `config` is what a checkpoint must agree with,
  // `numerics` what these ranks compute with; later ones are given both.
  [[nodiscard]] int open(const Fingerprint& config, const Fingerprint& numerics);

  // Fills `state` from the newest checkpoint, or initialises it: of weights and momentum, each rank
  // has then what it owns at least.
  [[nodiscard]] int load(State& state);

  // Whether load() has found one.
  [[nodiscard]] bool has_loaded() const { return !loaded_.name.empty(); }

  // Whether that is the state of its manifest, of which rank 0 knows the digest; if not, load()
  // takes the one before. True also if none was loaded.
  [[nodiscard]] bool is_right(std::uint64_t digest, Report& report);

  // Begins to save `state`. `gather` adds what each rank's share has of the arrays that are divided
  // among the ranks, and returns the digest of the whole state, which only rank 0 needs to know; if
  // it returns none, on every rank, nothing is saved. A state that is not finite is not committed.
  [[nodiscard]] int start(const State& state,
                          const std::function<std::optional<std::uint64_t>(Snapshot&)>& gather);

  // A save is in flight, on all ranks.
  [[nodiscard]] bool are_under_way() const { return phase_ != Phase::idle; }

  // Whether this rank still has to write. The sum over ranks goes to advance().
  [[nodiscard]] bool busy() const;

  // After each step: `ranks_busy` is true if a rank is.
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
  // What to report of a save that failed; sets the exit code if that was no fault of the disk.
  [[nodiscard]] Result<void> failure(const Error& error, int& code) const;

  Comm& comm_;
  const Options& options_;
  const Layout& layout_;
  Hooks hooks_;
  CheckpointStore store_;  // rank 0's
  std::string staging_;
  Loaded loaded_;  // of other ranks than 0, the name
  Snapshot snapshot_;
  Manifest manifest_;  // of the save in flight
  Phase phase_ = Phase::idle;
  std::future<Result<PartFile>> written_;
  std::future<Result<Commit>> committed_;
  SaveEvent event_;
  Clock::time_point requested_;
  std::optional<Clock::time_point> finishing_;  // since then the ranks wait for it
};

}  // namespace dts::train
