// SPDX-License-Identifier: Apache-2.0
// dtsubmit beat: a heartbeat for programs that are shell scripts.
#include "cli/commands/command.hpp"
#include "core/base/files/beat_page.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

namespace dts::cli {
namespace {

struct BeatOptions {
  std::optional<std::uint64_t> step;
  std::optional<double> saved;               // seconds
  std::optional<std::uint64_t> busy, input;  // milliseconds
  bool every = false;
  bool done = false;
};

Result<int> act(const BeatOptions& options) {
  const bool beats = options.step || options.saved || options.busy || options.input || options.done;
  const char* path = std::getenv("DTSUBMIT_BEAT");
  if (path == nullptr) {  // the same script must also run without dtsubmit
    if (options.every) fmt::print("0\n");
    return 0;
  }
  auto page = BeatPage::open(path);
  if (!page)
    return fail(Errc::io,
                std::string("no heartbeat at ") + path,
                "does DTSUBMIT_BEAT belong to this rank?");
  if (options.saved) page->saved(static_cast<std::uint64_t>(*options.saved * 1000));
  if (options.busy) page->worked(*options.busy);
  if (options.input) page->waited_for_input(*options.input);
  if (options.done) page->finish();
  if (beats || !options.every) page->beat(options.step.value_or(page->step() + 1));
  if (options.every) fmt::print("{}\n", page->checkpoint_every_seconds());
  return 0;
}

}  // namespace

void add_beat(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<BeatOptions>();
  CLI::App* verb = app.add_subcommand("beat", "report progress, from a rank's script");
  verb->add_option("step", options->step, "number of the step, greater than before [the next one]")
      ->type_name("STEP");
  verb->add_option("--saved", options->saved, "how long the last checkpoint took")
      ->type_name("SEC")
      ->check(CLI::Range(0.0, 1e9));
  verb->add_option("--busy", options->busy, "how long this step took, without waiting")
      ->type_name("MS")
      ->check(CLI::Range(0.0, 1e12));
  verb->add_option("--input", options->input, "how much of that was spent waiting for input")
      ->type_name("MS")
      ->check(CLI::Range(0.0, 1e12));
  verb->add_flag("--done", options->done, "nothing is left to do; the program will exit with 0");
  verb->add_flag("--every", options->every, "print the seconds between saves; 0: no advice yet");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
