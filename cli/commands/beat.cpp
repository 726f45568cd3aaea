// SPDX-License-Identifier: Apache-2.0
// dtsubmit beat: a heartbeat for programs that are shell scripts.
#include "cli/commands/command.hpp"
#include "core/base/beat_page.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

namespace dts::cli {
namespace {

struct BeatOptions {
  std::optional<std::uint64_t> step;
  std::optional<double> saved;  // seconds
};

Result<int> act(const BeatOptions& options) {
  const char* path = std::getenv("DTSUBMIT_BEAT");
  if (path == nullptr) return 0;  // the same script runs without dtsubmit, too
  auto page = BeatPage::open(path);
  if (!page)
    return fail(Errc::io, std::string("no heartbeat at ") + path, "is DTSUBMIT_BEAT of this rank?");
  if (options.saved) page->saved(static_cast<std::uint64_t>(*options.saved * 1000));
  page->beat(options.step.value_or(page->step() + 1));
  return 0;
}

}  // namespace

void add_beat(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<BeatOptions>();
  CLI::App* verb = app.add_subcommand("beat", "in a rank's script: tell that it gets on");
  verb->add_option("step", options->step, "a number that grows [one more than before]")
      ->type_name("STEP");
  verb->add_option("--saved", options->saved, "how long the last checkpoint took")
      ->type_name("SEC")
      ->check(CLI::Range(0.0, 1e9));
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
