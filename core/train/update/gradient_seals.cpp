// SPDX-License-Identifier: Apache-2.0
// GradientExchange: makes and compares the checksums of what is sent. The sums of everything but
// gradients travel with them.
#include "core/train/update/gradient_exchange.hpp"

#include <algorithm>
#include <cstring>

namespace dts::train {
namespace {

// The length of the longest list_of(i), where i, below `count`, is a rank, a node or a place.
template <class List>
std::size_t longest(int count, const List& list_of) {
  std::size_t most = 0;
  for (int one = 0; one < count; ++one) most = std::max(most, list_of(one).size());
  return most;
}

std::size_t most_relayed(Levels& levels) {
  if (levels.node() == nullptr) return 0;
  return longest(levels.node()->size(), [&](int place) {
    return levels.hierarchy().relayed_by(levels.neighbours()[static_cast<std::size_t>(place)]);
  });
}

}  // namespace

GradientExchange::GradientExchange(Levels& levels,
                                   const Layout& layout,
                                   const ChunkGrid& grid,
                                   const Ownership& ownership,
                                   Settings settings)
    : levels_(levels),
      comm_(levels.all()),
      layout_(layout),
      grid_(grid),
      ownership_(ownership),
      settings_(settings),
      host_(grid),
      arrays_(settings.arrays != nullptr ? *settings.arrays : host_),
      begins_(ownership.begins_of(comm_.rank())),
      most_partials_(longest(comm_.size(), [this](int rank) { return nodes_of(rank); })),
      most_sums_(
          longest(hierarchy().nodes(),
                  [this](int node) { return hierarchy().sums_of_node(node, settings_.shards); })),
      most_relayed_(most_relayed(levels)),
      across_(comm_.size(),
              most_sums_ * begins_.size(),
              most_partials_ * layout.tail_floats() * sizeof(float)),
      within_(static_cast<int>(levels.neighbours().size()),
              most_relayed_ * most_partials_ * begins_.size(),
              0),
      buckets_(begins_.size()),
      now_(static_cast<std::size_t>(grid.count())) {
  sealed_.assign(nodes_of(comm_.rank()).size(),
                 std::vector<std::uint64_t>(static_cast<std::size_t>(grid_.count())));
  if (comm_.size() > 1) arrays_.grow(gradients_, ownership.floats_of(comm_.rank()));
}

std::vector<Span> GradientExchange::nodes_of(int rank) const {
  return hierarchy().sums_of_rank(rank, settings_.shards);
}

std::uint64_t GradientExchange::bytes_of(int bucket) const {
  return grid_.floats_of(ownership_.bucket(bucket)).bytes();
}

bool GradientExchange::is_injected(Injection::Target what) const {
  const auto& fault = settings_.injection;
  return fault && fault->is_due(what, step_) && fault->rank == comm_.rank();
}

void GradientExchange::seal(int bucket) {
  if (!settings_.sealed) return;
  const Span chunks = ownership_.bucket(bucket);
  const std::size_t first = grid_.floats_of(chunks).begin;
  auto sums = sealed_.begin();
  for (const auto& [node, partial] : mine_)
    arrays_.checksums(partial + first, chunks, (sums++)->data() + chunks.lo);
}

void GradientExchange::inject_gradient(Range floats) {
  if (!is_injected(Injection::Target::gradient)) return;
  const std::size_t element = settings_.injection->element;
  if (floats.has(element)) arrays_.flip(mine_.begin()->second + element);
}

// Where the message from `from` is. For tests, the first message, from the lowest other rank that
// sends any, is returned as if it had arrived changed.
const float* GradientExchange::arrived(const Group::Scattered::Partial& one, int from) {
  const auto* const sums = static_cast<const float*>(one.sums);
  if (has_injected_ || !is_injected(Injection::Target::message)) return sums;
  const auto& near = levels_.neighbours();
  for (int lower = 0; lower < from; ++lower) {
    if (lower == comm_.rank()) continue;
    const bool is_near = std::binary_search(near.begin(), near.end(), lower);
    if (is_near || hierarchy().relay(hierarchy().node_of(lower), comm_.rank()) == lower)
      return sums;
  }
  has_injected_ = true;
  return arrays_.flipped(sums, one.floats, settings_.injection->element % one.floats);
}

// 0 unless sealed.
std::uint64_t GradientExchange::checksum_of(const float* sums, Span chunks) {
  if (!settings_.sealed) return 0;
  arrays_.checksums(sums, chunks, now_.data());
  return seal_of(now_.data(), chunks);
}

std::size_t GradientExchange::within_index(int bucket,
                                           std::size_t owner,
                                           std::size_t partial) const {
  return (static_cast<std::size_t>(bucket) * most_relayed_ + owner) * most_partials_ + partial;
}

void GradientExchange::pack_within() {
  for (const int peer : levels_.neighbours()) {
    const std::vector<int> relayed = hierarchy().relayed_by(peer);
    for (int bucket = 0; bucket < ownership_.buckets(); ++bucket)
      for (std::size_t owner = 0; owner < relayed.size(); ++owner) {
        const Span chunks = ownership_.owned(relayed[owner], bucket);
        for (std::size_t partial = 0; chunks.size() > 0 && partial < sealed_.size(); ++partial)
          within_.sent(levels_.place(peer), within_index(bucket, owner, partial)) =
              seal_of(sealed_[partial].data() + chunks.lo, chunks);
      }
  }
}

void GradientExchange::pack_across() {
  for (int bucket = 0; bucket < ownership_.buckets(); ++bucket) {
    std::size_t which = 0;
    const Passed* last = nullptr;
    for (const Passed& one : at(bucket).passed) {
      which = last != nullptr && last->owner == one.owner ? which + 1 : 0;
      last = &one;
      across_.sent(one.owner, static_cast<std::size_t>(bucket) * most_sums_ + which) =
          seal_of(one.sealed, one.chunks);
    }
  }
  const std::size_t floats = layout_.tail_floats();
  for (int peer = 0; peer < comm_.size(); ++peer) {
    auto* tail = static_cast<float*>(across_.more_to(peer));
    for (const auto& [node, partial] : mine_with_tails_)
      tail = std::copy_n(partial + layout_.parameter_floats, floats, tail);
  }
}

Partials GradientExchange::tails() {
  Partials all;
  for (int peer = 0; peer < comm_.size(); ++peer) {
    auto* tail = static_cast<float*>(across_.more_from(peer));
    for (const Span node : nodes_of(peer)) {
      all[node] = tail;
      tail += layout_.tail_floats();
    }
  }
  return all;
}

// Compares the checksums of what was sent with those of what has arrived.
void GradientExchange::compare() {
  for (int peer = 0; peer < comm_.size(); ++peer)
    if (const auto which = across_.changed(peer))
      damaged_.push_back(
          {peer, ownership_.owned(comm_.rank(), static_cast<int>(*which / most_sums_))});
  if (levels_.node() == nullptr) return;
  for (const int peer : levels_.neighbours())
    if (const auto which = within_.changed(levels_.place(peer))) {
      const std::size_t slice = *which / most_partials_;
      damaged_.push_back({peer,
                          ownership_.owned(levels_.relayed()[slice % most_relayed_],
                                           static_cast<int>(slice / most_relayed_))});
    }
}

bool GradientExchange::is_whole(int chunk) const {
  if (comm_.size() > 1 || !settings_.sealed) return true;
  const Span one{chunk, chunk + 1};
  std::uint64_t now = 0;
  grid_.checksums(mine_.begin()->second + grid_.floats_of(one).begin, one, &now);
  return now == sealed_.front()[static_cast<std::size_t>(chunk)];
}

std::optional<int> GradientExchange::changed_in(const float* sums,
                                                Span chunks,
                                                const std::uint64_t* sealed) const {
  std::vector<std::uint64_t> now(static_cast<std::size_t>(chunks.size()));
  arrays_.checksums(sums, chunks, now.data());
  const auto changed = std::mismatch(now.begin(), now.end(), sealed).first;
  if (changed == now.end()) return std::nullopt;
  return chunks.lo + static_cast<int>(changed - now.begin());
}

std::optional<int> GradientExchange::changed_chunk() const {
  auto sealed = sealed_.begin();
  for (const auto& [node, partial] : mine_)
    if (const auto chunk = changed_in(partial, {0, grid_.count()}, (sealed++)->data()))
      return chunk;
  for (const Bucket& bucket : buckets_)
    for (const Passed& one : bucket.passed)
      if (const auto chunk = changed_in(one.sums, one.chunks, one.sealed)) return chunk;
  return std::nullopt;
}

}  // namespace dts::train
