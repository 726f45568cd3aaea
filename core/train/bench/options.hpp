// SPDX-License-Identifier: Apache-2.0
// The command line of `dttrain bench` and the environment it reads. Pure.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dts::train::bench {

// A fault for tests: "slow@2", "weight:17:3@0".
struct Injection {
  std::string what;
  std::uint64_t element = 0;  // of a flipped bit: index in the flat array
  int repeat = 3;             // of a flipped bit: repeat of the step, from 0
  int rank = 0;
};

struct BenchOptions {
  bool quick = false;
  std::string output;   // empty: standard output
  std::string run_dir;  // empty: measure no disk for it
  std::string scratch = "/tmp";
  std::uint64_t pair_bytes = 0;  // 0: 4 MiB, with --quick 1 MiB
  int steps = 0;                 // 0: 100, with --quick 10
  int gpu_steps = 0;             // 0: 1,000, with --quick 50; fewer if they are slow
  // The model whose steps run on GPUs; one takes a millisecond or a few.
  std::string gpu_model = "gpt2,vocab_size=4096,n_positions=256,n_embd=768,n_layer=2,n_head=12";
  std::uint64_t gpus = 0;           // expected per rank; 0: any number
  std::vector<std::string> phases;  // empty: all
  std::vector<Injection> injections;
  std::string alone;  // runs only this phase, in this process; see phases.hpp
  double share = 1;   // of the usual time of each phase
  std::optional<std::uint64_t> planned_ranks;  // if started by dtsubmit
  bool help = false;

  [[nodiscard]] int repeats() const { return steps > 0 ? steps : quick ? 10 : 100; }

  [[nodiscard]] int gpu_repeats() const { return gpu_steps > 0 ? gpu_steps : quick ? 50 : 1000; }

  [[nodiscard]] std::uint64_t message_bytes() const {
    return pair_bytes > 0 ? pair_bytes : std::uint64_t{quick ? 1U : 4U} << 20;
  }

  [[nodiscard]] bool wants(const std::string& phase) const;

  // The injection of this kind for `rank`; nullptr if there is none.
  [[nodiscard]] const Injection* injection(const std::string& what, int rank) const;
};

// Reads DTSUBMIT_RUN_DIR, TMPDIR, and under dtsubmit WORLD_SIZE, too. Errc::usage.
[[nodiscard]] Result<BenchOptions> parse_bench_options(
    const std::vector<std::string>& arguments,
    const std::function<const char*(const char*)>& environment);

// The value of --inject for an injection.
[[nodiscard]] std::string to_string(const Injection& injection);

[[nodiscard]] std::string bench_usage();

}  // namespace dts::train::bench
