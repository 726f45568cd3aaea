// SPDX-License-Identifier: Apache-2.0
// A Ctrl-C that ends a command which only waits: the user reads what goes on without it.
#pragma once

#include <chrono>
#include <csignal>
#include <string>

namespace dts::cli {

// During its lifetime, the first SIGINT prints `words` on standard error before it ends the process
// as usual; a second one ends it at once. One at a time, by one thread. Where SIGINT is ignored, as
// in a script's background command, it stays so.
class InterruptibleWait {
 public:
  explicit InterruptibleWait(std::string words);
  InterruptibleWait(const InterruptibleWait&) = delete;
  InterruptibleWait& operator=(const InterruptibleWait&) = delete;
  ~InterruptibleWait();

  // Sleeps for `length`; does not return if SIGINT has arrived since construction, or does now.
  void pause(std::chrono::milliseconds length) const;

 private:
  [[noreturn]] void end() const;

  std::string words_;

  struct sigaction before_ {};
};

}  // namespace dts::cli
