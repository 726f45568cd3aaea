// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/live_output.hpp"

#include "core/base/os/log.hpp"
#include "core/base/text/utf8.hpp"
#include "core/run/summary/explain.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace dts::launch {
namespace {

constexpr std::chrono::milliseconds k_look{100};

void show(const std::stop_token& stop, run::RankLogs logs, int fd) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  while (!stop.stop_requested()) {
    (void)logs.copy_to(fd);  // a lost terminal stops the copy, not the job
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, k_look, [] { return false; });
  }
  (void)logs.copy_rest(fd);
}

}  // namespace

LiveOutput::LiveOutput(run::RankLogs logs, int fd)
    : thread_([logs = std::move(logs), fd](const std::stop_token& stop) mutable {
        show(stop, std::move(logs), fd);
      }) {}

LiveOutput::~LiveOutput() = default;  // asks the thread to stop and joins it

void print_last_words(const run::RunDirectory& run,
                      unsigned attempt,
                      const run::Outcome& outcome,
                      const run::RankSelection& shown) {
  constexpr std::size_t k_lines = 20;
  constexpr std::size_t k_longest_shown = 300;
  const run::LastWords words = run::last_words(run, attempt, outcome.rank, outcome.cause, k_lines);
  const bool is_rank = outcome.rank && words.path == run.rank_log(attempt, *outcome.rank);
  if (words.lines.empty() || (is_rank && run::is_selected(shown, *outcome.rank))) return;
  tell("the last lines of {} ({}):\n", words.whose, words.path);
  for (const std::string& line : words.lines) tell("  {}\n", printable(line, k_longest_shown));
}

}  // namespace dts::launch
