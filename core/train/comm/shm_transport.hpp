// SPDX-License-Identifier: Apache-2.0
// Messages between the ranks of a node through rings in shared memory. Each rank has an inbox, a
// memfd with one ring per sender, which all of them map. For a large message in an array that
// others can map (Buffer::shared()), the ring only carries its place. A rank that is killed leaves
// nothing behind.
#pragma once

#include "core/base/result.hpp"
#include "core/train/comm/transport.hpp"
#include "core/train/memory/node_memory.hpp"
#include "core/train/memory/shared_buffers.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace dts::train {

class ShmTransport : public Transport {
 public:
  // Creates the transport of `rank`, one of the `ranks` on this node, which are numbered from 0.
  // Fails with Errc::io.
  [[nodiscard]] static Result<std::unique_ptr<ShmTransport>> create(int rank, int ranks);

  // The name that the other ranks need. Before the first message each rank calls connect() with the
  // names of all, by rank, and no rank may destroy its object until all have connected. Fails with
  // Errc::io or Errc::not_found.
  [[nodiscard]] SharedMemoryName name() const { return own_.name(); }

  [[nodiscard]] Result<void> connect(const std::vector<SharedMemoryName>& names);

  [[nodiscard]] Ticket send(int to, const void* data, std::size_t bytes) override;
  [[nodiscard]] Ticket receive(int from, void* data, std::size_t bytes) override;
  [[nodiscard]] Ticket borrow(int from, const void*& where, void* data, std::size_t bytes) override;
  void give_back(Ticket borrowed) override;
  bool progress() override;

  [[nodiscard]] bool done(Ticket ticket) const override { return tickets_.done(ticket); }

  [[nodiscard]] bool on_loan(Ticket sent) const override;

  // True if another rank's memory could not be read.
  [[nodiscard]] bool broken() const override { return broken_; }

  void abort() override;

 protected:
  friend class HierTransport;
  void sleep_briefly(Clock::duration limit) override;

 private:
  struct Ring;
  struct Bell;

  // Precedes a large message. If `place` has no id, the message follows in the ring; otherwise it
  // can be read at `place`.
  struct Head {
    std::uint64_t magic = 0;
    SharedPlace place;
  };

  template <class Byte>
  struct Message {
    Byte* at;
    std::size_t left;
    Ticket ticket;                 // 0: this is a Head
    const void** where = nullptr;  // set if the message may be borrowed
  };

  struct Loan {
    Ticket ticket;
    bool over;
  };

  struct Peer {
    Ring* out = nullptr;   // in the peer's inbox
    Ring* in = nullptr;    // in this rank's
    Bell* bell = nullptr;  // the peer's
    std::deque<Message<const std::byte>> sends;
    std::deque<Message<std::byte>> receives;
    std::deque<Head> heads;     // among `sends`
    Head head;                  // of the next message
    std::deque<Ticket> lent;    // sent, and being read by the peer in place
    std::uint64_t back = 0;     // loans to the peer that have ended
    std::deque<Loan> borrowed;  // from the peer
    MappedArrays arrays;        // arrays of the peer
  };

  ShmTransport(SharedMemory own, int rank, int ranks);

  template <class Byte, class Copy, class Done>
  std::uint64_t move(std::deque<Message<Byte>>& messages,
                     std::uint64_t begin,
                     std::uint64_t end,
                     const Copy& copy,
                     const Done& done);
  bool push(Peer& peer);
  bool pull(Peer& peer);
  void take(Peer& peer);
  static void end_loans(Peer& peer);
  bool collect(Peer& peer);
  static void ring(Bell& bell);
  [[nodiscard]] static std::size_t inbox_bytes(int ranks);
  [[nodiscard]] Ring* ring_of(std::byte* inbox, int sender) const;

  int rank_;
  std::size_t capacity_;  // bytes of a ring
  SharedMemory own_;
  std::vector<SharedMemory> inboxes_;  // of the other ranks
  std::vector<Peer> peers_;            // by rank, including this one
  Tickets tickets_;
  bool broken_ = false;
};

}  // namespace dts::train
