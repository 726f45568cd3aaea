// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/ledger_writer.hpp"

#include "core/base/text/units.hpp"

#include <chrono>
#include <utility>

namespace dts::run {

Result<void> LedgerWriter::append(Event event) {
  if (event.time.empty()) event.time = format_utc(std::chrono::system_clock::now());
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(event));
  return write_waiting();
}

Result<void> LedgerWriter::flush() {
  const std::lock_guard lock(mutex_);
  return write_waiting();
}

// The caller holds the mutex.
Result<void> LedgerWriter::write_waiting() {
  while (!waiting_.empty()) {
    DTS_TRY(append_event(ledger_, waiting_.front()));
    waiting_.erase(waiting_.begin());
  }
  return {};
}

std::vector<Event> LedgerWriter::events() {
  const std::lock_guard lock(mutex_);
  if (auto read = read_ledger(ledger_)) read_ = *std::move(read);
  std::vector<Event> all = read_;
  all.insert(all.end(), waiting_.begin(), waiting_.end());
  return all;
}

std::vector<Event> LedgerWriter::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

}  // namespace dts::run
