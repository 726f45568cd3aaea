// SPDX-License-Identifier: Apache-2.0
// Messages over MPI between the ranks of MPI_COMM_WORLD. MPI must stay initialised during its
// lifetime.
#pragma once

#include "core/train/comm/transport.hpp"

#include <memory>

namespace dts::train {

class MpiTransport : public Transport {
 public:
  MpiTransport();
  ~MpiTransport() override;

  [[nodiscard]] Ticket send(int to, const void* data, std::size_t bytes) override;
  [[nodiscard]] Ticket receive(int from, void* data, std::size_t bytes) override;
  bool progress() override;

  [[nodiscard]] bool done(Ticket ticket) const override { return tickets_.done(ticket); }

  [[nodiscard]] bool broken() const override { return broken_; }

  void abort() override;

  [[nodiscard]] bool idle() const { return tickets_.all_done(); }

 protected:
  void sleep_briefly(Clock::duration limit) override;

 private:
  struct Requests;  // keeps mpi.h out of this header

  template <class Post>
  Ticket post(std::size_t bytes, const Post& one);

  std::unique_ptr<Requests> requests_;
  Tickets tickets_;
  bool broken_ = false;
};

}  // namespace dts::train
