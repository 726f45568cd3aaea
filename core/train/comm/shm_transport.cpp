// SPDX-License-Identifier: Apache-2.0
#include "core/train/comm/shm_transport.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <ctime>
#include <utility>

namespace dts::train {
namespace {

constexpr std::size_t k_line = 64;  // bytes of a cache line
constexpr std::size_t k_page = 4096;
constexpr std::size_t k_ring_piece = 32 << 10;  // bytes after which the other side may proceed
constexpr std::size_t k_large = 8 << 10;        // bytes from which a message has a head
constexpr std::uint64_t k_magic = 0x6474747261696e31;

// Large enough for most messages: where other processes compete for the cores, a sender that waits
// for room has to wait for the receiver's turn on a core, again and again.
std::size_t capacity_for(int ranks) {
  constexpr std::size_t k_all = 16 << 20;
  const std::size_t share = k_all / static_cast<std::size_t>(ranks);
  return std::bit_floor(std::clamp<std::size_t>(share, 64 << 10, 4 << 20));
}

int futex(std::atomic<std::uint32_t>& word,
          int operation,
          std::uint32_t value,
          const timespec* limit) {
  return static_cast<int>(::syscall(
      SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr, 0));
}

}  // namespace

// A ring with one writer and one reader. Positions count bytes and never wrap.
struct ShmTransport::Ring {
  alignas(k_line) std::atomic<std::uint64_t> written;
  alignas(k_line) std::atomic<std::uint64_t> read;
  std::atomic<std::uint64_t> returned;  // number of the writer's loans that have ended
  alignas(k_line) std::byte data[1];    // [capacity_]
};

// 1 while its owner sleeps or is about to.
struct ShmTransport::Bell {
  std::atomic<std::uint32_t> sleeps;
};

ShmTransport::ShmTransport(SharedMemory own, int rank, int ranks)
    : rank_(rank),
      capacity_(capacity_for(ranks)),
      own_(std::move(own)),
      peers_(static_cast<std::size_t>(ranks)) {}

std::size_t ShmTransport::inbox_bytes(int ranks) {
  return k_page + static_cast<std::size_t>(ranks) * (offsetof(Ring, data) + capacity_for(ranks));
}

ShmTransport::Ring* ShmTransport::ring_of(std::byte* inbox, int sender) const {
  return reinterpret_cast<Ring*>(
      inbox + k_page + static_cast<std::size_t>(sender) * (offsetof(Ring, data) + capacity_));
}

Result<std::unique_ptr<ShmTransport>> ShmTransport::create(int rank, int ranks) {
  DTS_ASSIGN(auto memory, SharedMemory::create(inbox_bytes(ranks)));
  return std::unique_ptr<ShmTransport>(new ShmTransport(std::move(memory), rank, ranks));
}

Result<void> ShmTransport::connect(const std::vector<SharedMemoryName>& names) {
  const std::size_t bytes = inbox_bytes(static_cast<int>(peers_.size()));
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    std::byte* inbox = own_.data();
    if (static_cast<int>(peer) != rank_) {
      DTS_ASSIGN(auto memory, SharedMemory::open(names[peer], bytes, SharedMemory::Access::write));
      inbox = inboxes_.emplace_back(std::move(memory)).data();
    }
    peers_[peer].out = ring_of(inbox, rank_);
    peers_[peer].in = ring_of(own_.data(), static_cast<int>(peer));
    peers_[peer].bell = reinterpret_cast<Bell*>(inbox);
  }
  return {};
}

Transport::Ticket ShmTransport::send(int to, const void* data, std::size_t bytes) {
  Peer& peer = peers_[static_cast<std::size_t>(to)];
  const bool idle = peer.sends.empty();
  const Ticket ticket = tickets_.add(1);
  const auto place = bytes < k_large ? std::nullopt : shared_place(data, bytes);
  if (bytes >= k_large) {
    const Head& head = peer.heads.emplace_back(Head{k_magic, place.value_or(SharedPlace{})});
    peer.sends.push_back({reinterpret_cast<const std::byte*>(&head), sizeof head, 0});
  }
  if (place)
    peer.lent.push_back(ticket);
  else
    peer.sends.push_back({static_cast<const std::byte*>(data), bytes, ticket});
  if (idle) push(peer);
  return ticket;
}

Transport::Ticket ShmTransport::receive(int from, void* data, std::size_t bytes) {
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  if (bytes >= k_large)
    peer.receives.push_back({reinterpret_cast<std::byte*>(&peer.head), sizeof peer.head, 0});
  peer.receives.push_back({static_cast<std::byte*>(data), bytes, tickets_.add(1)});
  return peer.receives.back().ticket;
}

Transport::Ticket ShmTransport::borrow(int from,
                                       const void*& where,
                                       void* data,
                                       std::size_t bytes) {
  where = data;
  const Ticket ticket = receive(from, data, bytes);
  peers_[static_cast<std::size_t>(from)].receives.back().where = &where;
  return ticket;
}

void ShmTransport::give_back(Ticket borrowed) {
  for (Peer& peer : peers_)
    for (Loan& loan : peer.borrowed)
      if (loan.ticket == borrowed) {
        loan.over = true;
        return end_loans(peer);
      }
}

// Ends loans in the order in which they began, because the lender only gets their count.
void ShmTransport::end_loans(Peer& peer) {
  std::uint64_t ended = 0;
  for (; !peer.borrowed.empty() && peer.borrowed.front().over; ++ended) peer.borrowed.pop_front();
  if (ended == 0) return;
  peer.in->returned.fetch_add(ended, std::memory_order_release);
  ring(*peer.bell);
}

