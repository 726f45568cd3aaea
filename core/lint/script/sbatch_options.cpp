// SPDX-License-Identifier: Apache-2.0
// Source: the option tables of Slurm 22.05 to 26.05 (src/common/slurm_opt.c), sbatch(1), srun(1).
#include "core/lint/script/sbatch_options.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <iterator>

namespace dts::lint {
namespace {

constexpr Takes k_nothing = Takes::nothing, k_value = Takes::value, k_perhaps = Takes::perhaps;

constexpr SbatchOption k_options[] = {
    {"account", 'A'},
    {"acctg-freq"},
    {"array", 'a'},
    {"batch"},
    {"bb"},
    {"bbf"},
    {"begin", 'b'},
    {"chdir", 'D'},
    {"cluster"},
    {"cluster-constraint"},
    {"clusters", 'M'},
    {"comment"},
    {"consolidate-segments", 0, k_nothing, {26, 5}},
    {"constraint", 'C'},
    {"container"},
    {"container-id", 0, k_value, {23, 2}},
    {"container-type", 0, k_value, {26, 5}},
    {"context"},
    {"contiguous", 0, k_nothing},
    {"core-spec", 'S'},
    {"cores-per-socket"},
    {"cpu-freq"},
    {"cpus-per-gpu"},
    {"cpus-per-task", 'c'},
    {"deadline"},
    {"delay-boot"},
    {"dependency", 'd'},
    {"distribution", 'm'},
    {"error", 'e'},
    {"exclude", 'x'},
    {"exclusive", 0, k_perhaps},
    {"export"},
    {"export-file"},
    {"external", 0, k_nothing, {25, 5}},
    {"extra", 0, k_value, {23, 2}},
    {"extra-node-info", 'B'},
    {"get-user-env", 0, k_perhaps},
    {"gid"},
    {"gpu-bind"},
    {"gpu-freq"},
    {"gpus", 'G'},
    {"gpus-per-node"},
    {"gpus-per-socket"},
    {"gpus-per-task"},
    {"gres"},
    {"gres-flags"},
    {"help", 'h', k_nothing},
    {"hint"},
    {"hold", 'H', k_nothing},
    {"ignore-pbs", 0, k_nothing},
    {"input", 'i'},
    {"job-name", 'J'},
    {"kill-on-invalid-dep"},
    {"licenses", 'L'},
    {"mail-type"},
    {"mail-user"},
    {"mcs-label"},
    {"mem"},
    {"mem-bind"},
    {"mem-per-cpu"},
    {"mem-per-gpu"},
    {"mem-update", 0, k_value, {26, 5}},
    {"mincpus"},
    {"network"},
    {"nice", 0, k_perhaps},
    {"no-kill", 'k', k_perhaps},
    {"no-requeue", 0, k_nothing},
    {"nodefile", 'F'},
    {"nodelist", 'w'},
    {"nodes", 'N'},
    {"ntasks", 'n'},
    {"ntasks-per-core"},
    {"ntasks-per-gpu"},
    {"ntasks-per-node"},
    {"ntasks-per-socket"},
    {"ntasks-per-tres"},
    {"oom-kill-step", 0, k_perhaps, {24, 11}},
    {"open-mode"},
    {"output", 'o'},
    {"overcommit", 'O', k_nothing},
    {"oversubscribe", 's', k_nothing},
    {"parsable", 0, k_nothing},
    {"partition", 'p'},
    {"power", 0, k_value, {}, {24, 5}},
    {"prefer", 0, k_value, {22, 5}},
    {"priority"},
    {"profile"},
    {"propagate", 0, k_perhaps},
    {"qos", 'q'},
    {"quiet", 'Q', k_nothing},
    {"reboot", 0, k_nothing},
    {"requeue", 0, k_perhaps},
    {"reservation"},
    {"resources", 0, k_value, {26, 5}},
    {"resv-ports", 0, k_perhaps, {24, 5}},
    {"segment", 0, k_value, {24, 5}},
    {"signal"},
    {"sockets-per-node"},
    {"spread-job", 0, k_nothing},
    {"spread-segments", 0, k_nothing, {26, 5}},
    {"stepmgr", 0, k_nothing, {24, 5}},
    {"switches"},
    {"tasks-per-node"},
    {"test-only", 0, k_nothing},
    {"thread-spec"},
    {"threads-per-core"},
    {"time", 't'},
    {"time-min"},
    {"tmp"},
    {"tres-bind", 0, k_value, {23, 11}},
    {"tres-per-task", 0, k_value, {23, 2}},
    {"uid"},
    {"usage", 0, k_nothing},
    {"use-min-nodes", 0, k_nothing},
    {"verbose", 'v', k_nothing},
    {"version", 'V', k_nothing},
    {"wait", 'W', k_nothing},
    {"wait-all-nodes"},
    {"wckey"},
    {"wrap"},
};

constexpr std::string_view k_of_plugins[] = {
    "ccm",
    "container-entrypoint",
    "container-entrypoint-log",
    "container-env",
    "container-image",
    "container-mount-home",
    "container-mounts",
    "container-name",
    "container-readonly",
    "container-remap-root",
    "container-save",
    "container-workdir",
    "container-writable",
    "entrypoint",
    "env",
    "environment",
    "image",
    "module",
    "no-container-entrypoint",
    "no-container-mount-home",
    "no-container-remap-root",
    "perf",
    "repo",
    "uenv",
    "view",
    "volume",
    "x11",
};

constexpr std::string_view k_of_srun[] = {
    "accel-bind",       "async",          "bcast",        "bcast-exclude", "compress",
    "cpu-bind",         "disable-status", "epilog",       "exact",         "external-launcher",
    "het-group",        "ignore-signals", "immediate",    "interactive",   "jobid",
    "kill-on-bad-exit", "label",          "mpi",          "msg-timeout",   "multi-prog",
    "no-allocate",      "overlap",        "preserve-env", "prolog",        "pty",
    "relative",         "send-libs",      "slurmd-debug", "task-epilog",   "task-prolog",
    "threads",          "unbuffered",     "whole",
};

constexpr std::string_view k_srun_flags[] = {
    "async",
    "contiguous",
    "disable-status",
    "exact",
    "exclusive",
    "external-launcher",
    "hold",
    "interactive",
    "kill-on-bad-exit",
    "label",
    "multi-prog",
    "no-allocate",
    "no-container-entrypoint",
    "no-container-mount-home",
    "no-container-remap-root",
    "container-mount-home",
    "container-readonly",
    "container-remap-root",
    "container-writable",
    "no-kill",
    "overcommit",
    "overlap",
    "oversubscribe",
    "parsable",
    "preserve-env",
    "pty",
    "quiet",
    "reboot",
    "resv-ports",
    "send-libs",
    "spread-job",
    "test-only",
    "unbuffered",
    "use-min-nodes",
    "verbose",
    "version",
    "whole",
    "help",
    "usage",
    "compress",
    "bcast",
    "immediate",
    "nice",
    "propagate",
};

}  // namespace

const SbatchOption* find_sbatch_option(std::string_view name) {
  const SbatchOption* found = nullptr;
  for (const SbatchOption& one : k_options) {
    if (one.name == name) return &one;
    if (name.empty() || !one.name.starts_with(name)) continue;
    if (found != nullptr) return nullptr;
    found = &one;
  }
  return found;
}

const SbatchOption* find_sbatch_option(char letter) {
  const auto* const found =
      std::find_if(std::begin(k_options), std::end(k_options), [letter](const SbatchOption& one) {
        return one.letter == letter && letter != 0;
      });
  return found == std::end(k_options) ? nullptr : found;
}

std::vector<std::string> sbatch_option_names() {
  std::vector<std::string> names;
  for (const SbatchOption& one : k_options) names.emplace_back(one.name);
  return names;
}

bool is_plugin_option(std::string_view name) {
  return is_one_of(k_of_plugins, name);
}

bool is_srun_option(std::string_view name) {
  return is_one_of(k_of_srun, name);
}

bool is_srun_flag(std::string_view name) {
  return is_one_of(k_srun_flags, name);
}

bool is_srun_flag(char letter) {
  return std::string_view("EHhKkOQsuvVXZl").find(letter) != std::string_view::npos;
}

}  // namespace dts::lint
