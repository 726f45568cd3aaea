// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/phases.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/train/bench/measures.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>

namespace dts::train::bench {
namespace {

using std::chrono::milliseconds;

struct Phase {
  const char* name;
  void (*measure)(const BenchOptions&, double, RankFacts&);
  double seconds;  // planned time
  double quick_seconds;
  milliseconds limit;  // killed after this time
};

constexpr Phase k_phases[] = {
    {"cores", measure_cores, 0.3, 0.05, milliseconds(10000)},
    {"gemm", measure_gemm, 2.0, 0.4, milliseconds(16000)},
    {"memory", measure_memory, 1.5, 0.2, milliseconds(16000)},
    {"gpu", measure_gpus, 24.0, 2.0, milliseconds(120000)},  // drivers start slowly
    {"disk", measure_disk, 6.0, 0.8, milliseconds(24000)},
    {"steps", measure_steps, 10.0, 2.5, milliseconds(24000)},
};

// Even with --quick, a busy machine gets enough time.
milliseconds limit_of(const Phase& phase, const BenchOptions& options) {
  return options.quick ? phase.limit / 4 : phase.limit;
}

std::vector<std::string> words_of(const BenchOptions& options,
                                  const Phase& phase,
                                  int rank,
                                  double share) {
  std::vector<std::string> words{
      program_path(), "bench", "--alone", phase.name, "--share", fmt::format("{:.4f}", share)};
  if (options.quick) words.emplace_back("--quick");
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--run-dir", options.run_dir);
  add("--scratch", options.scratch);
  add("--steps", std::to_string(options.repeats()));
  add("--gpus", std::to_string(options.gpus));
  if (options.gpu_steps > 0) add("--gpu-steps", std::to_string(options.gpu_steps));
  add("--gpu-model", options.gpu_model);
  for (Injection injection : options.injections) {
    if (injection.rank != rank) continue;
    injection.rank = 0;  // the process has a single rank
    add("--inject", to_string(injection));
  }
  return words;
}

Result<RankFacts> run_phase(Command command, milliseconds limit) {
  command.parent_death_signal = SIGKILL;
  DTS_ASSIGN(const Output output, run_process(std::move(command), limit));
  if (output.exit_code != 0)
    return fail(
        Errc::io,
        fmt::format("ended with {}: {}", output.exit_code, trim(output.err.substr(0, 500))));
  return decode_rank(output.out);
}

}  // namespace

RankFacts measure_rank(const BenchOptions& options,
                       int rank,
                       double share,
                       const std::function<void(const char*)>& starts) {
  RankFacts facts;
  facts.rank = rank;
  for (const Phase& phase : k_phases) {
    if (!options.wants(phase.name)) continue;
    starts(phase.name);
    Command command;
    command.argv = words_of(options, phase, rank, share);
    auto found = run_phase(std::move(command), limit_of(phase, options));
    if (found)
      facts.append(*std::move(found));
    else
      facts.notes.push_back(fmt::format("{}: {}", phase.name, found.error().message));
  }
  return facts;
}

milliseconds longest_measurement(const BenchOptions& options) {
  milliseconds sum(0);
  for (const Phase& phase : k_phases)
    if (options.wants(phase.name)) sum += limit_of(phase, options);
  return sum;
}

int measure_alone(const BenchOptions& options) {
  for (const Phase& phase : k_phases) {
    if (options.alone != phase.name) continue;
    RankFacts facts;
    phase.measure(
        options, options.share * (options.quick ? phase.quick_seconds : phase.seconds), facts);
    const std::string text = encode(facts);
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0
                                                                           : exit_code(Errc::io);
  }
  return exit_code(Errc::usage);
}

}  // namespace dts::train::bench
