// SPDX-License-Identifier: Apache-2.0
// Interprets the table of options.
#include "core/train/options/options.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/exit_codes.hpp"
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/train/hub/weights.hpp"
#include "core/train/options/config_file.hpp"
#include "core/train/options/option_table.hpp"
#include "core/train/rehearsal/rehearsal.hpp"

#include <fmt/core.h>

namespace dts::train {
namespace {

constexpr std::size_t k_help_column = 27;  // where explanations begin
constexpr std::size_t k_help_width = 80;

// Breaks text into lines of at most k_help_width columns. The first line begins at column `at`, all
// others at `column`.
std::string in_lines(const std::string& words, std::size_t column, std::size_t at) {
  std::string text;
  for (const std::string& word : split(words, ' ')) {
    const bool is_new = text.empty() || at == column;
    if (!is_new && at + 1 + word.size() > k_help_width) {
      text += "\n" + std::string(column, ' ') + word;
      at = column + word.size();
      continue;
    }
    text += (is_new ? "" : " ") + word;
    at += word.size() + (is_new ? 0 : 1);
  }
  return text;
}

const Option* find_option(const std::string& name) {
  for (const Option& option : option_table())
    if (name == option.name) return &option;
  return nullptr;
}

tl::unexpected<Error> unknown_option(const std::string& name) {
  if (!name.starts_with("-"))
    return fail(Errc::usage,
                fmt::format("unexpected argument '{}'", name),
                "dttrain --help lists all options");
  std::vector<std::string> names;
  for (const Option& option : option_table()) names.emplace_back(option.name);
  const auto near = nearest(name, names);
  return fail(Errc::usage,
              "unknown option " + name,
              near ? "did you mean " + *near + "?" : "dttrain --help lists all options");
}

Result<void> apply(Options& options,
                   const std::string& where,
                   const Option& option,
                   const std::string& value) {
  if (option.set(options, value)) return {};
  return fail(Errc::usage,
              fmt::format("{}: '{}' is not valid", where, value),
              fmt::format("{} {}: {}", option.name, option.value, option.help));
}

Result<void> apply_environment(Options& options, const Lookup& environment) {
  const std::pair<const char*, const char*> variables[] = {
      {"DTSUBMIT_RUN_DIR", "--run-dir"},
      {"DTSUBMIT_CHECKPOINT_DIR", "--checkpoint-dir"},
      {"DTSUBMIT_ATTEMPT", "--attempt"},
      {"OMP_NUM_THREADS", "--threads"}};
  for (const auto& [variable, option] : variables) {
    const char* const value = environment(variable);
    if (value == nullptr || *value == '\0') continue;
    DTS_TRY(apply(options, variable, *find_option(option), value));
  }
  const char* const anew = environment("DTSUBMIT_BEGIN_ANEW");
  options.begin_anew = anew != nullptr && std::string_view(anew) == "1";
  const char* const world = environment("WORLD_SIZE");
  const auto ranks = parse_number(world != nullptr ? world : "");
  if (ranks && environment("DTSUBMIT_RUN_DIR") != nullptr) options.planned_ranks = *ranks;
  return {};
}

Result<void> settle_rehearsal(Options& o) {
  if (o.rehearsal_words.empty()) return {};
  if (!o.model_words.empty() || !o.from.empty())
    return fail(Errc::usage,
                "--rehearse and --model or --from exclude each other",
                "a rehearsal has a small model of its own");
  DTS_ASSIGN(o.rehearsal, parse_rehearsal(o.rehearsal_words));
  o.model_words = k_rehearsal_model;
  return {};
}

// Settings that depend on several options.
Result<void> settle_meanings(Options& o) {
  if (!o.from.empty() && !o.model_words.empty())
    return fail(Errc::usage,
                "--model and --from exclude each other",
                "the model of --from is that of its config.json");
  DTS_TRY(settle_rehearsal(o));
  auto model = o.from.empty() ? make_model(o.model_words.empty() ? "cnn2" : o.model_words)
                              : read_hub_model(o.from);
  if (!model) return tl::unexpected(model.error());
  o.model = std::make_shared<const Model>(*std::move(model));
  if (o.augmentation.is_any() && o.model->reads.what != Reads::What::images)
    return fail(Errc::usage,
                fmt::format("--augment is for images, {} reads tokens", o.model->name),
                "omit it");
  o.optimization.weight_decay = o.weight_decay.value_or(o.optimizer->weight_decay);
  if (o.fault.empty()) return {};
  o.injection = parse_injection(o.model->layout, o.fault);
  const Option& option = *find_option("--inject");
  if (!o.injection)
    return fail(Errc::usage,
                fmt::format("{}: '{}' is not valid", option.name, o.fault),
                fmt::format("{} {}: {}", option.name, option.value, option.help));
  return {};
}

// Whether asynchronous trainings support this fault.
bool breaks_rank(const std::string& fault) {
  return fault.starts_with("weight:") || fault.starts_with("message:") || fault.starts_with("nan:");
}

// Rejects options that need synchronous steps. Reports all at once.
Result<void> check_staleness(const Options& o) {
  if (!o.staleness) return {};

  struct Excluded {
    bool is_set;
    const char* option;
    const char* why;
  };

  const Excluded all[] = {
      {o.optimization.clip_norm > 0, "--clip-norm", "each server knows the norm of its slice only"},
      {o.optimizer->by_tensor, "--optimizer lamb", "a tensor may be on several servers"},
      {o.audit_rate > 0, "--audit", "a gradient is applied before others could recompute it"},
      {o.skip_nonfinite > 0, "--skip-nonfinite", "other servers have applied their slice by then"},
      {o.overlap == true, "--overlap on", "a gradient travels as a whole"},
      {o.tunes_buckets || o.bucket_bytes.value_or(0) > 0, "--bucket-size", "it travels as a whole"},
      {o.zero > 1, "--zero 2 and 3", "a worker reads whole weights and sends whole gradients"},
      {!o.rehearsal_words.empty(), "--rehearse", "it rehearses steps of all ranks together"},
      {!o.fault.empty() && !breaks_rank(o.fault), "--inject", "only weight, message and nan"}};
  Diagnostics wrong;
  if (o.servers == 0)
    wrong.push_back(
        {"--staleness", "needs --servers S", "it is how many of the ranks only serve the others"});
  for (const Excluded& one : all)
    if (one.is_set)
      wrong.push_back(
          {"--staleness", fmt::format("excludes {}: {}", one.option, one.why), "omit one of them"});
  if (wrong.empty()) return {};
  return tl::unexpected(to_error(wrong, Errc::usage));
}

Result<void> check(const Options& o) {
  if (o.batch % o.shards != 0)
    return fail(Errc::usage,
                fmt::format("--batch {} is not a multiple of --shards {}", o.batch, o.shards),
                "every shard needs the same number of samples");
  if (o.batch / o.shards > 65536)
    return fail(Errc::usage, "--batch: more than 65,536 samples per shard");
  if (o.exchange == ExchangeKind::nccl && o.staleness)
    return fail(Errc::usage,
                "--device-exchange nccl with --staleness: servers move weights on the processor",
                "omit one of them");
  if (o.audit_rate > 0 && o.any_numerics)
    return fail(Errc::usage,
                "--audit and --numerics any exclude each other",
                "an audit compares bits, which differ between different machines");
  if (o.zero > 1 && o.audit_rate > 0)
    return fail(Errc::usage,
                fmt::format("--audit and --zero {} exclude each other", o.zero),
                "an audit compares all gradients of a shard, which no rank keeps then");
  if (o.zero > 1 && o.tunes_buckets)
    return fail(Errc::usage,
                fmt::format("--bucket-size auto and --zero {} exclude each other", o.zero),
                "the size of buckets then determines how much memory a rank needs: name one");
  return check_staleness(o);
}

// Stops at --help.
Result<void> apply_arguments(Options& options, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--help" || word == "-h") {
      options.help = true;
      return {};
    }
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Option* const option = find_option(name);
    if (option == nullptr) return unknown_option(name);
    if (equals == std::string::npos && i + 1 == arguments.size())
      return fail(Errc::usage,
                  fmt::format("{} needs a value", name),
                  fmt::format("{} {}", name, option->value));
    DTS_TRY(apply(options,
                  name,
                  *option,
                  equals == std::string::npos ? arguments[++i] : word.substr(equals + 1)));
  }
  return {};
}

