// SPDX-License-Identifier: Apache-2.0
// The command line of dttrain and the environment that it reads. Pure, except that it reads the
// config.json of --from and the file of --config.
#pragma once

#include "core/base/default_shards.hpp"
#include "core/base/result.hpp"
#include "core/train/accelerator/device_kind.hpp"
#include "core/train/comm/comm.hpp"
#include "core/train/data/augmentation.hpp"
#include "core/train/data/token_file.hpp"
#include "core/train/device/instruction_set.hpp"
#include "core/train/memory/activation_storage.hpp"
#include "core/train/models/model_table.hpp"
#include "core/train/optim/optimizer.hpp"
#include "core/train/optim/schedule.hpp"
#include "core/train/rehearsal/rehearsal_plan.hpp"
#include "core/train/update/injection.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dts::train {

struct Options {
  std::string config;                  // a file of options, or empty
  std::string model_words;             // value of --model; empty: that of `from`, or cnn2
  std::string from;                    // a transformers folder with the initial weights, or empty
  std::shared_ptr<const Model> model;  // the model that these options select
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::string validation;  // a file of tokens
  TokenFormat token_format = TokenFormat::automatic;
  std::string run_dir;      // empty: no metrics.jsonl
  double peak_tflops = 0;   // of all ranks; 0: unknown
  std::string tensorboard;  // a folder; empty: no event files
  std::string trace;        // a file; empty: none
  std::uint64_t trace_steps = 20;
  std::string checkpoint_dir;  // empty: no checkpoints
  std::string
      export_weights;  // empty, or the file for the initial weights; then nothing is trained
  std::uint64_t epochs = 1;
  std::optional<std::uint64_t> steps;  // replaces epochs
  std::uint64_t batch = 128;
  std::uint64_t shards = k_default_shards;
  const OptimizerRow* optimizer = find_optimizer("sgd");
  OptimizerSettings optimization;
  std::optional<double> lr;            // absent: the optimiser's
  std::optional<double> weight_decay;  // absent: the optimiser's
  std::uint64_t warmup = 100;          // steps
  const ScheduleRow* schedule = find_schedule("cosine");
  double min_lr = 0;
  BatchRule batch_rule = BatchRule::none;
  std::uint64_t base_batch = 256;  // for which lr is meant with batch_rule
  double label_smoothing = 0;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> save_every;  // steps; 0: only at the end and on stop; absent: auto
  std::uint64_t evaluate_every = 0;         // steps; 0: at the end of each epoch
  std::uint64_t verify_every = 50;          // steps; 0: no checksums
  double audit_rate = 0;                    // share of steps that are audited
  std::uint64_t skip_nonfinite = 0;         // limit for the whole run
  std::uint64_t keep = 3;                   // number of checkpoints
  std::uint64_t threads = 0;                // 0: one per core of the rank
  std::uint64_t limit_train = 0;            // samples; 0: all
  Augmentation augmentation;                // of training images
  TransportKind transport = TransportKind::automatic;
  std::uint64_t servers = 0;               // ranks that own and update parameters; 0: all
  std::optional<std::uint64_t> staleness;  // steps that a worker may be ahead; absent: synchronous
  // Bytes of gradients that travel together; 0: all; absent: 4 MB with overlap, otherwise all.
  std::optional<std::uint64_t> bucket_bytes;
  bool tunes_buckets = false;              // finds the best size in the first steps instead
  std::optional<bool> node_first;          // sums within each node, then across; absent: auto
  std::optional<bool> overlap;             // exchange during the backward pass; absent: auto
  std::uint64_t zero = 1;                  // ZeRO stage
  std::uint64_t comm_timeout = 600;        // seconds that a rank waits for others
  std::string rehearsal_words;             // value of --rehearse; empty: no rehearsal
  std::optional<RehearsalPlan> rehearsal;  // parsed
  // For drills:
  std::uint64_t step_delay_ms = 0;
  std::uint64_t save_delay_ms = 0;
  std::uint64_t ballast = 0;  // MiB of additional state
  std::optional<std::uint64_t> slow_rank;
  std::uint64_t slow_rank_ms = 0;                           // extra delay of slow_rank at each step
  std::string fault;                                        // value of --inject
  std::optional<Injection> injection;                       // parsed
  InstructionSet instruction_set = InstructionSet::avx512;  // upper limit; ranks may support less
  Precision precision = Precision::fp32;                    // of products and convolutions
  ActivationStorage storage;                                // of activations
  DeviceKind device = DeviceKind::cpu;
  bool shares_device = false;                       // whether ranks may share a device
  ExchangeKind exchange = ExchangeKind::automatic;  // between devices
  bool any_numerics = false;                        // different machines may train together
  std::uint64_t attempt = 1;
  std::optional<std::uint64_t> planned_ranks;  // if started by dtsubmit
  std::string beat;                            // $DTSUBMIT_BEAT, the heartbeat page; empty: none
  bool begin_anew = false;                     // if every checkpoint is damaged
  bool help = false;

  [[nodiscard]] int micro_batch() const { return static_cast<int>(batch / shards); }

  // With --batch-rule applied, for a run of `total` steps.
  [[nodiscard]] Schedule learning_rates(std::uint64_t total) const;
};

using Lookup = std::function<const char*(const char*)>;  // getenv(3)

// Reads options from the environment (DTSUBMIT_RUN_DIR, DTSUBMIT_CHECKPOINT_DIR, DTSUBMIT_ATTEMPT,
// DTSUBMIT_BEGIN_ANEW, OMP_NUM_THREADS; under dtsubmit also WORLD_SIZE), then from the file of
// --config, then from `arguments` (without the program name); later ones override earlier ones.
// Errc::usage; for that file also Errc::not_found or Errc::io.
[[nodiscard]] Result<Options> parse_options(const std::vector<std::string>& arguments,
                                            const Lookup& environment);

// The text of --help.
[[nodiscard]] std::string usage();

}  // namespace dts::train
