// SPDX-License-Identifier: Apache-2.0
// Writes and reads a run's ledger for its agent, even while the disk cannot be written (it is full,
// read-only or disconnected). Events then wait in memory, in order, and are written with the next
// one that succeeds. Thread-safe.
#pragma once

#include "core/run/ledger/ledger.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace dts::run {

class LedgerWriter {
 public:
  explicit LedgerWriter(std::string ledger) : ledger_(std::move(ledger)) {}

  // Appends the waiting events and then `event`, with the current time if it has none. An error
  // means that the disk failed and the event waits.
  Result<void> append(Event event);

  // Appends the waiting events. Errors as of append().
  Result<void> flush();

  // The ledger, or if it cannot be read its last known content, followed by the waiting events.
  [[nodiscard]] std::vector<Event> events();

  // The events that could not be written yet.
  [[nodiscard]] std::vector<Event> waiting() const;

 private:
  [[nodiscard]] Result<void> write_waiting();

  std::string ledger_;
  mutable std::mutex mutex_;
  std::vector<Event> waiting_;
  bool is_in_doubt_ = false;  // the first waiting event may be in the ledger, but not durably
  std::vector<Event> read_;   // the ledger's last known content
};

}  // namespace dts::run
