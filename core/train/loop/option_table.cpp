// SPDX-License-Identifier: Apache-2.0
#include "core/train/loop/option_table.hpp"

#include "core/base/text/names.hpp"
#include "core/base/text/text.hpp"

namespace dts::train {
namespace {

constexpr std::uint64_t k_most =
    1000000000;  // of any count, so that products of two are far from overflow

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

bool set_numerics(Options& o, const std::string& text) {
  o.any_numerics = text == "any";
  return text == "any" || text == "same";
}

bool set_transport(Options& o, const std::string& text) {
  constexpr Names<TransportKind, 4> k_kinds{{{TransportKind::automatic, "auto"},
                                             {TransportKind::mpi, "mpi"},
                                             {TransportKind::shm, "shm"},
                                             {TransportKind::hier, "hier"}}};
  const auto kind = value_of(k_kinds, text);
  o.transport = kind.value_or(o.transport);
  return kind.has_value();
}

bool set_injection(Options& o, const std::string& text) {
  o.injection = parse_injection(cnn2_layout(), text);
  return o.injection.has_value();
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
    {"--numerics",
     "HOW",
     "same: refuse ranks on machines that would give other bits; any: train anyway [same]",
     set_numerics},
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
    {"--verify-every",
     "N",
     "compare the state of all ranks every N steps, and the checksums of their memory and\n"
     "                           messages at every step; 0: never [50]",
     [](Options& o, Text t) { return set_number(o.verify_every, t, 0); }},
    {"--audit",
     "RATE",
     "recompute one random shard of this share of the steps, 0 to 1, on another rank [0]",
     [](Options& o, Text t) { return set_real(o.audit_rate, t, 1); }},
    {"--skip-nonfinite",
     "N",
     "go on without the update of up to N steps whose loss or gradient is not finite [0]",
     [](Options& o, Text t) { return set_number(o.skip_nonfinite, t, 0); }},
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
    {"--transport",
     "KIND",
     "between ranks of a node memory (shm), everywhere mpi, or hier: memory within nodes, mpi\n"
     "                           between them; auto: shm on one node, hier on several [auto]",
     set_transport},
    {"--comm-timeout",
     "SECONDS",
     "end if a rank has to wait that long for another, once training has begun [600]",
     [](Options& o, Text t) { return set_number(o.comm_timeout, t, 1); }},
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
    {"--inject",
     "FAULT",
     "break this training on purpose: weight:TENSOR:ELEMENT@STEP:RANK flips a bit, likewise\n"
     "                           gradient, computation, message, statistic;\n"
     "                           momentum:TENSOR:ELEMENT@STEP; nan:SHARD@STEP makes an input NaN;\n"
     "                           call@STEP:RANK calls once too often",
     set_injection},
    {"--export-weights",
     "FILE",
     "write the initial weights as safetensors and exit",
     [](Options& o, Text t) { return set_text(o.export_weights, t); }},
};

}  // namespace

std::span<const Option> option_table() {
  return k_options;
}

}  // namespace dts::train
