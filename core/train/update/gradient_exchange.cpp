// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/gradient_exchange.hpp"

#include "core/base/hash.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace dts::train {

GradientExchange::GradientExchange(Comm& comm,
                                   const Layout& layout,
                                   const ChunkGrid& grid,
                                   Settings settings)
    : comm_(comm),
      layout_(layout),
      grid_(grid),
      settings_(settings),
      slices_(grid.slices(settings.owners)),
      own_(grid.owned(settings.owners, comm.rank())) {
  for (int rank = 0; rank < comm.size(); ++rank)
    most_partials_ = std::max(most_partials_, nodes_of(rank).size());
  note_bytes_ = most_partials_ * (sizeof(std::uint64_t) + layout_.tail_floats() * sizeof(float));
  notes_out_.resize(note_bytes_ * static_cast<std::size_t>(comm.size()));
  notes_in_.resize(notes_out_.size());
  if (comm.size() > 1)
    gradients_ = Buffer(static_cast<std::size_t>(grid.floats_of(own_).size()) + 1);
}

std::vector<Span> GradientExchange::nodes_of(int rank) const {
  return maximal_nodes(settings_.shards, part_of({0, settings_.shards}, comm_.size(), rank));
}

bool GradientExchange::is_injected(Injection::What what, std::uint64_t step) const {
  const auto& fault = settings_.injection;
  return fault && fault->is_now(what, step) && fault->rank == comm_.rank();
}

void GradientExchange::seal(const Partials& mine) {
  sealed_.assign(mine.size(), std::vector<std::uint64_t>(static_cast<std::size_t>(grid_.count())));
  if (!settings_.sealed) return;
  auto sums = sealed_.begin();
  for (const auto& [node, partial] : mine)
    grid_.checksums(partial, {0, grid_.count()}, (sums++)->data());
}

// The checksum of what `peer` gets of a partial.
std::uint64_t GradientExchange::sealed_slice(int peer, std::size_t partial) const {
  const Span chunks = grid_.owned(settings_.owners, peer);
  return hash64(sealed_[partial].data() + chunks.lo,
                static_cast<std::size_t>(chunks.size()) * sizeof(std::uint64_t));
}

void GradientExchange::pack(const Partials& mine) {
  const std::size_t tail_bytes = layout_.tail_floats() * sizeof(float);
  for (int peer = 0; peer < comm_.size(); ++peer) {
    std::byte* const note = notes_out_.data() + note_bytes_ * static_cast<std::size_t>(peer);
    std::byte* tail = note + most_partials_ * sizeof(std::uint64_t);
    std::size_t i = 0;
    for (const auto& [node, partial] : mine) {
      const std::uint64_t sealed = sealed_slice(peer, i);
      std::memcpy(note + i++ * sizeof sealed, &sealed, sizeof sealed);
      std::memcpy(tail, partial + layout_.parameter_floats, tail_bytes);
      tail += tail_bytes;
    }
  }
}

void GradientExchange::check(const ConstPartials& all) {
  std::vector<std::uint64_t> now(static_cast<std::size_t>(own_.size()));
  for (int peer = 0; peer < comm_.size(); ++peer) {
    const std::byte* note = notes_in_.data() + note_bytes_ * static_cast<std::size_t>(peer);
    for (const Span node : nodes_of(peer)) {
      grid_.checksums(all.at(node), own_, now.data());
      std::uint64_t sent = 0;
      std::memcpy(&sent, note, sizeof sent);
      note += sizeof sent;
      if (hash64(now.data(), now.size() * sizeof(std::uint64_t)) == sent) continue;
      if (damaged_.empty() || damaged_.back() != peer) damaged_.push_back(peer);
    }
  }
}

Partials GradientExchange::tails() {
  Partials all;
  for (int peer = 0; peer < comm_.size(); ++peer) {
    std::byte* const note = notes_in_.data() + note_bytes_ * static_cast<std::size_t>(peer);
    auto* tail = reinterpret_cast<float*>(note + most_partials_ * sizeof(std::uint64_t));
    for (const Span node : nodes_of(peer)) {
      all[node] = tail;
      tail += layout_.tail_floats();
    }
  }
  return all;
}

// As if the first partial of another rank had arrived changed.
void GradientExchange::inject_message(ConstPartials& all) {
  const auto width = static_cast<std::size_t>(grid_.floats_of(own_).size());
  if (width == 0) return;
  const float*& sums = all.at(nodes_of(comm_.rank() == 0 ? 1 : 0).front());
  changed_.assign(sums, sums + width);
  flip_bit(changed_[settings_.injection->element % width]);
  sums = changed_.data();
}

GradientExchange::Sums GradientExchange::sum(const Partials& mine, std::uint64_t step) {
  const Span shards{0, settings_.shards};
  damaged_.clear();
  mine_ = mine;
  seal(mine);
  pack(mine);
  if (is_injected(Injection::What::gradient, step))
    flip_bit(mine.begin()->second[settings_.injection->element]);
  if (comm_.size() == 1) {
    const float* const sums = mine.at(shards);
    return {sums, sums + layout_.parameter_floats};
  }
  comm_.post_exchange(notes_out_.data(), notes_in_.data(), note_bytes_);
  comm_.scatter_partials(settings_.shards, slices_, mine, [&](const ConstPartials& arrived) {
    ConstPartials all = arrived;
    if (is_injected(Injection::What::message, step)) inject_message(all);
    if (settings_.sealed) check(all);
    combine_to(
        gradients_.data(), shards, all, static_cast<std::size_t>(grid_.floats_of(own_).size()));
  });
  return {gradients_.data(), combine(shards, tails(), 0, layout_.tail_floats())};
}

bool GradientExchange::is_whole(int chunk) const {
  if (comm_.size() > 1 || !settings_.sealed) return true;
  const Span one{chunk, chunk + 1};
  std::uint64_t now = 0;
  grid_.checksums(mine_.begin()->second + grid_.floats_of(one).lo, one, &now);
  return now == sealed_.front()[static_cast<std::size_t>(chunk)];
}

std::optional<int> GradientExchange::changed_chunk() const {
  std::vector<std::uint64_t> now(static_cast<std::size_t>(grid_.count()));
  auto sealed = sealed_.begin();
  for (const auto& [node, partial] : mine_) {
    grid_.checksums(partial, {0, grid_.count()}, now.data());
    const auto [changed, was] = std::mismatch(now.begin(), now.end(), (sealed++)->begin());
    if (changed != now.end()) return static_cast<int>(changed - now.begin());
  }
  return std::nullopt;
}

}  // namespace dts::train
