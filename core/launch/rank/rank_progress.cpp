// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/rank_progress.hpp"

#include "core/launch/program/stacks.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace dts::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds k_look{1};     // from one look at the heartbeat to the next
constexpr seconds k_report{30};  // from one report to the agent to the next

unsigned whole_seconds(std::chrono::steady_clock::duration time) {
  return static_cast<unsigned>(std::max<long>(0, std::chrono::floor<seconds>(time).count()));
}

std::uint64_t size_of(const std::string& file) {
  struct stat found {};

  return ::stat(file.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

}  // namespace

Result<void> RankProgress::prepare(std::uint64_t checkpoint_every,
                                   const std::string& file,
                                   plan::Environment& variables) {
  DTS_ASSIGN(page_, file.empty() ? BeatPage::create() : BeatPage::create_file(file));
  variables.emplace_back("DTSUBMIT_BEAT", page_->path());
  if (checkpoint_every > 0) {
    page_->advise(checkpoint_every);
    variables.emplace_back("DTSUBMIT_CHECKPOINT_EVERY",
                           std::to_string(page_->checkpoint_every_seconds()));
  }
  return {};
}

void RankProgress::begin(const Go& order, Time now) {
  log_ = order.log;
  may_hang_ = order.hang_seconds >= 0;
  watch_.emplace(order.hang_seconds > 0 ? std::optional(seconds(order.hang_seconds)) : std::nullopt,
                 now);
  idle_.emplace(now);
  next_poll_ = now + k_look;
  next_report_ = now + k_report;
}

Progress RankProgress::read_page(Time now) {
  Progress progress;
  progress.step = page_->step();
  pace_.observe(progress.step,
                page_->save_milliseconds(),
                page_->work_milliseconds(),
                page_->input_milliseconds(),
                now);
  progress.pace = pace_.pace();
  if (watch_) {
    watch_->observe(progress.step, size_of(log_), now);
    progress.pace.pause = static_cast<std::uint64_t>(
        std::chrono::ceil<milliseconds>(watch_->longest_pause()).count());
  }
  return progress;
}

Progress RankProgress::report(pid_t pid, Time now) {
  Progress progress = read_page(now);
  progress.state = std::string(1, process_state(pid));
  progress.idle_seconds = whole_seconds(idle_->idle(now));
  progress.asleep = is_asleep(pid);
  if (!watch_) return progress;
  progress.quiet_seconds = whole_seconds(watch_->quiet(now));
  const auto since = may_hang_ ? watch_->hung(now) : std::nullopt;
  if (since)
    progress.stalled_seconds = static_cast<unsigned>(std::chrono::ceil<seconds>(*since).count());
  return progress;
}

std::optional<Progress> RankProgress::poll(pid_t pid, Time now) {
  next_poll_ = pid > 0 ? now + k_look : Time::max();
  if (pid <= 0) return std::nullopt;
  idle_->observe(ticks_worked(pid), now);
  const Progress seen = read_page(now);
  // A hang is reported as soon as it begins and as soon as it ends: if one rank hangs, others may
  // still work.
  const bool was_hung =
      std::exchange(was_hung_, watch_ && may_hang_ && watch_->hung(now).has_value());
  // The first beat is news: it shows that the program is back at work.
  const bool news =
      pace_.take_news() || (reported_step_ == 0 && seen.step != 0) || was_hung_ != was_hung;
  if (!news && now < next_report_) return std::nullopt;
  next_report_ = now + k_report;
  reported_step_ = seen.step;
  return report(pid, now);
}

std::optional<Progress> RankProgress::last_news(Time now) {
  if (!page_) return std::nullopt;
  Progress last = read_page(now);
  const bool news = pace_.take_news() || last.step != reported_step_;
  return news ? std::optional(std::move(last)) : std::nullopt;
}

}  // namespace dts::launch