// Finishes the tickets of loans that the peer has returned. True if there were any.
bool ShmTransport::collect(Peer& peer) {
  const std::uint64_t back = peer.out->returned.load(std::memory_order_acquire);
  const bool some = peer.back < back;
  for (; peer.back < back && !peer.lent.empty(); ++peer.back, peer.lent.pop_front())
    tickets_.finish(peer.lent.front());
  return some;
}

bool ShmTransport::on_loan(Ticket sent) const {
  return std::any_of(peers_.begin(), peers_.end(), [sent](const Peer& peer) {
    return peer.sends.empty() &&
           std::find(peer.lent.begin(), peer.lent.end(), sent) != peer.lent.end();
  });
}

// Handles the head of the next message, which has arrived.
void ShmTransport::take(Peer& peer) {
  const Head head = peer.head;
  broken_ = broken_ || head.magic != k_magic;  // a wrong magic: the ranks' calls do not match
  if (!broken_ && head.place.id == 0) return;
  const Message<std::byte> message = peer.receives.front();
  peer.receives.pop_front();
  tickets_.finish(message.ticket);
  if (broken_) return;
  peer.borrowed.push_back({message.ticket, message.where == nullptr});
  const auto there = peer.arrays.at(head.place);
  broken_ = !there;
  if (there && message.where != nullptr) *message.where = *there;
  if (there && message.where == nullptr) std::memcpy(message.at, *there, message.left);
  end_loans(peer);
}

// Moves data from position `begin` of a ring up to `end`, at most one piece. `copy` gets the memory
// of a message, the place in the ring and a length. Returns the position after the moved data.
template <class Byte, class Copy, class Done>
std::uint64_t ShmTransport::move(std::deque<Message<Byte>>& messages,
                                 std::uint64_t begin,
                                 std::uint64_t end,
                                 const Copy& copy,
                                 const Done& done) {
  std::uint64_t at = begin;
  while (!messages.empty() && at - begin < k_ring_piece) {
    auto& [memory, left, ticket, where] = messages.front();
    const std::size_t offset = at & (capacity_ - 1);
    const std::size_t bytes =
        std::min({left, k_ring_piece, static_cast<std::size_t>(end - at), capacity_ - offset});
    if (bytes == 0 && left > 0) break;
    if (bytes > 0) copy(memory, offset, bytes);
    at += bytes;
    memory += bytes;
    left -= bytes;
    if (left > 0) continue;
    const Ticket finished = ticket;
    messages.pop_front();
    if (finished == 0)
      done();
    else
      tickets_.finish(finished);
  }
  return at;
}

// Returns true if anything moved, like pull().
bool ShmTransport::push(Peer& peer) {
  Ring& to = *peer.out;
  const std::uint64_t begin = to.written.load(std::memory_order_relaxed);
  const std::uint64_t end = to.read.load(std::memory_order_acquire) + capacity_;
  const std::uint64_t at = move(
      peer.sends,
      begin,
      end,
      [&](const std::byte* from, auto offset, auto bytes) {
        std::memcpy(to.data + offset, from, bytes);
      },
      [&] { peer.heads.pop_front(); });
  if (at == begin) return false;
  to.written.store(at, std::memory_order_release);
  ring(*peer.bell);
  return true;
}

bool ShmTransport::pull(Peer& peer) {
  Ring& from = *peer.in;
  const std::uint64_t begin = from.read.load(std::memory_order_relaxed);
  const std::uint64_t end = from.written.load(std::memory_order_acquire);
  const std::uint64_t at = move(
      peer.receives,
      begin,
      end,
      [&](std::byte* to, auto offset, auto bytes) { std::memcpy(to, from.data + offset, bytes); },
      [&] { take(peer); });
  if (at == begin) return false;
  from.read.store(at, std::memory_order_release);
  ring(*peer.bell);  // the peer may be waiting for room
  return true;
}

// The seq_cst fences on both sides order each side's write before its look at the other: either the
// owner sees what has arrived, or this side sees that the owner sleeps.
void ShmTransport::ring(Bell& bell) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (bell.sleeps.load(std::memory_order_relaxed) == 0) return;
  if (bell.sleeps.exchange(0) != 0) futex(bell.sleeps, FUTEX_WAKE, 1, nullptr);
}

bool ShmTransport::progress() {
  bool moved = false;
  const std::size_t ranks = peers_.size();
  for (std::size_t step = 0; step < ranks; ++step) {  // ranks begin with different peers
    Peer& peer = peers_[(static_cast<std::size_t>(rank_) + step) % ranks];
    if (!peer.sends.empty()) moved = push(peer) || moved;
    if (!peer.receives.empty()) moved = pull(peer) || moved;
    if (!peer.lent.empty()) moved = collect(peer) || moved;
  }
  return moved;
}

void ShmTransport::sleep_briefly(Clock::duration limit) {
  using namespace std::chrono;
  std::atomic<std::uint32_t>& sleeps = reinterpret_cast<Bell*>(own_.data())->sleeps;
  sleeps.store(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!progress()) {
    const timespec time{0, static_cast<long>(duration_cast<nanoseconds>(limit).count())};
    futex(sleeps, FUTEX_WAIT, 1, &time);
  }
  sleeps.store(0);
}

void ShmTransport::abort() {
  for (Peer& peer : peers_) {
    peer.sends.clear();
    peer.receives.clear();
    peer.lent.clear();
    for (Loan& loan : peer.borrowed) loan.over = true;
    end_loans(peer);
  }
  tickets_ = {};
}

}  // namespace dts::train
