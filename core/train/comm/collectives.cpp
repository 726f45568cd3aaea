// SPDX-License-Identifier: Apache-2.0
// A group's operations, of messages between two ranks each.
#include "core/train/comm/group.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>

namespace dts::train {
namespace {

std::size_t bytes_of(Span elements) {
  return static_cast<std::size_t>(elements.size()) * sizeof(float);
}

std::size_t bytes_of(const std::vector<Span>& slices) {
  return std::accumulate(slices.begin(), slices.end(), std::size_t{0}, [](auto sum, Span one) {
    return sum + bytes_of(one);
  });
}

std::size_t index(int value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

Verdict Group::agree(int code) {
  constexpr int k_codes = 256;
  const int lowest = least(code == 0 ? INT_MAX : rank_ * k_codes + code);
  if (lowest == INT_MAX) return {};
  return {lowest % k_codes, lowest / k_codes};
}

int Group::least(int value) {
  const std::vector<int> all = gather(value);
  return *std::min_element(all.begin(), all.end());
}

std::int64_t Group::sum(std::int64_t value) {
  const std::vector<std::int64_t> all = gather(value);
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

void Group::barrier() {
  wait(begin(Call::barrier, 0).ticket);
}

// Along a binomial tree, in pieces that follow each other.
void Group::broadcast(void* data, std::size_t bytes) {
  constexpr std::size_t k_piece = 1 << 20;
  Posted& call = begin(Call::broadcast, bytes);
  const int parent = rank_ & (rank_ - 1);  // without its lowest bit
  const int reach = rank_ == 0 ? size() : rank_ - parent;
  auto* const at = static_cast<std::byte*>(data);
  if (rank_ != 0)
    for (std::size_t done = 0; done < bytes; done += k_piece)
      receive(call, parent, at + done, std::min(k_piece, bytes - done));
  const std::size_t first =
      call.content.size() - (rank_ == 0 ? 0 : (bytes + k_piece - 1) / k_piece);
  Transport::Deadline deadline = Transport::Clock::now() + settings_.timeout;
  meet(call, deadline);
  for (std::size_t piece = 0; piece * k_piece < bytes; ++piece) {
    const std::size_t done = piece * k_piece;
    if (rank_ != 0 && !arrives(call.content[first + piece].ticket, deadline)) lose(call);
    for (int step = 1; step < reach && rank_ + step < size(); step *= 2)
      send(call, rank_ + step, at + done, std::min(k_piece, bytes - done));
  }
  wait(call.ticket);
}

Group Group::split(int color) {
  const std::vector<int> colors = gather(color);
  std::vector<int> members;
  int place = 0;
  for (int rank = 0; rank < size(); ++rank) {
    if (colors[index(rank)] != color) continue;
    if (rank == rank_) place = static_cast<int>(members.size());
    members.push_back(member(rank));
  }
  return {transport_, std::move(members), place, settings_};
}

Group::Ticket Group::post_exchange(const void* out, void* in, std::size_t bytes) {
  Posted& call = begin(Call::exchange, bytes);
  const auto* const from = static_cast<const std::byte*>(out);
  auto* const to = static_cast<std::byte*>(in);
  for (const int peer : call.peers) {
    receive(call, peer, to + index(peer) * bytes, bytes);
    send(call, peer, from + index(peer) * bytes, bytes);
  }
  if (bytes > 0) std::memcpy(to + index(rank_) * bytes, from + index(rank_) * bytes, bytes);
  return call.ticket;
}

Group::Ticket Group::post_gather(const void* mine, void* all, std::size_t bytes) {
  Posted& call = begin(Call::gather, bytes);
  auto* const to = static_cast<std::byte*>(all);
  for (const int peer : call.peers) {
    receive(call, peer, to + index(peer) * bytes, bytes);
    send(call, peer, mine, bytes);
  }
  if (bytes > 0) std::memmove(to + index(rank_) * bytes, mine, bytes);
  return call.ticket;
}

void Group::scatter_partials(int shards,
                             const std::vector<Span>& slices,
                             const Partials& mine,
                             const std::function<void(const ConstPartials&)>& use) {
  const Span own = slices[index(rank_)];
  const auto width = index(own.size());
  Posted& call = begin(Call::scatter_partials, bytes_of(slices) * index(shards));

  struct Partial {
    int peer;
    Span node;
    const void* sums = nullptr;
  };

  std::vector<Partial> theirs;
  for (const int peer : call.peers)
    for (const Span node : maximal_nodes(shards, part_of({0, shards}, size(), peer)))
      theirs.push_back({peer, node});
  if (received_.size() <= theirs.size() * width) received_ = Buffer(theirs.size() * width + 1);
  float* at = received_.data();
  for (Partial& one : theirs) {
    one.sums = at;
    if (width > 0)
      call.content.push_back(
          {one.peer, transport_->borrow(member(one.peer), one.sums, at, bytes_of(own))});
    at += width;
  }
  const std::size_t received = call.content.size();
  for (const int peer : call.peers) {
    const Span slice = slices[index(peer)];
    for (const auto& [node, sums] : mine) send(call, peer, sums + slice.lo, bytes_of(slice));
  }
  wait(call.ticket - 1);  // what was posted before
  const Transport::Deadline begin = Transport::Clock::now();
  Transport::Deadline deadline = begin + settings_.timeout;
  meet(call, deadline);
  for (std::size_t i = 0; i < call.content.size(); ++i)
    if (!arrives(call.content[i].ticket,
                 deadline,
                 i < received ? &Transport::wait : &Transport::wait_sent))
      lose(call);
  check_whole(call);
  tell_wait(call, begin);
  ConstPartials all;
  for (const Partial& one : theirs) all[one.node] = static_cast<const float*>(one.sums);
  for (const auto& [node, sums] : mine) all[node] = sums + own.lo;
  use(all);
  for (std::size_t i = 0; i < received; ++i) transport_->give_back(call.content[i].ticket);
}

void Group::gather_slices(float* array, const std::vector<Span>& slices) {
  Posted& call = begin(Call::gather_slices, bytes_of(slices));
  const Span own = slices[index(rank_)];
  for (const int peer : call.peers) {
    const Span slice = slices[index(peer)];
    receive(call, peer, array + slice.lo, bytes_of(slice));
    send(call, peer, array + own.lo, bytes_of(own));
  }
  wait(call.ticket);
}

void Group::hand_out_slices(const float* whole, float* own, const std::vector<Span>& slices) {
  Posted& call = begin(Call::hand_out_slices, bytes_of(slices));
  const Span mine = slices[index(rank_)];
  if (rank_ != 0) {
    receive(call, 0, own, bytes_of(mine));
  } else {
    std::copy_n(whole + mine.lo, mine.size(), own);
    for (const int peer : call.peers) {
      const Span slice = slices[index(peer)];
      send(call, peer, whole + slice.lo, bytes_of(slice));
    }
  }
  wait(call.ticket);
}

}  // namespace dts::train
