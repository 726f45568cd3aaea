// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/runner/run_directory_watch.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/log.hpp"

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_content_look{5};
constexpr std::chrono::milliseconds k_presence_look{500};

}  // namespace

void RunDirectoryWatch::poll(Time now) {
  look_at_content(now);
  if (now < next_presence_) return;
  next_presence_ = now + k_presence_look;
  if (attempt_.outcome() || presence_.poll()) return;
  const std::string words = run::vanished_words(settings_.attempt.run);
  log("{}: ending every rank", words);
  attempt_.on_run_vanished(words, now);
  next_presence_ = Time::max();
}

void RunDirectoryWatch::look_at_content(Time now) {
  if (now < next_content_) return;
  next_content_ = now + k_content_look;
  if (std::string newest = run::newest_checkpoint(settings_.attempt.run); newest != checkpoint_) {
    checkpoint_ = std::move(newest);
    attempt_.on_checkpoint(now);
  }
  const run::Matches own = run::matches_of(settings_.attempt.spec.checkpoints, own_changed_);
  if (!own.newest.empty()) attempt_.on_checkpoint(now);
  own_changed_ = own.changed;
  if (exists(settings_.attempt.run.attempt(settings_.attempt.number + 1) + "/epoch"))
    attempt_.on_stop(run::Cause::fenced, now, "a newer attempt has begun", now);
}

}  // namespace dts::launch
