// SPDX-License-Identifier: Apache-2.0
// The operations of a group, each made of messages between two ranks.
#include "core/train/comm/group.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>

namespace dts::train {
namespace {

std::size_t bytes_of(const std::vector<Range>& slices) {
  return std::accumulate(slices.begin(), slices.end(), std::size_t{0}, [](auto sum, Range one) {
    return sum + one.bytes();
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

// Along a binomial tree, in pieces, so that a rank passes on one piece while it receives the next.
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
  Transport::Deadline deadline = Transport::Clock::now() + limit();
  meet(call, deadline);
  for (std::size_t piece = 0; piece * k_piece < bytes; ++piece) {
    const std::size_t done = piece * k_piece;
    if (rank_ != 0 && !arrives(call.content[first + piece], deadline)) lose(call);
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

Group Group::with(int peer) const {
  return {transport_,
          {member(std::min(rank_, peer)), member(std::max(rank_, peer))},
          rank_ < peer ? 0 : 1,
          settings_};
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

Group::Ticket Group::post_slices(Call call,
                                 std::vector<int> peers,
                                 std::uint64_t total,
                                 const std::vector<Outgoing>& out,
                                 const std::vector<Incoming>& in) {
  Posted& posted = begin(call, total, std::move(peers));
  for (const Incoming& one : in) receive(posted, one.from, one.data, one.bytes);
  for (const Outgoing& one : out) send(posted, one.to, one.data, one.bytes);
  return posted.ticket;
}

Group::Ticket Group::post_partials(std::vector<int> peers,
                                   std::uint64_t total,
                                   const std::vector<Outgoing>& out,
                                   Scattered& to) {
  Posted& call = begin(Call::scatter_partials, total, std::move(peers));
  std::size_t floats = 0;
  for (const Scattered::Partial& one : to.theirs) floats += one.floats;
  to.room.grow(floats);
  float* at = to.room.data();
  for (Scattered::Partial& one : to.theirs) {
    one.sums = at;
    one.loan = 0;
    if (one.floats == 0) continue;
    one.loan = transport_->borrow(member(one.from), one.sums, at, one.floats * sizeof(float));
    call.content.push_back({one.from, one.loan});
    at += one.floats;
  }
  for (const Outgoing& one : out) send(call, one.to, one.data, one.bytes, true);
  return to.ticket = call.ticket;
}

Group::Ticket Group::post_scatter(int shards,
                                  const std::vector<Range>& slices,
                                  const Partials& mine,
                                  Scattered& to) {
  const std::size_t own = slices[index(rank_)].size();
  std::vector<Outgoing> out;
  to.theirs.clear();
  for (const int peer : others()) {
    for (const Span node : maximal_nodes(shards, part_of({0, shards}, size(), peer)))
      to.theirs.push_back({peer, rank_, node, own});
    const Range slice = slices[index(peer)];
    for (const auto& [node, sums] : mine) out.push_back({peer, sums + slice.begin, slice.bytes()});
  }
  return post_partials(others(), bytes_of(slices) * index(shards), out, to);
}

ConstPartials Group::partials(const Scattered& of, Range own, const Partials& mine) {
  ConstPartials all;
  for (const Scattered::Partial& one : of.theirs)
    all[one.node] = static_cast<const float*>(one.sums);
  for (const auto& [node, sums] : mine) all[node] = sums + own.begin;
  return all;
}

void Group::give_back(const Scattered& read) {
  for (const Scattered::Partial& one : read.theirs)
    if (one.loan != 0) transport_->give_back(one.loan);
}

Group::Ticket Group::post_gather_slices(float* array, const std::vector<Range>& slices) {
  const Range own = slices[index(rank_)];
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (const int peer : others()) {
    const Range slice = slices[index(peer)];
    in.push_back({peer, array + slice.begin, slice.bytes()});
    out.push_back({peer, array + own.begin, own.bytes()});
  }
  return post_slices(Call::gather_slices, others(), bytes_of(slices), out, in);
}

}  // namespace dts::train
