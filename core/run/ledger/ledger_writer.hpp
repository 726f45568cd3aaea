// SPDX-License-Identifier: Apache-2.0
// What an agent writes into its run's ledger and reads of it, also while the disk takes nothing (it
// is full, read-only or away): then events wait in memory, in their order, and go with the next
// one that gets through. Thread-safe.
#pragma once

#include "core/run/ledger/ledger.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace dts::run {

class LedgerWriter {
 public:
  explicit LedgerWriter(std::string ledger) : ledger_(std::move(ledger)) {}

  // Appends what waits, and then `event`, whose time is now where it has none. An error is the
  // disk's: the event waits then.
  Result<void> append(Event event);

  // Everything that the ledger has, or had at the last look where it cannot be read, and what
  // waits.
  [[nodiscard]] std::vector<Event> events();

  // What no append has got through yet.
  [[nodiscard]] std::vector<Event> waiting() const;

 private:
  std::string ledger_;
  mutable std::mutex mutex_;
  std::vector<Event> waiting_;
  std::vector<Event> read_;  // at the last look
};

}  // namespace dts::run
