// SPDX-License-Identifier: Apache-2.0
// A fixed set of threads, including the calling one, that run a function together.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dts::train {

// Only the thread that created the Team may call run(), one call at a time. Waiting threads sleep.
class Team {
 public:
  explicit Team(int threads);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  // Calls work(0) on this thread and work(1) ... work(size() - 1) on the others. Returns when all
  // have ended.
  void run(const std::function<void(int)>& work);

  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()) + 1; }

 private:
  void serve(int index);

  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable finish_;
  const std::function<void(int)>* work_ = nullptr;
  unsigned long round_ = 0;
  int running_ = 0;
  bool quit_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dts::train
