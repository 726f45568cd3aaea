// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/ledger_writer.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/units.hpp"
#include "core/run/event/event_line.hpp"

#include <chrono>
#include <utility>

namespace dts::run {
namespace {

bool ends_with_line(const std::string& path, const std::string& line) {
  const auto text = read_file(path);
  return text && text->ends_with("\n" + line + "\n");
}

}  // namespace

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
    const bool is_there = is_in_doubt_ && ends_with_line(ledger_, to_line(waiting_.front()));
    is_in_doubt_ = false;
    const Result<void> written =
        is_there ? Result<void>() : append_event(ledger_, waiting_.front());
    is_in_doubt_ = !written;
    DTS_TRY(written);
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
