// SPDX-License-Identifier: Apache-2.0
// Reports of a run: metrics.jsonl for programs, event files for TensorBoard, short lines for
// people. Only rank 0 writes them.
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

// "dttrain: [rank R: ]message" and the hint, on standard error; a negative `rank` is not named.
void print_error(const Error& error, int rank);

struct StartEvent {
  struct Asynchronous {
    std::string who;              // serves whom: "2 servers, 6 workers"
    std::uint64_t staleness = 0;  // at most, in steps
  };

  std::uint64_t step = 0;  // completed before
  std::uint64_t total = 0;
  int world_size = 1;
  int shards = 1;
  int threads = 1;
  int batch = 1;
  const char* instruction_set = "";
  const char* precision = "";
  const char* device = "";
  bool is_node_first = false;  // sums and weights: within each node, then across
  bool reads_tokens = false;
  double flops = 0;  // of a step, on all ranks; Model::flops says which are counted; 0: not known
  double peak = 0;   // FLOP/s of all ranks; 0: not known
  std::optional<Asynchronous> asynchronous = std::nullopt;
  std::string devices;            // JSON, one of each rank; empty: processors
  std::size_t device_memory = 0;  // bytes that each of them has allocated, at most
  std::string exchange;  // JSON, what carries sums and weights between them; empty: nothing
  // FLOP/s of all ranks' devices: of products as they were measured at the start, and of their
  // data sheets; 0: not known.
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
  double tokens = 0;                                   // 0: its samples are images
  std::uint64_t root = 0;                              // Digests::root
  PhaseSeconds phases{};                               // of rank 0; `save`: since the step before
  std::optional<double> shard_squares = std::nullopt;  // GradientSquares::of_shards
  // If asynchronous, of this step's gradients: those of others that were applied between the
  // reading of a worker's weights and its own, on average and at most.
  std::optional<std::pair<double, double>> staleness = std::nullopt;
};

// Of the state, two ways.
struct Digests {
  std::uint64_t whole = 0;  // of all tensors, one after the other: needs them in one place
  std::uint64_t root = 0;   // of the checksums of all chunks, which each step has; 0: none
};

// A checkpoint that has been committed.
struct SaveEvent {
  std::uint64_t step = 0;
  double stalled = 0;        // seconds that it kept the ranks from training: `waited` and the copy
  double waited = 0;         // of that, for the save before it
  double seconds = 0;        // from the request to the commit
  std::uint64_t digest = 0;  // of the tensors; rank 0's alone
};

class Report {
 public:
  // `active` is false on all ranks but 0, where every member does nothing.
  Report(bool active, std::uint64_t attempt) : active_(active), attempt_(attempt) {}

  // metrics.jsonl.
  [[nodiscard]] Result<void> open(const std::string& path) { return metrics_.open(path); }

  // A new event file in the folder.
  [[nodiscard]] Result<void> open_tensorboard(const std::string& folder);

  void resumed(const Loaded& loaded);
  void started(const StartEvent& event);
  void step(const StepEvent& event);
  void saved(const SaveEvent& event);
  void devices(std::uint64_t step, const std::string& healths);  // a JSON list
  // `what` is not finite: the step goes on without its update, the `count`-th of at most `most`.
  void skipped(std::uint64_t step,
               const std::string& what,
               std::uint64_t count,
               std::uint64_t most);
  // Lines for people.
  void tuned(std::uint64_t step, const std::string& table);
  void not_finite(std::uint64_t step, const std::string& what);
  void corrupted(std::uint64_t step,
                 int rank,
                 const std::string& what);                           // a negative rank: between two
  void evaluated(std::uint64_t step, double accuracy, double loss);  // loss: mean of a prediction
  // Whole lines, for people.
  void note(const std::string& lines);
  void stopped(std::uint64_t step, const Digests& digests, bool saved);
  void done(std::uint64_t step, double accuracy, const Digests& digests);

  // The first failure to write a file.
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
