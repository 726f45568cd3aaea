// SPDX-License-Identifier: Apache-2.0
// Reports the progress of a node's staging, as a line from time to time, and in a file that the
// node's rank reads. Thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace dts::stage {

struct Progress {
  std::uint64_t done = 0;   // bytes
  std::uint64_t total = 0;  // bytes

  friend bool operator==(const Progress&, const Progress&) = default;
};

// "640 B", "12.0 GiB"
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

// "1.2 GiB of 40.0 GiB, 310.0 MiB/s, 2.1 min left". `since`: time since the start; `first`: bytes
// that were present then.
[[nodiscard]] std::string format_progress(const Progress& progress,
                                          std::uint64_t first,
                                          std::chrono::duration<double> since);

// Progress in the stage folder; nullopt if there is none yet or it is unreadable.
[[nodiscard]] std::optional<Progress> read_progress(const std::string& folder);
[[nodiscard]] std::optional<Progress> parse_progress(std::string_view text);

class Meter {
 public:
  using Say = std::function<void(const std::string& line)>;

  // Writes the progress file to `folder`, and calls `say` with each line, on a thread of its own.
  Meter(std::string folder, Say say, std::chrono::milliseconds every = std::chrono::seconds(5))
      : folder_(std::move(folder)), say_(std::move(say)), every_(every) {}

  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

  // Joins the thread.
  ~Meter();

  void begin(std::uint64_t total);

  void add(std::uint64_t bytes) { done_ += bytes; }

  [[nodiscard]] Progress progress() const { return {done_, total_}; }

  void say(const std::string& line) const { say_(line); }

 private:
  void report(const Progress& now) const;

  std::string folder_;
  Say say_;
  std::chrono::milliseconds every_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
  std::chrono::steady_clock::time_point began_{};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread reporter_;
};

}  // namespace dts::stage
