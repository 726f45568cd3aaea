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

// What this rank owns to one rank of each other node, and what it hands on there from others.
Group::Ticket Levels::post_across(const Sliced& one) {
  const auto slice = [&](int owner) { return one.slices[static_cast<std::size_t>(owner)]; };
  std::vector<Group::Outgoing> out;
  std::vector<Group::Incoming> in;
  std::uint64_t total = 0;
  for (const Range each : one.slices) total += each.bytes();
  for (const int peer : elsewhere_) {
    if (hierarchy_.relay(hierarchy_.node_of(peer), rank()) == peer)
      out.push_back({peer, one.array + slice(rank()).begin, slice(rank()).bytes()});
    if (hierarchy_.relay(here_, peer) == rank())
      in.push_back({peer, one.array + slice(peer).begin, slice(peer).bytes()});
  }
  return all_.post_slices(Call::gather_slices, elsewhere_, total, out, in);
}

// Within the node: what its ranks own, or what has come to each of them from elsewhere.
Group::Ticket Levels::post_within(const Sliced& one, bool relayed) {
  std::vector<Group::Outgoing> out;
  std::vector<Group::Incoming> in;
  std::uint64_t total = 0;
  for (int owner = 0; owner < size(); ++owner) {
    if ((hierarchy_.node_of(owner) != here_) != relayed) continue;
    const Range slice = one.slices[static_cast<std::size_t>(owner)];
    const int from = hierarchy_.relay(here_, owner);
    total += slice.bytes();
    if (from != rank()) {
      in.push_back({place(from), one.array + slice.begin, slice.bytes()});
      continue;
    }
    for (const int peer : node_->others())
      out.push_back({peer, one.array + slice.begin, slice.bytes()});
  }
  return node_->post_slices(Call::gather_slices, node_->others(), total, out, in);
}

void Levels::gather(const std::vector<Sliced>& arrays) {
  Group::Ticket last = 0;
  std::vector<Group::Ticket> across;
  for (const Sliced& one : arrays) {
    across.push_back(post_across(one));
    if (node_) last = post_within(one, false);
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    all_.wait(across[i]);
    if (node_) last = post_within(arrays[i], true);
  }
  if (node_) node_->wait(last);
}

}  // namespace dts::train
