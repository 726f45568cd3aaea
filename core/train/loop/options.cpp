// SPDX-License-Identifier: Apache-2.0
// A table of options and its interpreter.
#include "core/train/loop/options.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/text/text.hpp"

#include <fmt/core.h>

namespace dts::train {
namespace {

constexpr std::uint64_t k_most =
    1000000000;  // of any count, so that products of two are far from overflow

struct Option {
  const char* name;
  const char* value;  // the kind of value, for --help
  const char* help;
  bool (*set)(Options&, const std::string&);  // false: invalid value
};

bool set_number(std::uint64_t& to, const std::string& text, std::uint64_t least) {
  const auto number = parse_number(text);
  if (!number || *number < least || *number > k_most) return false;
  to = *number;
  return true;
}

bool set_text(std::string& to, const std::string& text) {
  to = text;
  return !text.empty();
}

bool set_real(double& to, const std::string& text, double most) {
  const auto number = parse_real(text);
  if (!number || *number < 0 || *number > most) return false;
  to = *number;
  return true;
}

bool set_steps(Options& o, const std::string& text) {
  std::uint64_t steps = 0;
  if (!set_number(steps, text, 1)) return false;
  o.steps = steps;
  return true;
}

bool set_save_every(Options& o, const std::string& text) {
  o.save_every.reset();
  if (text == "auto") return true;
  std::uint64_t steps = 0;
  if (!set_number(steps, text, 0)) return false;
  o.save_every = steps;
  return true;
}

bool set_slow_rank(Options& o, const std::string& text) {
  const auto colon = text.find(':');
  std::uint64_t rank = 0;
  if (colon == std::string::npos || !set_number(rank, text.substr(0, colon), 0)) return false;
  o.slow_rank = rank;
  return set_number(o.slow_rank_ms, text.substr(colon + 1), 0);
}

bool set_schedule(Options& o, const std::string& text) {
  o.schedule = text == "constant" ? Schedule::constant : Schedule::cosine;
  return text == "constant" || text == "cosine";
}

bool set_instruction_set(Options& o, const std::string& text) {
  const auto set = instruction_set_of(text);
  o.instruction_set = set.value_or(o.instruction_set);
  return set.has_value();
}

using Text = const std::string&;

const Option k_options[] = {
    {"--data",
     "DIR",
     "Fashion-MNIST's four *-ubyte.gz files [/usr/share/datasets/fashion-mnist]",
     [](Options& o, Text t) { return set_text(o.data, t); }},
    {"--epochs",
     "N",
     "passes over the training set [1]",
     [](Options& o, Text t) { return set_number(o.epochs, t, 1); }},
    {"--steps", "K", "exactly K steps, instead of epochs", set_steps},
    {"--batch",
     "B",
     "images per step, over all ranks [128]",
     [](Options& o, Text t) { return set_number(o.batch, t, 1); }},
    {"--shards",
     "V",
     "virtual shards per batch, 1 to 1024; also the maximum number of ranks [16]",
     [](Options& o, Text t) { return set_number(o.shards, t, 1) && o.shards <= 1024; }},
    {"--lr",
     "X",
     "learning rate after warm-up [0.1]",
     [](Options& o, Text t) { return set_real(o.lr, t, 1000); }},
    {"--momentum",
     "X",
     "momentum of SGD [0.9]",
     [](Options& o, Text t) { return set_real(o.momentum, t, 1); }},
    {"--warmup",
     "STEPS",
     "steps over which the learning rate rises [100]",
     [](Options& o, Text t) { return set_number(o.warmup, t, 0); }},
    {"--schedule",
     "S",
     "learning rate schedule: cosine (to 0 at the last step) or constant [cosine]",
     set_schedule},
    {"--instruction-set",
     "SET",
     "widest to use: avx512, avx2 or portable, if all ranks support it [avx512]",
     set_instruction_set},
    {"--seed",
     "S",
     "seed of the initial weights and the data order [1]",
     [](Options& o, Text t) { return set_number(o.seed, t, 0); }},
    {"--limit-train",
     "N",
     "use only the first N training images",
     [](Options& o, Text t) { return set_number(o.limit_train, t, 1); }},
    {"--evaluate-every",
     "N",
     "test accuracy every N steps [each epoch]",
     [](Options& o, Text t) { return set_number(o.evaluate_every, t, 0); }},
    {"--save-every",
     "N",
     "checkpoint every N steps, 0: at the end and on stop only; auto: as often as\n"
     "                           dtsubmit advises, without advice every 50 steps [auto]",
     set_save_every},
    {"--keep",
     "N",
     "checkpoints to keep [3]",
     [](Options& o, Text t) { return set_number(o.keep, t, 1); }},
    {"--run-dir",
     "DIR",
     "folder for metrics.jsonl [$DTSUBMIT_RUN_DIR]",
     [](Options& o, Text t) { return set_text(o.run_dir, t); }},
    {"--checkpoint-dir",
     "DIR",
     "folder for checkpoints [$DTSUBMIT_CHECKPOINT_DIR]",
     [](Options& o, Text t) { return set_text(o.checkpoint_dir, t); }},
    {"--attempt",
     "N",
     "number of this attempt, for fencing [$DTSUBMIT_ATTEMPT or 1]",
     [](Options& o, Text t) { return set_number(o.attempt, t, 1); }},
    {"--threads",
     "T",
     "threads per rank [$OMP_NUM_THREADS or the rank's cores]",
     [](Options& o, Text t) { return set_number(o.threads, t, 1) && o.threads <= 1024; }},
    {"--step-delay",
     "MS",
     "sleep before each step: makes a short job last, for drills",
     [](Options& o, Text t) { return set_number(o.step_delay_ms, t, 0); }},
    {"--save-delay",
     "MS",
     "sleep while each checkpoint is written, for drills",
     [](Options& o, Text t) { return set_number(o.save_delay_ms, t, 0); }},
    {"--ballast",
     "MIB",
     "make the state MIB MiB larger, for drills",
     [](Options& o, Text t) { return set_number(o.ballast, t, 0) && o.ballast <= 1 << 20; }},
    {"--slow-rank",
     "RANK:MS",
     "make this rank take MS longer for each step than the others, for drills",
     set_slow_rank},
    {"--export-weights",
     "FILE",
     "write the initial weights as safetensors and exit",
     [](Options& o, Text t) { return set_text(o.export_weights, t); }},
};

const Option* find_option(const std::string& name) {
  for (const Option& option : k_options)
    if (name == option.name) return &option;
  return nullptr;
}

tl::unexpected<Error> unknown_option(const std::string& name) {
  std::vector<std::string> names;
  for (const Option& option : k_options) names.emplace_back(option.name);
  const auto near = nearest(name, names);
  return fail(Errc::usage,
              "unknown option " + name,
              near ? "did you mean " + *near + "?" : "dttrain --help lists all");
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

Result<void> check(const Options& o) {
  if (o.batch % o.shards != 0)
    return fail(Errc::usage,
                fmt::format("--batch {} is not a multiple of --shards {}", o.batch, o.shards),
                "every shard needs the same number of images");
  if (o.batch / o.shards > 65536)
    return fail(Errc::usage, "--batch: more than 65,536 images per shard");
  return {};
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments,
                              const Lookup& environment) {
  Options options;
  DTS_TRY(apply_environment(options, environment));
  if (const char* const beat = environment("DTSUBMIT_BEAT")) options.beat = beat;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--help" || word == "-h") {
      options.help = true;
      return options;
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
  DTS_TRY(check(options));
  return options;
}

std::string usage() {
  std::string text =
      "Usage: dttrain [options], alone or under mpirun or srun\n\nTrains cnn2 on "
      "Fashion-MNIST.\n\n";
  for (const Option& option : k_options)
    text +=
        fmt::format("  {:<24} {}\n", fmt::format("{} {}", option.name, option.value), option.help);
  return text +
         fmt::format(
             "\nExit codes: 0 done; {} stopped by a signal after a checkpoint, run again to "
             "continue; {} a newer attempt\n"
             "has taken over; {} usage; {} bad data or another configuration's checkpoint; {} "
             "input or output.\n",
             k_checkpointed,
             k_no_restart,
             exit_code(Errc::usage),
             k_wrong,
             exit_code(Errc::io));
}

}  // namespace dts::train
