// SPDX-License-Identifier: Apache-2.0
#include "core/train/options/option_table.hpp"

#include "core/train/options/option_values.hpp"

namespace dts::train {
namespace {

bool set_save_every(Options& o, const std::string& text) {
  o.save_every.reset();
  return text == "auto" || set_optional(o.save_every, text, 0);
}

bool set_slow_rank(Options& o, const std::string& text) {
  const auto colon = text.find(':');
  std::uint64_t rank = 0;
  if (colon == std::string::npos || !set_number(rank, text.substr(0, colon), 0)) return false;
  o.slow_rank = rank;
  return set_number(o.slow_rank_ms, text.substr(colon + 1), 0);
}

bool set_betas(Options& o, const std::string& text) {
  const auto comma = text.find(',');
  return comma != std::string::npos &&
         set_real(o.optimization.beta1, text.substr(0, comma), k_below_one) &&
         set_real(o.optimization.beta2, text.substr(comma + 1), k_below_one);
}

using Text = const std::string&;

const Option k_options[] = {
    {"--config",
     "FILE",
     "options as JSON, e.g. {\"model\": \"gpt2\", \"steps\": 100}; the command line overrides them",
     [](Options& o, Text t) { return set_text(o.config, t); }},
    {"--model",
     "MODEL",
     "NAME[:SIZE][,KEY=VALUE...]: cnn2, mlp, resnet, gpt2 or llama, e.g. resnet:20 or\n"
     "                           gpt2:char-mini [cnn2]",
     [](Options& o, Text t) { return set_text(o.model_words, t); }},
    {"--from",
     "FOLDER",
     "begin with the model and the weights of a folder of Hugging Face's transformers",
     [](Options& o, Text t) { return set_text(o.from, t); }},
    {"--data",
     "PATH",
     "the folder of Fashion-MNIST's four *-ubyte.gz files, or of CIFAR-10's *.bin files\n"
     "                           [/usr/share/datasets/fashion-mnist]; of tokens a file, or a\n"
     "                           folder with train.bin and val.bin",
     [](Options& o, Text t) { return set_text(o.data, t); }},
    {"--validation",
     "FILE",
     "tokens to evaluate with [val.bin, or the last tenth of --data]",
     [](Options& o, Text t) { return set_text(o.validation, t); }},
    {"--token-format",
     "KIND",
     "uint16 or uint32, little-endian, or bytes of a text; auto: by header and name [auto]",
     [](Options& o, Text t) { return set_value(o.token_format, token_format_of(t)); }},
    {"--epochs",
     "N",
     "passes over the training set [1]",
     [](Options& o, Text t) { return set_number(o.epochs, t, 1); }},
    {"--steps",
     "K",
     "exactly K steps, instead of epochs",
     [](Options& o, Text t) { return set_optional(o.steps, t, 1); }},
    {"--batch",
     "B",
     "samples per step, over all ranks [128]",
     [](Options& o, Text t) { return set_number(o.batch, t, 1); }},
    {"--shards",
     "V",
     "virtual shards per batch, 1 to 1024; also the maximum number of ranks [16]",
     [](Options& o, Text t) { return set_number(o.shards, t, 1) && o.shards <= 1024; }},
    {"--optimizer",
     "NAME",
     "sgd, nesterov, adamw or lamb [sgd]",
     [](Options& o, Text t) { return set_row(o.optimizer, find_optimizer(t)); }},
    {"--lr",
     "X",
     "learning rate after warm-up [0.1; adamw 0.001, lamb 0.002]",
     [](Options& o, Text t) { return set_optional(o.lr, t, 1000); }},
    {"--momentum",
     "X",
     "momentum of SGD [0.9]",
     [](Options& o, Text t) { return set_real(o.optimization.momentum, t, 1); }},
    {"--betas", "B1,B2", "decay of the moments of adamw and lamb [0.9,0.999]", set_betas},
    {"--epsilon",
     "X",
     "added to the denominator of adamw and lamb [1e-8]",
     [](Options& o, Text t) { return set_real(o.optimization.epsilon, t, 1); }},
    {"--weight-decay",
     "X",
     "of all but norms and biases [0; adamw and lamb 0.01]",
     [](Options& o, Text t) { return set_optional(o.weight_decay, t, 1000); }},
    {"--clip-norm",
     "X",
     "scale gradients down to this norm; 0: never [0]",
     [](Options& o, Text t) { return set_real(o.optimization.clip_norm, t, 1e9); }},
    {"--label-smoothing",
     "X",
     "share of each label spread over all classes [0]",
     [](Options& o, Text t) { return set_real(o.label_smoothing, t, k_below_one); }},
    {"--warmup",
     "STEPS",
     "steps over which the learning rate rises [100]",
     [](Options& o, Text t) { return set_number(o.warmup, t, 0); }},
    {"--schedule",
     "S",
     "after warm-up: cosine or linear (to 0 at the last step), wsd (to 0 in the last tenth),\n"
     "                           step (a tenth at half, a hundredth at three quarters),\n"
     "                           constant [cosine]",
     [](Options& o, Text t) { return set_row(o.schedule, find_schedule(t)); }},
    {"--min-lr",
     "X",
     "what a schedule does not fall below [0]",
     [](Options& o, Text t) { return set_real(o.min_lr, t, 1000); }},
    {"--batch-rule",
     "RULE",
     "scale --lr with --batch over --base-batch: linear, sqrt or none [none]",
     [](Options& o, Text t) { return set_value(o.batch_rule, batch_rule_of(t)); }},
    {"--base-batch",
     "B",
     "batch that --lr is meant for, with --batch-rule [256]",
     [](Options& o, Text t) { return set_number(o.base_batch, t, 1); }},
    {"--device",
     "KIND",
     "what computes: cpu, cuda, one GPU a rank, or auto: cuda where every rank can [cpu]",
     [](Options& o, Text t) { return set_value(o.device, device_of(t)); }},
    {"--share-device",
     "on|off",
     "whether several ranks may have one GPU, for tests [off]",
     [](Options& o, Text t) { return set_choice(o.shares_device, t, "on", "off"); }},
    {"--instruction-set",
     "SET",
     "widest to use: avx512, avx2 or portable, if all ranks support it [avx512]",
     [](Options& o, Text t) { return set_value(o.instruction_set, instruction_set_of(t)); }},
    {"--precision",
     "P",
     "of matrix products and convolutions: bf16 where there are instructions for it,\n"
     "                           tf32 on a GPU, or fp32 [fp32]",
     [](Options& o, Text t) { return set_value(o.precision, precision_of(t)); }},
    {"--numerics",
     "HOW",
     "same: refuse ranks on machines that would give other bits; any: train anyway [same]",
     [](Options& o, Text t) { return set_choice(o.any_numerics, t, "any", "same"); }},
    {"--seed",
     "S",
     "seed of the initial weights and the data order [1]",
     [](Options& o, Text t) { return set_number(o.seed, t, 0); }},
    {"--limit-train",
     "N",
     "use only the first N training samples",
     [](Options& o, Text t) { return set_number(o.limit_train, t, 1); }},
    {"--augment",
     "WHAT",
     "of training images: crop, flip, crop,flip or none [none]",
     [](Options& o, Text t) { return set_value(o.augmentation, augmentation_of(t)); }},
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
    {"--tensorboard",
     "DIR",
     "folder for TensorBoard's event files",
     [](Options& o, Text t) { return set_text(o.tensorboard, t); }},
    {"--trace",
     "FILE",
     "what all ranks do in the first steps, for ui.perfetto.dev",
     [](Options& o, Text t) { return set_text(o.trace, t); }},
    {"--trace-steps",
     "N",
     "steps in that file [20]",
     [](Options& o, Text t) { return set_number(o.trace_steps, t, 1) && o.trace_steps <= 10000; }},
    {"--peak",
     "TFLOPS",
     "of all ranks' cores together, as dttrain bench measures: what FLOP/s are compared with",
     [](Options& o, Text t) { return set_real(o.peak_tflops, t, 1e9) && o.peak_tflops > 0; }},
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
     [](Options& o, Text t) { return set_value(o.transport, transport_of(t)); }},
    {"--hierarchy",
     "KIND",
     "sums and weights go straight between ranks (flat), or within each node first and once a\n"
     "                           node across (node); auto: node, where nodes have several ranks\n"
     "                           [auto]",
     [](Options& o, Text t) { return set_switch(o.node_first, t, "node", "flat"); }},
    {"--servers",
     "S",
     "S of the ranks keep and update the parameters, as in a parameter server [all ranks]",
     [](Options& o, Text t) { return set_number(o.servers, t, 1) && o.servers <= 1024; }},
    {"--zero",
     "STAGE",
     "what is divided among the ranks: 1: what the optimizer keeps, 2: gradients as well,\n"
     "                           3: weights as well [1]",
     [](Options& o, Text t) { return set_number(o.zero, t, 1) && o.zero <= 3; }},
    {"--staleness",
     "N",
     "asynchronous: --servers only serve, and apply each gradient as it comes; no other rank is\n"
     "                           more than N steps ahead; bits depend on timing [synchronous]",
     [](Options& o, Text t) { return set_optional(o.staleness, t, 0); }},
    {"--bucket-size",
     "BYTES",
     "gradients travel so many at a time, e.g. 4M; whole: all at once; auto: as is fastest in\n"
     "                           the first steps [4M with overlap, otherwise whole]",
     [](Options& o, Text t) {
       o.tunes_buckets = t == "auto";
       return o.tunes_buckets || set_bucket(o.bucket_bytes, t);
     }},
    {"--overlap",
     "WHEN",
     "send them while the backward pass computes others: on, off or auto, that is, between\n"
     "                           nodes if ranks have one thread [auto]",
     [](Options& o, Text t) { return set_switch(o.overlap, t); }},
    {"--comm-timeout",
     "SECONDS",
     "end if a rank has to wait that long for another, once training has begun [600]",
     [](Options& o, Text t) { return set_number(o.comm_timeout, t, 1); }},
    {"--rehearse",
     "NUMBERS",
     "instead of a model the numbers of another training, e.g.\n"
     "                           params=7B,step=2.5s,checkpoint=84G/node,memory=200G/node",
     [](Options& o, Text t) { return set_text(o.rehearsal_words, t); }},
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
     [](Options& o, Text t) { return set_text(o.fault, t); }},
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
