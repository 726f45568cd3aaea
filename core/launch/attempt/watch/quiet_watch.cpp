// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/watch/quiet_watch.hpp"

#include "core/launch/attempt/watch/culprit.hpp"
#include "core/run/summary/goodput.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace dts::launch {
namespace {

using std::chrono::seconds;

}  // namespace

void QuietWatch::poll(Time now) {
  std::optional<unsigned> idle;
  auto quietest = now - sign_at_;
  for (const auto& [rank, state] : ranks_) {
    if (state.exit_code) continue;
    const auto since_report = now - state.heard;
    quietest =
        std::min<Time::duration>(quietest, seconds(state.progress.quiet_seconds) + since_report);
    const bool sits = seconds(state.progress.idle_seconds) + since_report >= settings_.quiet_limit;
    if (sits && !idle) idle = rank;
  }
  const bool quiet = idle && quietest >= settings_.quiet_limit;
  if (quiet == quiet_) return;
  quiet_ = quiet;
  if (quiet) return warn(*idle, quietest);
  news_.events.push_back({.what = run::Heard{"its programs show activity again"}});
}

void QuietWatch::warn(unsigned idle, Time::duration quietest) {
  const Culprit still = inactive_rank(ranks_).value_or(
      Culprit{idle, fmt::format("{} has used no processor time", ranks_.where(idle))});
  std::string words = fmt::format(
      "no output, no heartbeat and no checkpoint for {}, and {}: it "
      "may hang (dtsubmit logs --ranks all; --hang-timeout ends such a program)",
      run::duration_words(std::chrono::floor<seconds>(quietest)),
      still.why);
  news_.events.push_back(
      {.what = run::Quiet{
           .detail = std::move(words), .rank = still.rank, .node = ranks_.at(still.rank).node()}});
}

}  // namespace dts::launch
