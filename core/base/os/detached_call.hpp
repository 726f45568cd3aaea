// SPDX-License-Identifier: Apache-2.0
// A call that may block for as long as a file system, a name server or a shell does, on a thread
// for which nothing waits, not even the end of this process. Its result arrives as an event.
#pragma once

#include "core/base/files/unique_fd.hpp"

#include <sys/eventfd.h>

#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace dts {

// One call at a time. The thread owns everything that it uses, so the object may be destroyed
// first; the result is then discarded. Not thread-safe itself.
template <class Answer>
class DetachedCall {
 public:
  template <class Function>
  void start(Function function) {
    event_ = std::make_shared<UniqueFd>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    std::packaged_task<Answer()> task(std::move(function));
    answer_ = task.get_future();
    std::thread([task = std::move(task), event = event_]() mutable {
      task();
      ::eventfd_write(event->get(), 1);
    }).detach();
  }

  // True if the result of a started call has not been taken.
  [[nodiscard]] bool is_pending() const { return answer_.valid(); }

  // Readable once there is a result; -1 if nothing is pending.
  [[nodiscard]] int event_fd() const { return is_pending() ? event_->get() : -1; }

  // Returns the result once, when it is there.
  [[nodiscard]] std::optional<Answer> take() {
    if (!is_pending() || answer_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      return std::nullopt;
    return answer_.get();
  }

 private:
  std::shared_ptr<UniqueFd> event_;
  std::future<Answer> answer_;
};

}  // namespace dts
