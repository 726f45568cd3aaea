// SPDX-License-Identifier: Apache-2.0
// dttrain: the bundled trainer.
#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/train/bench/bench.hpp"
#include "core/train/checkpoint/part_file.hpp"
#include "core/train/hub/verbs.hpp"
#include "core/train/hub/weights.hpp"
#include "core/train/loop/stop.hpp"
#include "core/train/loop/trainer.hpp"
#include "core/train/telemetry/report.hpp"
#include "core/train/verify/verify.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

using dts::train::Options;

struct Verb {
  const char* name;
  int (*main)(const std::vector<std::string>& words);
};

constexpr Verb k_verbs[] = {{"bench", dts::train::bench::bench_main},
                            {"inspect", dts::train::inspect_main},
                            {"export", dts::train::export_main},
                            {"convert", dts::train::convert_main},
                            {"verify", dts::train::verify_main}};

int complain(const dts::Error& error) {
  dts::train::print_error(error, -1);
  return dts::exit_code(error.code);
}

// The number of cores for this rank: those of the process, divided among the ranks on its node.
std::uint64_t own_cores(int ranks_on_node) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::uint64_t>(std::max(1, CPU_COUNT(&set) / std::max(1, ranks_on_node)));
}

int export_initial(const Options& options) {
  const dts::train::Layout& layout = options.model->layout;
  dts::train::State state(layout);
  dts::train::initialise(layout, options.seed, state);
  if (!options.from.empty())
    if (const auto read =
            dts::train::read_hub_weights(options.from, *options.model, state.weights.data());
        !read)
      return complain(read.error());
  dts::train::Snapshot snapshot(layout, 1, 0);
  snapshot.take(state);
  const std::string temporary = options.export_weights + ".tmp." + dts::random_hex(8);
  const auto written = snapshot.write(temporary);
  if (!written) return complain(written.error());
  if (std::rename(temporary.c_str(), options.export_weights.c_str()) == 0) return 0;
  const dts::Error error = dts::fail_errno("cannot create " + options.export_weights).value();
  (void)dts::remove_all(temporary);
  return complain(error);
}

// Ranks that each believe they are alone would all write the same files, and all succeed.
dts::Result<void> check_world(const Options& options, int size) {
  if (!options.planned_ranks || *options.planned_ranks == static_cast<std::uint64_t>(size))
    return {};
  return dts::fail(
      dts::Errc::invalid,
      fmt::format(
          "dtsubmit has started {} ranks, but MPI knows of {}", *options.planned_ranks, size),
      "the trainer needs a launcher with MPI: mpirun, or an srun that lists pmix");
}

int run(Options options) {
  // Before MPI and threads, so that a stop request during start-up is not lost.
  if (const auto taken = dts::train::take_stop_signals(); !taken) return complain(taken.error());
  dts::train::Comm::Settings limits;
  limits.start = std::exchange(limits.timeout, std::chrono::seconds(options.comm_timeout));
  dts::train::Comm comm(limits);
  if (const auto whole = check_world(options, comm.size()); !whole) return complain(whole.error());
  if (const auto chosen = comm.travel_by(options.transport); !chosen) {
    if (!chosen.error().message.empty()) dts::train::print_error(chosen.error(), -1);
    return dts::exit_code(chosen.error().code);
  }
  if (options.threads == 0) options.threads = own_cores(comm.node_size());
  options.threads = std::min(options.threads, options.shards);
  return dts::train::train(comm, options);
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [name, verb] : k_verbs)
    if (argc > 1 && std::strcmp(argv[1], name) == 0) return verb({argv + 2, argv + argc});
  const auto options = dts::train::parse_options(
      {argv + 1, argv + argc}, [](const char* name) { return std::getenv(name); });
  if (!options) return complain(options.error());
  if (options->help) {
    std::fputs(dts::train::usage().c_str(), stdout);
    return 0;
  }
  return options->export_weights.empty() ? run(*options) : export_initial(*options);
}
