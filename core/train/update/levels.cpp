// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/levels.hpp"

#include <algorithm>
#include <utility>

namespace dts::train {

Levels::Levels(Group& all, Hierarchy hierarchy)
    : all_(all),
      hierarchy_(std::move(hierarchy)),
      here_(hierarchy_.node_of(all.rank())),
      relayed_(hierarchy_.relayed_by(all.rank())) {
  for (const int peer : all.others())
    if (hierarchy_.node_of(peer) != here_) elsewhere_.push_back(peer);
  if (hierarchy_.is_flat()) return;
  Group node = all.split(here_);
  if (node.size() > 1) node_.emplace(std::move(node));
}

int Levels::place(int rank) const {
  const std::vector<int>& ranks = neighbours();
  return static_cast<int>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

// Sends what this rank owns to one rank of each other node; receives the slices that it passes on
// within its own node.
Levels::Slices Levels::across(const Sliced& one) const {
  const auto slice = [&](int owner) { return one.slices[static_cast<std::size_t>(owner)]; };
  Slices all;
  for (const Range each : one.slices) all.total += each.bytes();
  for (const int peer : elsewhere_) {
    if (hierarchy_.relay(hierarchy_.node_of(peer), rank()) == peer)
      all.out.push_back({peer, one.array + slice(rank()).begin, slice(rank()).bytes()});
    if (hierarchy_.relay(here_, peer) == rank())
      all.in.push_back({peer, one.array + slice(peer).begin, slice(peer).bytes()});
  }
  return all;
}

// Within the node: what its ranks own or, if `relayed`, what each of them got from other nodes.
Levels::Slices Levels::within(const Sliced& one, bool relayed) const {
  Slices all;
  for (int owner = 0; owner < size(); ++owner) {
    if ((hierarchy_.node_of(owner) != here_) != relayed) continue;
    const Range slice = one.slices[static_cast<std::size_t>(owner)];
    const int from = hierarchy_.relay(here_, owner);
    all.total += slice.bytes();
    if (from != rank()) {
      all.in.push_back({place(from), one.array + slice.begin, slice.bytes()});
      continue;
    }
    for (const int peer : node_->others())
      all.out.push_back({peer, one.array + slice.begin, slice.bytes()});
  }
  return all;
}

void Levels::gather(const std::vector<Sliced>& arrays, ArrayExchange* by) {
  const auto post = [&](Group& group, std::vector<int> peers, const Slices& all) {
    return by == nullptr
               ? group.post_slices(
                     Call::gather_slices, std::move(peers), all.total, all.out, all.in)
               : by->post_slices(
                     group, Call::gather_slices, std::move(peers), all.total, all.out, all.in);
  };
  const auto wait = [&](Group& group, Group::Ticket ticket) {
    by == nullptr ? group.wait(ticket) : by->wait(group, ticket);
  };
  Group::Ticket last = 0;
  std::vector<Group::Ticket> posted;
  for (const Sliced& one : arrays) {
    posted.push_back(post(all_, elsewhere_, across(one)));
    if (node_) last = post(*node_, node_->others(), within(one, false));
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    wait(all_, posted[i]);
    if (node_) last = post(*node_, node_->others(), within(arrays[i], true));
  }
  if (node_) wait(*node_, last);
}

}  // namespace dts::train
