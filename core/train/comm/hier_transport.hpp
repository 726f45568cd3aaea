// SPDX-License-Identifier: Apache-2.0
// Messages through shared memory to ranks of the same node, and over MPI to other ranks.
#pragma once

#include "core/train/comm/mpi_transport.hpp"
#include "core/train/comm/shm_transport.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace dts::train {

class HierTransport : public Transport {
 public:
  // `places` has the place of each rank on this node, and -1 for ranks on other nodes.
  HierTransport(std::shared_ptr<ShmTransport> node, std::vector<int> places)
      : node_(std::move(node)), places_(std::move(places)) {}

  [[nodiscard]] Ticket send(int to, const void* data, std::size_t bytes) override {
    const int place = places_[static_cast<std::size_t>(to)];
    return place < 0 ? across_.send(to, data, bytes) * 2 + 1 : node_->send(place, data, bytes) * 2;
  }

  [[nodiscard]] Ticket receive(int from, void* data, std::size_t bytes) override {
    const int place = places_[static_cast<std::size_t>(from)];
    return place < 0 ? across_.receive(from, data, bytes) * 2 + 1
                     : node_->receive(place, data, bytes) * 2;
  }

  [[nodiscard]] Ticket borrow(int from,
                              const void*& where,
                              void* data,
                              std::size_t bytes) override {
    const int place = places_[static_cast<std::size_t>(from)];
    return place < 0 ? across_.borrow(from, where, data, bytes) * 2 + 1
                     : node_->borrow(place, where, data, bytes) * 2;
  }

  void give_back(Ticket ticket) override {
    if (ticket % 2 == 0) node_->give_back(ticket / 2);
  }

  bool progress() override {
    const bool here = node_->progress();
    return across_.progress() || here;
  }

  [[nodiscard]] bool done(Ticket ticket) const override {
    return ticket % 2 == 0 ? node_->done(ticket / 2) : across_.done(ticket / 2);
  }

  [[nodiscard]] bool on_loan(Ticket ticket) const override {
    return ticket % 2 == 0 && node_->on_loan(ticket / 2);
  }

  [[nodiscard]] bool broken() const override { return node_->broken() || across_.broken(); }

  void abort() override {
    node_->abort();
    across_.abort();
  }

 protected:
  // Sleeps briefly while MPI messages are open, because no message of MPI wakes a rank.
  void sleep_briefly(Clock::duration limit) override {
    using std::chrono::milliseconds;
    node_->sleep_briefly(across_.idle() ? limit
                                        : std::min<Clock::duration>(limit, milliseconds(1)));
  }

 private:
  std::shared_ptr<ShmTransport> node_;
  MpiTransport across_;
  std::vector<int> places_;
};

}  // namespace dts::train
