// SPDX-License-Identifier: Apache-2.0
// The training loop: steps, evaluation, checkpoints, stopping. All ranks make every decision
// together.
#include "core/train/loop/trainer.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/files/beat_page.hpp"
#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/text/units.hpp"
#include "core/train/checkpoint/save_rule.hpp"
#include "core/train/data/shared_samples.hpp"
#include "core/train/device/instruction_set.hpp"
#include "core/train/loop/checkpoints.hpp"
#include "core/train/loop/settle.hpp"
#include "core/train/loop/stop.hpp"
#include "core/train/model/shard_sums.hpp"
#include "core/train/telemetry/metrics.hpp"
#include "core/train/telemetry/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <thread>

namespace dts::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Run {
 public:
  Run(Comm& comm, const Options& options)
      : comm_(comm),
        options_(options),
        layout_(cnn2_layout(static_cast<int>(options.ballast))),
        state_(layout_),
        report_(comm.rank() == 0, options.attempt),
        beat_(BeatPage::open(options.beat)),
        checkpoints_(comm, options_, layout_, [this](const SaveEvent& event) {
          if (beat_) beat_->saved(static_cast<std::uint64_t>(event.seconds * 1000));
          report_.saved(event);
        }) {}

  int run();

 private:
  enum class Next { step, save, stop, fail };

  int settle(const Result<void>& mine, std::optional<int> code = {}) {
    return train::settle(comm_, mine, code);
  }

  int prepare();
  int open_files();
  int resume();
  int loop();
  Next step();
  int save();
  void evaluate();
  int finish();
  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] Fingerprint fingerprint() const;

  [[nodiscard]] bool evaluates_now() const;
  [[nodiscard]] bool save_is_due() const;
  void delay() const;

  Comm& comm_;
  Options options_;
  Layout layout_;
  State state_;
  Report report_;
  InstructionSet instruction_set_ = InstructionSet::portable;
  SharedSamples samples_;
  std::unique_ptr<ShardSums> sums_;
  Optimizer optimizer_;
  std::optional<BeatPage> beat_;  // absent if not run by dtsubmit
  Checkpoints checkpoints_;
  bool ranks_write_ = false;  // a checkpoint, after the last step
  std::uint64_t steps_per_epoch_ = 0;
  std::uint64_t digest_ = 0;  // of the state; rank 0's alone
  std::uint64_t saved_step_ = 0;
  Clock::time_point saved_at_;
  double accuracy_ = 0;
};

Result<void> Run::check() const {
  if (comm_.size() > static_cast<int>(options_.shards))
    return fail(Errc::usage,
                fmt::format("{} ranks, but only --shards {}", comm_.size(), options_.shards),
                "use at most as many ranks as shards, or a larger --shards");
  return {};
}

int Run::prepare() {
  instruction_set_ = static_cast<InstructionSet>(
      comm_.least(static_cast<int>(std::min(options_.instruction_set, best_instruction_set()))));
  use_instruction_set(instruction_set_);
  if (const int code = settle(comm_.rank() == 0 ? check() : Result<void>{}); code != 0) return code;
  auto samples = share_samples(comm_, options_.data, options_.limit_train);
  if (!samples) {  // all ranks already agreed on this
    if (!samples.error().message.empty())
      print_error(samples.error(), comm_.size() > 1 ? comm_.rank() : -1);
    return exit_code(Errc::invalid);
  }
  samples_ = *samples;
  steps_per_epoch_ = samples_.train.count / options_.batch;
  Result<void> ready;
  if (steps_per_epoch_ == 0)
    ready = fail(Errc::usage,
                 fmt::format("--batch {} is more than the {} training images",
                             options_.batch,
                             samples_.train.count));
  if (ready) {
    auto sums = ShardSums::create(layout_,
                                  static_cast<int>(options_.shards),
                                  options_.micro_batch(),
                                  static_cast<int>(options_.threads));
    if (sums)
      sums_ = std::move(*sums);
    else
      ready = tl::unexpected(sums.error());
  }
  optimizer_ = {options_.lr,
                options_.momentum,
                options_.warmup,
                options_.schedule,
                options_.steps.value_or(options_.epochs * steps_per_epoch_)};
  return settle(ready);
}

Fingerprint Run::fingerprint() const {
  Fingerprint f{{"model", "cnn2"},
                {k_instruction_set, to_string(instruction_set_)},
                {"data", fmt::format("{} images {}", samples_.train.count, to_hex(samples_.hash))},
                {"seed", std::to_string(options_.seed)},
                {"shards", std::to_string(options_.shards)},
                {"batch", std::to_string(options_.batch)},
                {"lr", fmt::format("{}", options_.lr)},
                {"momentum", fmt::format("{}", options_.momentum)},
                {"warmup", std::to_string(options_.warmup)},
                {"schedule", "constant"}};
  if (options_.ballast > 0) f["ballast"] = fmt::format("{} MiB", options_.ballast);
  if (options_.schedule == Schedule::cosine)
    f["schedule"] = fmt::format("cosine over {} steps", optimizer_.total);
  return f;
}

int Run::open_files() {
  Result<void> opened;
  if (comm_.rank() == 0 && !options_.run_dir.empty()) {
    opened = make_folders(options_.run_dir);
    if (opened) opened = report_.open(options_.run_dir + "/metrics.jsonl");
  }
  return settle(opened, exit_code(Errc::io));
}

