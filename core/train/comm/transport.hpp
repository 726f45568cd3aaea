// SPDX-License-Identifier: Apache-2.0
// Messages between ranks, without a word of what they are for. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace dts::train {

// Between two ranks, messages arrive in the order in which they are sent, and are received in the
// order in which receives are posted; both sides name the same number of bytes. The caller's memory
// must stay until the ticket is done.
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

  // Like receive(), but where the sender's memory can be read, nothing is copied: once the ticket
  // is done, `where` is that memory or, otherwise, `data`. The sender's ticket may have to wait for
  // give_back().
  [[nodiscard]] virtual Ticket borrow(int from, const void*& where, void* data, std::size_t bytes) {
    where = data;
    return receive(from, data, bytes);
  }

  virtual void give_back(Ticket /*borrowed*/) {}

  // Moves what can be moved now; false: nothing.
  virtual bool progress() = 0;
  [[nodiscard]] virtual bool done(Ticket ticket) const = 0;

  // A message was lost or cut off: tickets are done that should not be.
  [[nodiscard]] virtual bool broken() const { return false; }

  // Forgets what is not done. Nothing may be posted afterwards; MPI may still write to the memory
  // of receives, other transports do not.
  virtual void abort() = 0;

  // Moves what can be moved, and says whether this one is done.
  [[nodiscard]] bool test(Ticket ticket) { return done(ticket) || (progress() && done(ticket)); }

  // Of a message that was sent: a receiver reads it where it is.
  [[nodiscard]] virtual bool on_loan(Ticket /*sent*/) const { return false; }

  // False: not before the deadline. Time in which this process itself was stopped does not count:
  // the deadline moves by it.
  [[nodiscard]] bool wait(Ticket ticket, Deadline& deadline);
  // Until it is done or on loan: nothing is left to do for this rank.
  [[nodiscard]] bool wait_sent(Ticket ticket, Deadline& deadline);
  // Until `ready` says so, which is asked whenever something has moved.
  [[nodiscard]] bool wait_ready(const std::function<bool()>& ready, Deadline& deadline);

  // How long a wait keeps the core before it sleeps: worth it if every rank of the node has a core.
  void set_spin(Clock::duration spin) { spin_ = spin; }

 protected:
  // Sleeps until there may be something to move, for `limit` at most.
  virtual void nap(Clock::duration limit) = 0;

 private:
  template <class Ready>
  [[nodiscard]] bool wait_for(const Ready& ready, Deadline& deadline);

  Clock::duration spin_{};
};

// Which of a transport's tickets are done.
class Tickets {
 public:
  // Done after that many finish().
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
  std::deque<int> parts_;  // of the tickets from first_ on, that are not done
};

}  // namespace dts::train
