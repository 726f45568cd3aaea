// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/runner/storage_patience.hpp"

#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/text/duration.hpp"
#include "core/launch/job/stop_way.hpp"
#include "core/run/directory/writable.hpp"
#include "core/run/summary/evidence.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>

namespace dts::launch {

namespace {

std::chrono::seconds storage_limit() {
  constexpr std::chrono::seconds k_usual{120};
  constexpr std::chrono::hours k_longest{24};
  const auto asked = parse_duration(getenv_lookup("DTSUBMIT_STORAGE_LIMIT").value_or(""));
  if (!asked || asked->count() < 0 || *asked > k_longest) return k_usual;
  return std::chrono::ceil<std::chrono::seconds>(*asked);
}

constexpr const char* k_ends[] = {"", ": '"};

}  // namespace

StoragePatience::StoragePatience(int signals) : StoragePatience(signals, storage_limit()) {}

// A file server that is down, or times out, is known by Python's messages, in which a file's name
// follows the reason. Ours end with it.
bool is_of_storage(const Error& failed) {
  return failed.code == Errc::io &&
         std::any_of(std::begin(k_ends), std::end(k_ends), [&](const char* end) {
           const auto shown = run::read_evidence({failed.message + end});
           return shown && shown->cause == run::Cause::storage_error;
         });
}

bool waits_unasked(int signals, std::chrono::milliseconds delay) {
  const auto signal = wait_for_one_of(signals, {SIGTERM, SIGINT, SIGUSR1, k_stop_request}, delay);
  if (signal) ::sigqueue(::getpid(), signal->number, {.sival_int = signal->value});
  return !signal;
}

bool StoragePatience::waits_after(const Error& failed) {
  constexpr std::chrono::seconds k_longest_delay{15};
  if (!is_of_storage(failed) || left_.count() <= 0) return false;
  const auto delay = std::min(delay_, left_);
  log("{}; trying again in {} s", failed.message, delay.count());
  left_ -= delay;
  delay_ = std::min(2 * delay_, k_longest_delay);
  return waits_unasked(signals_, delay);
}

void StoragePatience::refill() {
  left_ = limit_;
  delay_ = std::chrono::seconds(1);
}

std::string await_storage(const run::RunDirectory& run, StoragePatience& patience) {
  std::string trouble;
  const auto writable = call_patiently(patience, [&] {
    auto written = run::check_writable(run);
    if (!written && is_of_storage(written.error())) trouble = written.error().message;
    return written;
  });
  if (!writable) log("{}", writable.error().message);
  return trouble;
}

}  // namespace dts::launch
