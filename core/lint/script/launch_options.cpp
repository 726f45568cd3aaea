// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/launch_options.hpp"

#include "core/base/text/text.hpp"
#include "core/lint/script/sbatch_options.hpp"

namespace dts::lint {
namespace {

// Options of mpirun and mpiexec with two values, and without any.
constexpr std::string_view k_two_values[] = {"mca", "gmca", "prtemca", "pmca", "genv", "env"};
constexpr std::string_view k_mpi_flags[] = {"allow-run-as-root",
                                            "tag-output",
                                            "report-bindings",
                                            "oversubscribe",
                                            "bind-to-core",
                                            "v",
                                            "verbose",
                                            "nolocal",
                                            "display-map",
                                            "display-allocation",
                                            "bynode",
                                            "quiet",
                                            "use-hwthread-cpus",
                                            "noprefix",
                                            "nooversubscribe",
                                            "l",
                                            "prepend-rank"};

struct Letter {
  char letter;
  std::string_view name;
};

// Letters of srun that sbatch lacks, or that have another meaning there.
constexpr Letter k_srun_letters[] = {{'l', "label"},
                                     {'u', "unbuffered"},
                                     {'K', "kill-on-bad-exit"},
                                     {'W', "wait"},
                                     {'r', "relative"},
                                     {'T', "threads"},
                                     {'E', "preserve-env"},
                                     {'X', "disable-status"},
                                     {'Z', "no-allocate"},
                                     {'I', "immediate"}};

}  // namespace

std::string srun_option_name(char letter) {
  for (const Letter& one : k_srun_letters)
    if (one.letter == letter) return std::string(one.name);
  const SbatchOption* option = find_sbatch_option(letter);
  return option == nullptr ? std::string(1, letter) : std::string(option->name);
}

std::size_t values_of_mpirun_option(std::string_view name) {
  if (is_one_of(k_two_values, name)) return 2;
  return is_one_of(k_mpi_flags, name) ? 0 : 1;
}

}  // namespace dts::lint
