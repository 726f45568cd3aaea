// SPDX-License-Identifier: Apache-2.0
// From options to a state that can be trained: data, agreement of the ranks, files, resumption.
#include "core/base/exit_codes.hpp"
#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/os/log.hpp"
#include "core/base/text/counted.hpp"
#include "core/train/accelerator/open_device.hpp"
#include "core/train/data/sampler.hpp"
#include "core/train/device/instruction_set.hpp"
#include "core/train/loop/numerics.hpp"
#include "core/train/loop/run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <new>

namespace dts::train {
namespace {

Layout state_layout(const Options& options) {
  Layout layout = options.model->layout;
  layout.moments = options.optimizer->moments;
  layout.add_ballast(static_cast<int>(options.ballast));
  return layout;
}

}  // namespace

Run::Run(Comm& comm, const Options& options)
    : comm_(comm),
      options_(options),
      model_(*options.model),
      layout_(state_layout(options)),
      stage_(comm.size() == 1 ? 1 : static_cast<int>(options.zero)),
      state_(layout_, stage_ != 3),
      report_(comm.rank() == 0, options.attempt),
      beat_(BeatPage::open(options.beat)),
      checkpoints_(comm, options_, layout_, hooks()),
      timeline_(static_cast<int>(options.threads)) {
  comm_.tell_waits([this](Call call, Clock::time_point begin, Clock::time_point end) {
    timeline_.track(0).add(Phase::communication, begin, end, to_string(call));
  });
}

Run::~Run() {
  comm_.tell_waits(nullptr);
}

Checkpoints::Hooks Run::hooks() {
  Checkpoints::Hooks hooks;
  hooks.on_saved = [this](const SaveEvent& event) {
    if (beat_) beat_->saved(static_cast<std::uint64_t>(event.seconds * 1000));
    if (rehearsal_) rehearsal_->saved(event.seconds, event.stalled);
    report_.saved(event);
  };
  hooks.own = [this] { return update_->ownership().runs_of(comm_.rank()); };
  if (stage_ == 3) hooks.on_weights = [this](Range range) { update_->drop_weights(state_, range); };
  if (options_.rehearsal)
    hooks.beside = [this](const std::string& folder, std::uint64_t step) {
      return rehearsal_->write(folder, step);
    };
  return hooks;
}

Result<void> Run::check() const {
  if (comm_.size() > static_cast<int>(options_.shards))
    return fail(Errc::usage,
                fmt::format("{} ranks, but only --shards {}", comm_.size(), options_.shards),
                "use at most as many ranks as shards, or a larger --shards");
  if (options_.staleness && options_.servers >= static_cast<std::uint64_t>(comm_.size()))
    return fail(Errc::usage,
                fmt::format("--servers {} with --staleness, but only {}: none is left to compute",
                            options_.servers,
                            counted(comm_.size(), "rank")),
                "with --staleness servers only serve: start at least one rank more than servers");
  return {};
}

Result<void> Run::check_batch() const {
  if (samples_.train.drops_tail() && samples_.train.count < options_.batch)
    return fail(Errc::usage,
                fmt::format("--batch {} is more than the {} training images",
                            options_.batch,
                            samples_.train.count));
  return {};
}

// Makes the parts of a rehearsal.
int Run::rehearse() {
  if (!options_.rehearsal) return 0;
  Result<void> made;
  try {
    rehearsal_ = std::make_unique<Rehearsal>(comm_, *options_.rehearsal);
  } catch (const std::bad_alloc&) {
    made = fail(Errc::internal,
                "--rehearse: there is not that much memory on this node",
                "the training that is rehearsed may not fit here");
  }
  if (const int code = agree_on_error(made); code != 0) return code;
  report_.note(rehearsal_->what());
  return 0;
}

Result<SharedSamples> Run::find_samples() {
  if (rehearsal_) return rehearsal_->samples();
  return share_samples(comm_,
                       {model_.reads,
                        options_.data,
                        options_.validation,
                        options_.token_format,
                        options_.limit_train});
}

int Run::prepare() {
  const auto own = std::min(options_.instruction_set, best_instruction_set());
  const auto lowest = static_cast<InstructionSet>(comm_.least(static_cast<int>(own)));
  if (const int code = agree_on_error(comm_.rank() == 0 ? check() : Result<void>{}); code != 0)
    return code;
  if (const int code = open_device(); code != 0) return code;
  if (const int code = agree_on_precision(own); code != 0) return code;
  if (const int code = rehearse(); code != 0) return code;
  auto samples = find_samples();
  if (!samples) {  // all ranks already agreed on this
    if (!samples.error().message.empty())
      print_error(samples.error(), comm_.size() > 1 ? comm_.rank() : -1);
    return exit_code(Errc::invalid);
  }
  samples_ = *std::move(samples);
  const SampleOrder order{
      options_.seed, samples_.train.count, options_.batch, samples_.train.drops_tail()};
  steps_per_epoch_ = order.steps_of(1);
  schedule_ = options_.learning_rates(options_.steps.value_or(order.steps_of(options_.epochs)));
  if (const int code = agree(own, lowest); code != 0) return code;
  if (const int code = agree_on_error(check_batch()); code != 0) return code;
  if (const int code = agree_on_error(make_backend()); code != 0) return code;
  if (const int code = link_devices(); code != 0) return code;
  make_update(first_scheme());
  if (options_.staleness) begin_asynchrony();
  return 0;
}

int Run::agree_on_precision(InstructionSet own) {
  if (device_ != nullptr) return 0;  // devices have all precisions
  if (options_.precision == Precision::bf16) bf16_ = best_bf16_instructions();
  const int code = agree_on_error(check_precision(options_.precision, own, bf16_));
  const int lowest = comm_.least(static_cast<int>(bf16_));
  if (options_.any_numerics) bf16_ = static_cast<Bf16Instructions>(lowest);
  return code;
}

int Run::agree(InstructionSet own, InstructionSet lowest) {
  instruction_set_ = options_.any_numerics ? lowest : own;
  numerics_ = local_numerics(instruction_set_, samples_.hash_of_all);
  if (options_.precision == Precision::bf16)
    numerics_[k_precision] = fmt::format("bf16 by {}", to_string(bf16_));
  if (device_ != nullptr) numerics_[k_device] = device_->text();
  if (device_ != nullptr && options_.precision != Precision::fp32)
    numerics_[k_precision] = to_string(options_.precision);
  const auto agreed = agree_on(comm_, agreed_fields());
  if (!agreed) {
    if (!agreed.error().message.empty()) print_error(agreed.error(), -1);
    return exit_code(Errc::invalid);
  }
  use_instruction_set(instruction_set_, bf16_);
  if (options_.injection && comm_.rank() == 0)
    tell("dttrain: warning: --inject: this training breaks itself on purpose\n");
  return 0;
}

// Everything that determines bits, or which functions all ranks call together.
Fingerprint Run::agreed_fields() const {
  Fingerprint fields = numerics_;
  if (options_.any_numerics)
    for (const char* const of_machine : {"cpu", "onednn", "libc", "compiler"})
      fields[of_machine] = "any";
  fields[k_device] = device_ == nullptr      ? "cpu"
                     : options_.any_numerics ? "any"
                                             : numerics_.at(k_device);
  const std::string data = fields["data"];
  fields.merge(fingerprint());
  fields["data"] = fmt::format("{}, with labels and tests {}", fingerprint()["data"], data);
  for (const char* const optional : {"augment",
                                     "ballast",
                                     "betas",
                                     "clip-norm",
                                     "epsilon",
                                     "label-smoothing",
                                     "min-lr",
                                     "momentum",
                                     "optimizer",
                                     "rehearsal",
                                     "weight-decay"})
    fields.emplace(optional, "as it is by default");
  fields.emplace(k_precision, to_string(Precision::fp32));
  fields["steps"] = std::to_string(schedule_.total);
  fields["numerics"] = options_.any_numerics ? "any" : "same";
  fields["verify-every"] = std::to_string(options_.verify_every);
  fields["audit"] = fmt::format("{}", options_.audit_rate);
  fields["servers"] = std::to_string(options_.servers);
  fields["staleness"] = options_.staleness ? std::to_string(*options_.staleness) : "none";
  fields["bucket-size"] = options_.tunes_buckets  ? "auto"
                          : options_.bucket_bytes ? std::to_string(*options_.bucket_bytes)
                                                  : "as it is by default";
  fields["hierarchy"] = options_.node_first ? (*options_.node_first ? "node" : "flat") : "auto";
  fields["recompute"] = options_.storage.recomputes ? "block" : "none";
  fields["device-exchange"] = to_string(options_.exchange);
  fields["zero"] = std::to_string(options_.zero);
  fields["overlap"] = options_.overlap ? (*options_.overlap ? "on" : "off") : "auto";
  fields["skip-nonfinite"] = std::to_string(options_.skip_nonfinite);
  fields["evaluate-every"] = std::to_string(options_.evaluate_every);
  fields["trace"] = options_.trace.empty() ? "none" : fmt::format("{} steps", options_.trace_steps);
  fields["checkpoints"] = options_.checkpoint_dir.empty() ? "none" : "yes";
  return fields;
}

// Fields of earlier releases keep their names and texts, so that training continues from their
// checkpoints. Newer fields are present only if they differ from what earlier releases did.
Fingerprint Run::fingerprint() const {
  Fingerprint f{
      {"model", model_.sizes.empty() ? model_.name : model_.name + "," + model_.sizes},
      {k_instruction_set, to_string(instruction_set_)},
      {"data", fmt::format("{} {} {}", samples_.train.count, samples_.unit, to_hex(samples_.hash))},
      {"seed", std::to_string(options_.seed)},
      {"shards", std::to_string(options_.shards)},
      {"batch", std::to_string(options_.batch)},
      {"warmup", std::to_string(options_.warmup)},
      {"schedule", options_.schedule->name}};
  if (options_.augmentation.is_any()) f["augment"] = options_.augmentation.text();
  if (options_.ballast > 0) f["ballast"] = fmt::format("{} MiB", options_.ballast);
  if (schedule_.shape != nullptr)
    f["schedule"] = fmt::format("{} over {} steps", options_.schedule->name, schedule_.total);
  if (options_.rehearsal) f["rehearsal"] = options_.rehearsal->text();
  if (options_.min_lr > 0) f["min-lr"] = fmt::format("{}", options_.min_lr);
  add_optimization(f);
  return f;
}

void Run::add_optimization(Fingerprint& f) const {
  const OptimizerSettings& settings = options_.optimization;
  const Fingerprint all{{"momentum", fmt::format("{}", settings.momentum)},
                        {"betas", fmt::format("{},{}", settings.beta1, settings.beta2)},
                        {"epsilon", fmt::format("{}", settings.epsilon)}};
  for (const std::string& name : options_.optimizer->reads) f[name] = all.at(name);
  f["lr"] = fmt::format("{}", schedule_.lr);
  if (options_.optimizer != find_optimizer("sgd")) f["optimizer"] = options_.optimizer->name;
  if (settings.weight_decay > 0) f["weight-decay"] = fmt::format("{}", settings.weight_decay);
  if (settings.clip_norm > 0) f["clip-norm"] = fmt::format("{}", settings.clip_norm);
  if (options_.label_smoothing > 0)
    f["label-smoothing"] = fmt::format("{}", options_.label_smoothing);
}

int Run::open_files() {
  Result<void> opened;
  if (comm_.rank() == 0 && !options_.run_dir.empty()) {
    opened = make_folders(options_.run_dir);
    if (opened) opened = report_.open(options_.run_dir + "/metrics.jsonl");
  }
  if (opened && comm_.rank() == 0 && !options_.tensorboard.empty())
    opened = report_.open_tensorboard(options_.tensorboard);
  if (opened && comm_.rank() == 0 && !options_.trace.empty())  // fail early if it cannot be written
    opened = write_file(options_.trace, trace_file({}));
  return agree_on_error(opened, exit_code(Errc::io));
}

int Run::resume() {
  if (const int code = checkpoints_.open(fingerprint(), numerics_); code != 0) return code;
  for (bool is_right = false; !is_right;) {
    if (const int code = checkpoints_.load(state_); code != 0) return code;
    update_->begin(state_);
    if (checkpoints_.has_loaded() && !distribute_state(nullptr)) return stop_damaged();
    is_right = checkpoints_.is_right(digest_, report_);
    if (!is_right) digest_step_.reset();
  }
  saved_step_ = state_.step;
  if (!rehearsal_ || state_.step == 0) return 0;
  return agree_on_error(
      rehearsal_->read(options_.checkpoint_dir + "/" + checkpoint_name(state_.step), state_.step));
}

}  // namespace dts::train
