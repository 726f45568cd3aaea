// SPDX-License-Identifier: Apache-2.0
// The messages of a single rank to itself.
#pragma once

#include "core/train/comm/transport.hpp"

#include <cstring>
#include <deque>
#include <thread>
#include <utility>

namespace dts::train {

class SelfTransport : public Transport {
 public:
  [[nodiscard]] Ticket send(int /*to*/, const void* data, std::size_t bytes) override {
    sent_.push_back({data, bytes, tickets_.add(1)});
    return sent_.back().ticket;
  }

  [[nodiscard]] Ticket receive(int /*from*/, void* data, std::size_t /*bytes*/) override {
    received_.emplace_back(data, tickets_.add(1));
    return received_.back().second;
  }

  bool progress() override {
    bool moved = false;
    for (; !sent_.empty() && !received_.empty(); sent_.pop_front(), received_.pop_front()) {
      if (sent_.front().bytes > 0)
        std::memcpy(received_.front().first, sent_.front().data, sent_.front().bytes);
      tickets_.finish(sent_.front().ticket);
      tickets_.finish(received_.front().second);
      moved = true;
    }
    return moved;
  }

  [[nodiscard]] bool done(Ticket ticket) const override { return tickets_.done(ticket); }

  void abort() override {
    sent_.clear();
    received_.clear();
    tickets_ = {};
  }

 protected:
  void sleep_briefly(Clock::duration limit) override { std::this_thread::sleep_for(limit); }

 private:
  struct Sent {
    const void* data;
    std::size_t bytes;
    Ticket ticket;
  };

  std::deque<Sent> sent_;
  std::deque<std::pair<void*, Ticket>> received_;
  Tickets tickets_;
};

}  // namespace dts::train
