// SPDX-License-Identifier: Apache-2.0
// Threads that wait for rounds of work.
#include "core/train/device/team.hpp"

namespace dts::train {

Team::Team(int threads) {
  for (int index = 1; index < threads; ++index)
    threads_.emplace_back([this, index] { serve(index); });
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::run(const std::function<void(int)>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    running_ = static_cast<int>(threads_.size());
    ++round_;
  }
  start_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  finish_.wait(lock, [this] { return running_ == 0; });
}

void Team::serve(int index) {
  unsigned long seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return quit_ || round_ != seen; });
    if (quit_) return;
    seen = round_;
    const auto* const work = work_;
    lock.unlock();
    (*work)(index);
    lock.lock();
    if (--running_ == 0) finish_.notify_one();
  }
}

}  // namespace dts::train
