// SPDX-License-Identifier: Apache-2.0
// The command line of dttrain and the environment it reads. Pure, but for config.json of --from and
// the file of --config.
#pragma once

#include "core/base/default_shards.hpp"
#include "core/base/result.hpp"
#include "core/train/accelerator/device_kind.hpp"
#include "core/train/comm/comm.hpp"
#include "core/train/data/augmentation.hpp"
#include "core/train/data/token_file.hpp"
#include "core/train/device/instruction_set.hpp"
#include "core/train/memory/keeping.hpp"
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
  std::string model_words;             // of --model; empty: that of `from`, or cnn2
  std::string from;                    // a folder of transformers, with the first weights, or empty
  std::shared_ptr<const Model> model;  // what they mean
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::string validation;  // a file of tokens
  TokenFormat token_format = TokenFormat::automatic;
  std::string run_dir;      // empty: no metrics.jsonl
  double peak_tflops = 0;   // of all ranks; 0: not known
  std::string tensorboard;  // a folder; empty: no event files
  std::string trace;        // a file; empty: none
  std::uint64_t trace_steps = 20;
  std::string checkpoint_dir;  // empty: no checkpoints
  std::string
      export_weights;  // empty, or the file for the initial weights; then nothing is trained
  std::uint64_t epochs = 1;
  std::optional<std::uint64_t> steps;  // instead of epochs
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
  std::uint64_t base_batch = 256;  // that the rule's learning rate is meant for
  double label_smoothing = 0;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> save_every;  // steps; 0: only at the end and on stop; absent: auto
  std::uint64_t evaluate_every = 0;         // steps; 0: at the end of each epoch
  std::uint64_t verify_every = 50;          // steps; 0: nothing is sealed
  double audit_rate = 0;                    // share of the steps
  std::uint64_t skip_nonfinite = 0;         // steps of the whole run
  std::uint64_t keep = 3;                   // checkpoints
  std::uint64_t threads = 0;                // 0: as many as the rank has cores
  std::uint64_t limit_train = 0;            // samples; 0: all
  Augmentation augmentation;                // of training images
  TransportKind transport = TransportKind::automatic;
  std::uint64_t servers = 0;               // ranks that keep and update parameters; 0: all
  std::optional<std::uint64_t> staleness;  // steps a worker may be ahead; absent: synchronous
  // Of gradients that travel together; 0: all; absent: 4 MB if they overlap, otherwise all.
  std::optional<std::uint64_t> bucket_bytes;
  bool tunes_buckets = false;              // instead, in the first steps
  std::optional<bool> node_first;          // sums within each node, then across; absent: auto
  std::optional<bool> overlap;             // of their exchange with the backward pass; absent: auto
  std::uint64_t zero = 1;                  // its stage
  std::uint64_t comm_timeout = 600;        // seconds that a rank waits for others
  std::string rehearsal_words;             // of --rehearse; empty: this is no rehearsal
  std::optional<RehearsalPlan> rehearsal;  // what they mean
  // For drills:
  std::uint64_t step_delay_ms = 0;
  std::uint64_t save_delay_ms = 0;
  std::uint64_t ballast = 0;  // MiB of state beside the model's
  std::optional<std::uint64_t> slow_rank;
  std::uint64_t slow_rank_ms = 0;                           // extra delay of slow_rank at each step
  std::string fault;                                        // of --inject
  std::optional<Injection> injection;                       // what it means
  InstructionSet instruction_set = InstructionSet::avx512;  // upper limit; ranks may support less
  Precision precision = Precision::fp32;                    // of products and convolutions
  Keeping keeping;                                          // of activations
  DeviceKind device = DeviceKind::cpu;
  bool shares_device = false;                       // several ranks may have one
  ExchangeKind exchange = ExchangeKind::automatic;  // between devices
  bool any_numerics = false;                        // ranks on machines that differ train together
  std::uint64_t attempt = 1;
  std::optional<std::uint64_t> planned_ranks;  // as started by dtsubmit
  std::string beat;                            // $DTSUBMIT_BEAT, the heartbeat's page; empty: none
  bool begin_anew = false;                     // if every checkpoint is damaged
  bool help = false;

  [[nodiscard]] int micro_batch() const { return static_cast<int>(batch / shards); }

  // After --batch-rule, for a run of `total` steps.
  [[nodiscard]] Schedule learning_rates(std::uint64_t total) const;
};

using Lookup = std::function<const char*(const char*)>;  // getenv(3)

// Options from the environment (DTSUBMIT_RUN_DIR, DTSUBMIT_CHECKPOINT_DIR, DTSUBMIT_ATTEMPT,
// DTSUBMIT_BEGIN_ANEW, OMP_NUM_THREADS; under dtsubmit also WORLD_SIZE), overridden by those of the
// file of --config, and these by `arguments` (without the program name). Errc::usage; of that file
// also Errc::not_found or Errc::io.
[[nodiscard]] Result<Options> parse_options(const std::vector<std::string>& arguments,
                                            const Lookup& environment);

// The text of --help.
[[nodiscard]] std::string usage();

}  // namespace dts::train
