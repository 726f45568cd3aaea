// SPDX-License-Identifier: Apache-2.0
// The training loop: steps, evaluation, checkpoints, stopping. All decisions are
// collective.
#include "core/train/loop/trainer.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/text/units.hpp"
#include "core/train/checkpoint/save_rule.hpp"
#include "core/train/loop/not_finite.hpp"
#include "core/train/loop/run.hpp"
#include "core/train/loop/stop.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <new>
#include <thread>
#include <utility>

namespace dts::train {
namespace {

constexpr std::uint64_t k_noise_every = 10;  // steps; needs a pass over each shard's gradients

}  // namespace

void Run::delay() const {
  const bool slow = options_.slow_rank == static_cast<std::uint64_t>(comm_.rank());
  const std::uint64_t time = options_.step_delay_ms + (slow ? options_.slow_rank_ms : 0);
  if (time > 0) std::this_thread::sleep_for(std::chrono::milliseconds(time));
}

// Rank 0 decides, because clocks differ; the other ranks get its decision with this step's sums.
bool Run::save_is_due() const {
  using std::chrono::milliseconds;
  const milliseconds advised(beat_ ? beat_->checkpoint_every_milliseconds() : 0);
  return SaveRule{options_.save_every}.due(
      state_.step + 1, std::chrono::duration_cast<milliseconds>(Clock::now() - saved_at_), advised);
}

StepInput Run::input() const {
  const auto& fault = options_.injection;
  StepInput made{samples_.train,
                 state_.weights.data(),
                 options_.seed,
                 state_.step,
                 static_cast<int>(options_.batch),
                 static_cast<float>(options_.label_smoothing)};
  made.augmentation = options_.augmentation;
  if (fault && fault->is_due(Injection::Target::nan, state_.step)) made.nan_shard = fault->shard;
  if (fault && fault->is_due(Injection::Target::computation, state_.step) &&
      fault->rank == comm_.rank())
    made.miscomputed = fault->element;
  made.with_squares = (state_.step + 1) % k_noise_every == 0;
  return made;
}

// Decisions travel with the sums of a step.
void Run::set_flags(float* tail) const {
  tail[layout_.in_tail(Scalar::stop)] = stop_signal() != 0 ? 1.0F : 0.0F;
  tail[layout_.in_tail(Scalar::error)] = report_.status() ? 0.0F : 1.0F;
  tail[layout_.in_tail(Scalar::writing)] = checkpoints_.busy() ? 1.0F : 0.0F;
  tail[layout_.in_tail(Scalar::save)] = comm_.rank() == 0 && save_is_due() ? 1.0F : 0.0F;
}

void Run::inject() {
  const auto& fault = options_.injection;
  if (!fault || fault->rank != comm_.rank()) return;
  if (fault->is_due(Injection::Target::weight, state_.step))
    update_->flip_weight(state_, fault->element);
  if (fault->is_due(Injection::Target::statistic, state_.step))
    flip_bit(state_.running.data()[fault->element]);
  if (fault->is_due(Injection::Target::call, state_.step)) comm_.barrier();
}

Run::Next Run::step() {
  const Clock::time_point work = Clock::now();
  delay();
  const Clock::time_point start = Clock::now();
  timeline_.clear();
  begun_ = state_.step + 1;
  inject();
  if (rehearsal_) {
    const Timed computing(timeline_.track(0), Phase::backward);
    rehearsal_->compute();
  }
  const int shards = static_cast<int>(options_.shards);
  const auto audit =
      audit_of(options_.audit_rate, options_.seed, state_.step, shards, comm_.size());
  StepInput in = input();
  in.timeline = &timeline_;
  if (audit) in.audited = audit->shard;
  if (!gradient_buckets_.ranges.empty()) in.buckets = &gradient_buckets_;
  if (window_) in.window = &*window_;
  in.gradients_stay = update_->gradients_stay();
  const Partials mine = compute(in);
  if (audit && !passes(*audit, in)) return Next::damaged;
  set_flags(update_->tail_of(mine));
  if (beat_) beat_->worked(static_cast<std::uint64_t>(seconds_since(work) * 1000));
  if (rehearsal_) {
    if (stage_ == 1) update_->exchange().relay_rest();
    rehearsal_->communicate();
  }
  const float* tail = nullptr;
  {
    const Timed reducing(timeline_.track(0), Phase::reduce);
    tail = update_->reduce(state_, mine);
  }
  return update(tail, start);
}

ShardedUpdate::Ended Run::apply(double lr) {
  const Timed optimizing(timeline_.track(0), Phase::optimizer);
  return update_->apply(lr, state_);
}

void Run::report_step(const float* tail, double lr, double seconds) {
  const auto at = [&](Scalar which) {
    return static_cast<double>(tail[layout_.scalar(which) - layout_.parameter_floats]);
  };
  const auto batch = static_cast<double>(options_.batch);
  const double predictions = batch * model_.reads.predictions();
  StepEvent event{state_.step,
                  schedule_.total,
                  at(Scalar::loss) / predictions,
                  at(Scalar::correct) / predictions,
                  lr,
                  update_->gradient_norm(),
                  seconds,
                  batch,
                  model_.reads.what == Reads::What::tokens ? predictions : 0,
                  update_->root(state_),
                  phase_seconds(timeline_)};
  event.phases[static_cast<std::size_t>(Phase::save)] = std::exchange(saving_, 0);
  if (state_.step % k_noise_every == 0) event.shard_squares = at(Scalar::squares);
  if (asynchrony_) amend(event, tail);
  report_.step(event);
}

Run::Next Run::update(const float* tail, Clock::time_point start) {
  const auto at = [&](Scalar which) {
    return tail[layout_.scalar(which) - layout_.parameter_floats];
  };
  ranks_write_ = at(Scalar::writing) > 0;
  if (at(Scalar::error) > 0) return Next::fail;
  if (at(Scalar::damage) > 0) return Next::damaged;
  const Next then = at(Scalar::stop) > 0   ? Next::stop
                    : at(Scalar::save) > 0 ? Next::save
                                           : Next::step;
  const double lr = learning_rate(schedule_, state_.step);
  auto wrong = first_not_finite_of_tail(layout_, tail);
  if (!wrong) {
    const auto ended = apply(lr);
    if (ended == ShardedUpdate::Ended::damaged) return Next::damaged;
    if (ended == ShardedUpdate::Ended::not_finite) wrong = update_->what_is_not_finite();
  }
  if (wrong) {  // perhaps a bit flipped
    if (!update_->verify(state_)) return Next::damaged;
    const Next next = skip_step(*wrong);
    return next == Next::step ? then : next;
  }
  update_statistics(
      layout_, tail, {static_cast<int>(options_.shards), options_.micro_batch()}, state_.running);
  change_ballast(state_);
  ++state_.step;
  if (beat_) beat_->beat(state_.step);
  if (comm_.rank() == 0) report_step(tail, lr, seconds_since(start));
  return then;
}

void Run::evaluate() {
  const Timed evaluating(timeline_.track(0), Phase::evaluate);
  const float* const weights = state_.weights.data();
  const float* const running = state_.running.data();
  const Score mine =
      window_ ? backend_->evaluate_within(
                    *window_, samples_.test, weights, running, comm_.size(), comm_.rank())
              : backend_->evaluate(samples_.test, weights, running, comm_.size(), comm_.rank());
  if (window_) window_->clear();
  const auto predictions =
      static_cast<double>(samples_.test.count) * static_cast<double>(model_.reads.predictions());
  accuracy_ = static_cast<double>(comm_.sum(mine.correct)) / predictions;
  const double finite = static_cast<double>(comm_.sum(mine.loss)) * k_loss_unit / predictions;
  const bool is_finite = comm_.sum(mine.not_finite) == 0;
  const double loss = is_finite ? finite : std::numeric_limits<double>::quiet_NaN();
  report_.evaluated(state_.step, accuracy_, loss);
}

bool Run::evaluates_now() const {
  const std::uint64_t every =
      options_.evaluate_every == 0 ? steps_per_epoch_ : options_.evaluate_every;
  return state_.step % every == 0 && state_.step < schedule_.total;  // the end always evaluates
}

// Acts on the result of a step. Returns an exit code, or 0 to continue.
int Run::after(Next next) {
  if (next == Next::fail) return agree_on_error(report_.status(), exit_code(Errc::io));
  if (next == Next::not_finite) return stop_not_finite();
  if (next == Next::damaged) return stop_damaged();
  if (const int code = checkpoints_.advance(ranks_write_); code != 0) return code;
  if (next == Next::stop && state_.step < schedule_.total) return stop();
  if (next == Next::save) return save();
  const bool verifies = options_.verify_every != 0 && state_.step % options_.verify_every == 0;
  return verifies && !update_->verify(state_) ? stop_damaged() : 0;
}

int Run::stop() {
  if (const int code = save(); code != 0) return code;
  if (const int code = checkpoints_.finish(); code != 0) return code;
  if (!has_digest()) return stop_damaged();
  report_.stopped(state_.step, {digest_, update_->root(state_)}, !options_.checkpoint_dir.empty());
  return k_checkpointed;
}

int Run::loop() {
  saved_at_ = Clock::now();
  while (state_.step < schedule_.total) {
    const Clock::time_point start = Clock::now();
    const Next next = asynchrony_ ? stretch() : step();
    const double seconds = seconds_since(start);
    if (const int code = after(next); code != 0) return code;
    if (const int code = tune(seconds); code != 0) return code;
    report_devices();
    if (evaluates_now()) evaluate();
    if (const int code = trace_step(); code != 0) return code;
  }
  return finish();
}

int Run::finish() {
  if (!update_->verify(state_)) return stop_damaged();
  if (saved_step_ != state_.step)
    if (const int code = save(); code != 0) return code;
  evaluate();
  // Weights that were gathered for the evaluation may have arrived changed.
  if (!update_->verify(state_)) return stop_damaged();
  if (const int code = checkpoints_.finish(); code != 0) return code;
  if (!has_digest()) return stop_damaged();
  report_.done(state_.step, accuracy_, {digest_, update_->root(state_)});
  return agree_on_error(report_.status(), exit_code(Errc::io));
}

int Run::run() {
  if (const int code = prepare(); code != 0) return code;
  if (const int code = open_files(); code != 0) return code;
  if (const int code = resume(); code != 0) return code;
  report_.started({state_.step,
                   schedule_.total,
                   comm_.size(),
                   static_cast<int>(options_.shards),
                   static_cast<int>(options_.threads),
                   static_cast<int>(options_.batch),
                   to_string(instruction_set_),
                   to_string(options_.precision),
                   to_string(device_ == nullptr ? DeviceKind::cpu : DeviceKind::cuda),
                   update_->is_node_first(),
                   model_.reads.what == Reads::What::tokens,
                   rehearsal_ ? 0 : model_.flops * static_cast<double>(options_.batch),
                   options_.peak_tflops * 1e12,
                   asynchronous(),
                   device_ == nullptr ? "" : devices_,
                   device_ == nullptr ? 0 : device_memory(),
                   exchange_,
                   peaks_.measured,
                   peaks_.sheet});
  comm_.started();
  begin_trace();
  const int code = loop();
  // Whatever ended the loop, a save in flight is of a state that all ranks agreed on.
  const int ended = std::max({code, checkpoints_.finish(), write_trace()});
  if (rehearsal_) report_.note(rehearsal_->summary());
  return ended;
}

int train(Comm& comm, const Options& options) {
  try {
    return Run(comm, options).run();
  } catch (const std::bad_alloc&) {  // perhaps only on this rank: the others would wait
    print_error(Error{Errc::internal,
                      fmt::format("there is not enough memory on this node for the {} parameters "
                                  "of {}",
                                  options.model->layout.parameter_floats,
                                  options.model->name),
                      "dttrain(1), --zero, says what a rank needs: divide it among more nodes, or "
                      "choose a smaller model or --batch"},
                comm.size() > 1 ? comm.rank() : -1);
    Comm::abandon(exit_code(Errc::internal));
  }
}

}  // namespace dts::train
