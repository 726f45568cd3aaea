// SPDX-License-Identifier: Apache-2.0
// dtsubmit logs: what a rank or the agent wrote, once or as it grows, across attempts.
#include "cli/commands/command.hpp"
#include "cli/commands/selection.hpp"
#include "core/base/files.hpp"
#include "core/run/ledger.hpp"
#include "core/run/log_follower.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

namespace dts::cli {
namespace {

constexpr std::chrono::milliseconds k_look{300};

struct LogOptions {
  Selection selection;
  unsigned rank = 0;
  unsigned attempt = 0;  // 0: the newest, or with -f every one from the newest on
  bool agent = false;
  bool follow = false;
};

std::string file_of(const run::RunDirectory& run, const LogOptions& options, unsigned attempt) {
  return options.agent ? run.attempt(attempt) + "/agent.log" : run.rank_log(attempt, options.rank);
}

bool is_over(const run::RunDirectory& run) {
  const auto events = run::read_ledger(run.ledger());
  if (!events || events->empty()) return false;
  const run::Event& last = events->back();
  return last.event == "decided" && (last.decision == "done" || last.decision == "stop");
}

Result<int> follow(const run::RunDirectory& run, const LogOptions& options) {
  unsigned attempt =
      std::max(1U, options.attempt != 0 ? options.attempt : run::latest_attempt(run));
  std::optional<run::LogFollower> log(file_of(run, options, attempt));
  while (true) {
    const bool over = is_over(run);  // looked at before the last copy, so that nothing is missed
    log->copy_to(STDOUT_FILENO);
    if (options.attempt == 0 && run::latest_attempt(run) > attempt) {
      log->copy_to(STDOUT_FILENO);
      fmt::print(stderr, "--- attempt {} ---\n", ++attempt);
      log.emplace(file_of(run, options, attempt));
      continue;
    }
    if (over || (options.attempt != 0 && run::latest_attempt(run) > attempt)) return 0;
    std::this_thread::sleep_for(k_look);
  }
}

Result<int> act(const LogOptions& options) {
  DTS_ASSIGN(const run::RunDirectory run, find(options.selection));
  if (options.follow) return follow(run, options);
  const unsigned attempt = options.attempt != 0 ? options.attempt : run::latest_attempt(run);
  if (attempt == 0)
    return fail(Errc::not_found,
                "the run has not started yet",
                fmt::format("dtsubmit logs -f {} waits for it", options.selection.what));
  const std::string file = file_of(run, options, attempt);
  if (!exists(file))
    return fail(Errc::not_found,
                file + " does not exist",
                "is there such a rank and attempt? see `dtsubmit status`");
  run::LogFollower(file).copy_to(STDOUT_FILENO);
  return 0;
}

}  // namespace

void add_logs(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<LogOptions>();
  CLI::App* verb = app.add_subcommand("logs", "what a rank wrote");
  add_selection(*verb, options->selection, false);
  verb->add_option("--rank", options->rank, "global rank")->capture_default_str()->type_name("R");
  verb->add_option("--attempt", options->attempt, "attempt [the newest]")->type_name("K");
  verb->add_flag("--agent", options->agent, "the agent's log instead of a rank's");
  verb->add_flag("-f,--follow",
                 options->follow,
                 "go on as it grows, over all attempts, until the run is over");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
