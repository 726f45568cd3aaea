// SPDX-License-Identifier: Apache-2.0
// dtsubmit beat: a heartbeat for programs that are shell scripts.
#include "cli/commands/command.hpp"
#include "cli/commands/counts.hpp"
#include "core/base/files/beat_page.hpp"
#include "core/base/text/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

namespace dts::cli {
namespace {

constexpr std::uint64_t k_highest_beat = 1'000'000'000'000'000;  // a heartbeat has 64 bits
constexpr double k_longest_save = 1e9;                           // seconds

struct BeatOptions {
  std::optional<std::uint64_t> step;
  std::optional<std::string> saved;          // seconds
  std::optional<std::uint64_t> busy, input;  // milliseconds
  bool every = false;
  bool done = false;
  bool again = false;
};

Result<std::optional<std::uint64_t>> saved_milliseconds(const std::optional<std::string>& seconds) {
  if (!seconds) return std::nullopt;
  const auto value = parse_real(*seconds);
  if (!value || *value < 0 || *value > k_longest_save)
    return fail(Errc::usage, fmt::format("--saved: `{}` is not a number of seconds", *seconds));
  return static_cast<std::uint64_t>(*value * 1000);
}

Result<int> act(const BeatOptions& options) {
  DTS_ASSIGN(const auto saved, saved_milliseconds(options.saved));
  const bool ends = options.done || options.again;
  const bool beats = options.step || options.saved || options.busy || options.input || ends;
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
  if (saved) page->saved(*saved);
  if (options.busy) page->worked(*options.busy);
  if (options.input) page->waited_for_input(*options.input);
  if (options.done) page->finish();
  if (options.again) page->ask_again();
  if (beats || !options.every) page->beat(options.step.value_or(page->step() + 1));
  if (options.every) fmt::print("{}\n", page->checkpoint_every_seconds());
  return 0;
}

}  // namespace

void add_beat(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<BeatOptions>();
  CLI::App* verb = app.add_subcommand("beat", "report progress, from a rank's script");
  CLI::Option* step = verb->add_option(
      "step", options->step, "number of the step, greater than before [the next one]");
  accept_whole(*step->type_name("STEP"), 0, k_highest_beat);
  verb->add_option("--saved", options->saved, "how long the last checkpoint took")
      ->type_name("SEC");
  CLI::Option* busy =
      verb->add_option("--busy", options->busy, "how long this step took, without waiting");
  accept_whole(*busy->type_name("MS"), 0, k_highest_beat);
  CLI::Option* input =
      verb->add_option("--input", options->input, "how much of that was spent waiting for input");
  accept_whole(*input->type_name("MS"), 0, k_highest_beat);
  verb->add_flag("--done", options->done, "nothing is left to do; the program will exit with 0");
  verb->add_flag("--again", options->again, "saved, and to be run again, as with exit code 85")
      ->excludes("--done");
  verb->add_flag("--every", options->every, "print the seconds between saves; 0: no advice yet");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