// --config may be anywhere on the command line.
Result<void> apply_config(Options& options, const std::vector<std::string>& arguments) {
  Options given;
  DTS_TRY(apply_arguments(given, arguments));
  if (given.config.empty()) return {};
  constexpr std::size_t k_most = 1 << 20;  // bytes
  DTS_ASSIGN(const std::string text, read_file(given.config, k_most));
  DTS_ASSIGN(const auto words, parse_config_file(text, given.config));
  Diagnostics wrong;
  for (const auto& [name, value] : words)
    if (const auto applied = apply(options, name, *find_option(name), value); !applied)
      wrong.push_back({given.config, applied.error().message, applied.error().hint});
  if (!wrong.empty()) return tl::unexpected(to_error(wrong, Errc::usage));
  return {};
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments,
                              const Lookup& environment) {
  Options options;
  DTS_TRY(apply_environment(options, environment));
  if (const char* const beat = environment("DTSUBMIT_BEAT")) options.beat = beat;
  DTS_TRY(apply_config(options, arguments));
  DTS_TRY(apply_arguments(options, arguments));
  if (options.help) return options;
  DTS_TRY(check(options));
  DTS_TRY(settle_meanings(options));
  return options;
}

Schedule Options::learning_rates(std::uint64_t total) const {
  const double factor = batch_factor(batch_rule, batch, base_batch);
  return {lr.value_or(optimizer->lr) * factor, warmup, schedule->shape, min_lr, total};
}

std::string usage() {
  std::string text =
      "Usage: dttrain [options], alone or under mpirun or srun\n"
      "       dttrain bench|inspect|export|convert|verify --help\n\nTrains a model: cnn2 on "
      "Fashion-MNIST, unless options say otherwise.\n\n";
  for (const Option& option : option_table()) {
    const std::string name =
        fmt::format("  {:<24} ", fmt::format("{} {}", option.name, option.value));
    text += name + in_lines(option.help, k_help_column, name.size()) + "\n";
  }
  const std::string codes = fmt::format(
      "Exit codes: 0 done; {} stopped by a signal after a checkpoint, run again to "
      "continue; {} do not run again: a newer attempt has taken over, or the training "
      "is no longer finite; {} the bits of a rank are wrong; {} usage; {} bad data or "
      "another configuration's checkpoint; {} input or output.",
      k_checkpointed,
      k_no_restart,
      k_corrupted,
      exit_code(Errc::usage),
      k_wrong,
      exit_code(Errc::io));
  return text + "\n" + in_lines(codes, 0, 0) + "\n";
}

}  // namespace dts::train