int Run::resume() {
  if (const int code = checkpoints_.resume(fingerprint(), state_, report_); code != 0) return code;
  if (comm_.rank() == 0) digest_ = digest(state_);
  saved_step_ = state_.step;
  return 0;
}

void Run::delay() const {
  const bool slow = options_.slow_rank == static_cast<std::uint64_t>(comm_.rank());
  const std::uint64_t time = options_.step_delay_ms + (slow ? options_.slow_rank_ms : 0);
  if (time > 0) std::this_thread::sleep_for(std::chrono::milliseconds(time));
}

// Rank 0 decides, because clocks differ; the others receive its decision with this step's sums.
bool Run::save_is_due() const {
  using std::chrono::milliseconds;
  const milliseconds advised(beat_ ? beat_->checkpoint_every_milliseconds() : 0);
  return SaveRule{options_.save_every}.due(
      state_.step + 1, std::chrono::duration_cast<milliseconds>(Clock::now() - saved_at_), advised);
}

Run::Next Run::step() {
  const Clock::time_point work = Clock::now();
  delay();
  const Clock::time_point start = Clock::now();
  const auto shards = static_cast<int>(options_.shards);
  const StepInput input{samples_.train,
                        state_.weights.data(),
                        options_.seed,
                        state_.step,
                        static_cast<int>(options_.batch)};
  const Partials mine = sums_->sum(input, part_of({0, shards}, comm_.size(), comm_.rank()));
  float* const first = mine.begin()->second;
  first[layout_.scalar(Scalar::stop)] = stop_signal() != 0 ? 1.0F : 0.0F;
  first[layout_.scalar(Scalar::error)] = report_.status() ? 0.0F : 1.0F;
  first[layout_.scalar(Scalar::writing)] = checkpoints_.busy() ? 1.0F : 0.0F;
  first[layout_.scalar(Scalar::save)] = comm_.rank() == 0 && save_is_due() ? 1.0F : 0.0F;
  if (beat_) beat_->worked(static_cast<std::uint64_t>(seconds_since(work) * 1000));
  const float* const sums = comm_.tree_sum(shards, layout_.sum_floats(), mine);
  if (sums[layout_.scalar(Scalar::error)] > 0) return Next::fail;
  const double lr = learning_rate(optimizer_, state_.step);
  ranks_write_ = sums[layout_.scalar(Scalar::writing)] > 0;
  apply_step(layout_, sums, optimizer_, {shards, options_.micro_batch()}, state_);
  if (beat_) beat_->beat(state_.step);
  if (comm_.rank() == 0) {
    const auto batch = static_cast<double>(options_.batch);
    digest_ = digest(state_);
    report_.step({state_.step,
                  optimizer_.total,
                  static_cast<double>(sums[layout_.scalar(Scalar::loss)]) / batch,
                  static_cast<double>(sums[layout_.scalar(Scalar::correct)]) / batch,
                  lr,
                  seconds_since(start),
                  batch,
                  digest_});
  }
  if (sums[layout_.scalar(Scalar::stop)] > 0) return Next::stop;
  return sums[layout_.scalar(Scalar::save)] > 0 ? Next::save : Next::step;
}

int Run::save() {
  saved_step_ = state_.step;
  saved_at_ = Clock::now();
  return checkpoints_.start(state_, digest_);
}

void Run::evaluate() {
  const std::int64_t correct = comm_.sum(sums_->count_correct(
      samples_.test, state_.weights.data(), state_.running.data(), comm_.size(), comm_.rank()));
  accuracy_ = static_cast<double>(correct) / static_cast<double>(samples_.test.count);
  report_.evaluated(state_.step, accuracy_);
}

bool Run::evaluates_now() const {
  const std::uint64_t every =
      options_.evaluate_every == 0 ? steps_per_epoch_ : options_.evaluate_every;
  return state_.step % every == 0 && state_.step < optimizer_.total;  // the end evaluates anyway
}

int Run::loop() {
  saved_at_ = Clock::now();
  while (state_.step < optimizer_.total) {
    const Next next = step();
    if (next == Next::fail) {
      const int unsaved = checkpoints_.finish();
      return std::max(unsaved, settle(report_.status(), exit_code(Errc::io)));
    }
    if (const int code = checkpoints_.advance(ranks_write_); code != 0) return code;
    if (next == Next::stop && state_.step < optimizer_.total) {
      if (const int code = save(); code != 0) return code;
      if (const int code = checkpoints_.finish(); code != 0) return code;
      report_.stopped(state_.step, digest_, !options_.checkpoint_dir.empty());
      return k_checkpointed;
    }
    if (next == Next::save)
      if (const int code = save(); code != 0) return code;
    if (evaluates_now()) evaluate();
  }
  return finish();
}

int Run::finish() {
  if (saved_step_ != state_.step)
    if (const int code = save(); code != 0) return code;
  evaluate();
  if (const int code = checkpoints_.finish(); code != 0) return code;
  report_.done(state_.step, accuracy_, digest_);
  return settle(report_.status(), exit_code(Errc::io));
}

int Run::run() {
  if (const int code = prepare(); code != 0) return code;
  if (const int code = open_files(); code != 0) return code;
  if (const int code = resume(); code != 0) return code;
  report_.started({state_.step,
                   optimizer_.total,
                   comm_.size(),
                   static_cast<int>(options_.shards),
                   static_cast<int>(options_.threads),
                   static_cast<int>(options_.batch),
                   to_string(instruction_set_)});
  return loop();
}

}  // namespace

int train(Comm& comm, const Options& options) {
  return Run(comm, options).run();
}

}  // namespace dts::train
