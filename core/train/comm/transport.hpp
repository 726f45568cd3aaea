// SPDX-License-Identifier: Apache-2.0
// Messages between ranks, regardless of their content. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace dts::train {

// Between two ranks, messages arrive in the order in which they are sent and match receives in the
// order in which these are posted; both sides must pass the same number of bytes. The caller's
// memory must stay valid until the ticket is done.
class Transport {
 public:
  using Clock = std::chrono::steady_clock;
  using Deadline = Clock::time_point;
  using Ticket = std::uint64_t;

  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  [[nodiscard]] virtual Ticket send(int to, const void* data, std::size_t bytes) = 0;
  [[nodiscard]] virtual Ticket receive(int from, void* data, std::size_t bytes) = 0;

  // Like receive(), but copies nothing if the sender's memory can be read: once the ticket is done,
  // `where` points to that memory, and otherwise to `data`. The sender's ticket may stay open until
  // give_back().
  [[nodiscard]] virtual Ticket borrow(int from, const void*& where, void* data, std::size_t bytes) {
    where = data;
    return receive(from, data, bytes);
  }

  virtual void give_back(Ticket /*borrowed*/) {}

  // Moves what can be moved now. Returns false if nothing was.
  virtual bool progress() = 0;
  [[nodiscard]] virtual bool done(Ticket ticket) const = 0;

  // True if a message was lost or cut off, so that tickets are done which should not be.
  [[nodiscard]] virtual bool broken() const { return false; }

  // Forgets all tickets that are not done. Nothing may be posted afterwards. MPI may still write to
  // the memory of receives; other transports do not.
  virtual void abort() = 0;

  // Calls progress() unless the ticket is done, and returns whether it is done then.
  [[nodiscard]] bool test(Ticket ticket) { return done(ticket) || (progress() && done(ticket)); }

  // Whether the receiver of this sent message currently reads it in place.
  [[nodiscard]] virtual bool on_loan(Ticket /*sent*/) const { return false; }

  // These return false if the deadline passes first. Time in which this process was stopped does
  // not count: the deadline moves by it.
  [[nodiscard]] bool wait(Ticket ticket, Deadline& deadline);
  // Waits until the ticket is done or on loan, after which the sender has nothing left to do.
  [[nodiscard]] bool wait_sent(Ticket ticket, Deadline& deadline);
  // Waits until `ready` returns true. It is called again whenever something has moved.
  [[nodiscard]] bool wait_ready(const std::function<bool()>& ready, Deadline& deadline);

  // How long a wait polls before it sleeps. Useful if every rank of the node has a core.
  void set_spin(Clock::duration spin) { spin_ = spin; }

 protected:
  // Sleeps until there may be something to move, but at most for `limit`.
  virtual void sleep_briefly(Clock::duration limit) = 0;

 private:
  template <class Ready>
  [[nodiscard]] bool wait_for(const Ready& ready, Deadline& deadline);

  Clock::duration spin_{};
};

// Keeps track of which tickets of a transport are done.
class Tickets {
 public:
  // The ticket is done after `parts` calls of finish().
  [[nodiscard]] Transport::Ticket add(int parts) {
    parts_.push_back(parts);
    return first_ + parts_.size() - 1;
  }

  void finish(Transport::Ticket ticket) {
    --parts_[ticket - first_];
    for (; !parts_.empty() && parts_.front() == 0; ++first_) parts_.pop_front();
  }

  [[nodiscard]] bool done(Transport::Ticket ticket) const {
    return ticket < first_ || parts_[ticket - first_] == 0;
  }

  [[nodiscard]] bool all_done() const { return parts_.empty(); }

 private:
  Transport::Ticket first_ = 1;
  std::deque<int> parts_;  // unfinished parts of each ticket, from first_ on
};

}  // namespace dts::train
