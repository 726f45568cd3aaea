// SPDX-License-Identifier: Apache-2.0
// Waits while the file system of a run fails: a file server that is replaced, a client that was cut
// off, a volume that is read-only for a while.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/run_directory.hpp"

#include <chrono>
#include <string>

namespace dts::launch {

// True if the error is that of a file system that may be back later: not one that is full, which
// only a user changes, nor of a file that is absent or another kind of file.
[[nodiscard]] bool is_of_storage(const Error& failed);

// Waits for `delay`. False as soon as a signal of the descriptor `signals` asks the job to end,
// which can then be read again.
[[nodiscard]] bool waits_unasked(int signals, std::chrono::milliseconds delay);

class StoragePatience {
 public:
  // `signals`: the agent's descriptor (take_signals()). Waits for at most `limit` in a row, which
  // by default is two minutes, unless DTSUBMIT_STORAGE_LIMIT says otherwise.
  explicit StoragePatience(int signals);

  StoragePatience(int signals, std::chrono::seconds limit)
      : signals_(signals), limit_(limit), left_(limit) {}

  // True if what failed may succeed now: waits 1, 2, 4, ... 15 s, and says so in the log. False,
  // without waiting, if the error is another one (is_of_storage()) or the time is up; and as soon
  // as a signal asks the job to end, which can then be read again.
  [[nodiscard]] bool waits_after(const Error& failed);

  // To be called after a success: the whole limit is left again.
  void refill();

 private:
  int signals_;
  std::chrono::seconds limit_;
  std::chrono::seconds left_;
  std::chrono::seconds delay_{1};
};

// `call()`, again and again while its error is one to wait for.
template <class Call>
[[nodiscard]] auto call_patiently(StoragePatience& patience, const Call& call) {
  auto result = call();
  while (!result && patience.waits_after(result.error())) result = call();
  if (result) patience.refill();
  return result;
}

// Waits until the run's files can be written. Returns what failed in the meantime or still fails;
// empty: nothing. Without these files nobody knows why a program failed that needs them.
[[nodiscard]] std::string await_storage(const run::RunDirectory& run, StoragePatience& patience);

}  // namespace dts::launch
