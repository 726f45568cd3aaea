// SPDX-License-Identifier: Apache-2.0
// Reports of a run: metrics.jsonl for programs, event files for TensorBoard, and short lines for
// users. Only rank 0 writes them.
#pragma once

#include "core/train/checkpoint/checkpoint_store.hpp"
#include "core/train/telemetry/appended_file.hpp"
#include "core/train/telemetry/noise_scale.hpp"
#include "core/train/telemetry/progress.hpp"
#include "core/train/telemetry/tensorboard.hpp"
#include "core/train/timing/timeline.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace dts::train {

// Writes "dttrain: [rank R: ]message" and the hint to standard error; omits a negative `rank`.
void print_error(const Error& error, int rank);

struct StartEvent {
  struct Asynchronous {
    std::string who;              // roles: "2 servers, 6 workers"
    std::uint64_t staleness = 0;  // the limit, in steps
  };

  std::uint64_t step = 0;  // number of completed steps
  std::uint64_t total = 0;
  int world_size = 1;
  int shards = 1;
  int threads = 1;
  int batch = 1;
  const char* instruction_set = "";
  const char* precision = "";
  const char* device = "";
  bool is_node_first = false;  // send sums and weights within each node first, then across
  bool reads_tokens = false;
  double flops = 0;  // per step, on all ranks, as counted by Model::flops; 0: unknown
  double peak = 0;   // FLOP/s of all ranks; 0: unknown
  std::optional<Asynchronous> asynchronous = std::nullopt;
  std::string devices;            // JSON, one object per rank; empty: processors
  std::size_t device_memory = 0;  // the most bytes that one of them has allocated
  std::string exchange;           // JSON, how they exchange sums and weights; empty: not at all
  // FLOP/s of all ranks' devices: of products measured at the start, and according to data sheets;
  // 0: unknown.
  double gemm_peak = 0;
  double sheet_peak = 0;
};

struct StepEvent {
  std::uint64_t step = 0;
  std::uint64_t total = 0;
  double loss = 0;      // mean over the batch
  double accuracy = 0;  // on the batch
  double lr = 0;
  double gradient_norm = 0;
  double seconds = 0;  // of this step, without --step-delay
  double samples = 0;
  double tokens = 0;                                   // 0: the samples are images
  std::uint64_t root = 0;                              // Digests::root
  PhaseSeconds phases{};                               // of rank 0; `save`: since the previous step
  std::optional<double> shard_squares = std::nullopt;  // GradientSquares::of_shards
  // If asynchronous, for the gradients of this step: the number of other gradients that were
  // applied between a worker's read of the weights and its own gradient, average and maximum.
  std::optional<std::pair<double, double>> staleness = std::nullopt;
};

// Two digests of the state.
struct Digests {
  std::uint64_t whole = 0;  // of all tensors in sequence: needs them in one place
  std::uint64_t root = 0;   // of the checksums of all chunks, known in every step; 0: none
};

// A committed checkpoint.
struct SaveEvent {
  std::uint64_t step = 0;
  double stalled = 0;        // seconds that the ranks could not train: `waited` plus the copy
  double waited = 0;         // part of that: for the save before this one
  double seconds = 0;        // from the request to the commit
  std::uint64_t digest = 0;  // of the tensors; only on rank 0
};

class Report {
 public:
  // `active` is false on all ranks but 0; there, no function does anything.
  Report(bool active, std::uint64_t attempt) : active_(active), attempt_(attempt) {}

  // Opens metrics.jsonl.
  [[nodiscard]] Result<void> open(const std::string& path) { return metrics_.open(path); }

  // Creates an event file in the folder.
  [[nodiscard]] Result<void> open_tensorboard(const std::string& folder);

  void resumed(const Loaded& loaded);
  void started(const StartEvent& event);
  void step(const StepEvent& event);
  void saved(const SaveEvent& event);
  void devices(std::uint64_t step, const std::string& healths);  // a JSON list
  // `what` is not finite: the step is made without an update, the `count`-th of at most `most`.
  void skipped(std::uint64_t step,
               const std::string& what,
               std::uint64_t count,
               std::uint64_t most);
  // Lines for users.
  void tuned(std::uint64_t step, const std::string& table);
  void not_finite(std::uint64_t step, const std::string& what);
  void corrupted(std::uint64_t step,
                 int rank,
                 const std::string& what);                           // a negative rank: between two
  void evaluated(std::uint64_t step, double accuracy, double loss);  // loss: mean per prediction
  // Complete lines for users.
  void note(const std::string& lines);
  void stopped(std::uint64_t step, const Digests& digests, bool saved);
  void done(std::uint64_t step, double accuracy, const Digests& digests);

  // The first error of writing a file.
  [[nodiscard]] const Result<void>& status() const {
    return metrics_.status() ? tensorboard_.status() : metrics_.status();
  }

 private:
  using Values = tensorboard::Scalars;

  void event(const char* name, std::uint64_t step, const std::string& fields);
  [[nodiscard]] Values values_of(const StepEvent& event);
  void say(const std::string& line);

  bool active_;
  StartEvent start_;
  std::uint64_t attempt_;
  NoiseScale noise_scale_;
  AppendedFile metrics_;
  AppendedFile tensorboard_;
  Progress progress_;
};

}  // namespace dts::train
