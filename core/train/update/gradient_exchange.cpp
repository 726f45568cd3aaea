// SPDX-License-Identifier: Apache-2.0
// GradientExchange: sends each bucket to the owners of its slices.
#include "core/train/update/gradient_exchange.hpp"

#include <algorithm>
#include <utility>

namespace dts::train {

void GradientExchange::begin(const Partials& mine, std::uint64_t step) {
  if (posted_ == 0) has_injected_ = false;
  mine_ = arrays_.gradients(mine);
  mine_with_tails_ = mine;
  step_ = step;
}

void GradientExchange::send_bucket(const Partials& mine, std::uint64_t step) {
  begin(mine, step);
  seal(next(posted_));
  post_next();
}

void GradientExchange::post_next() {
  const int bucket = next(posted_++);
  inject_gradient(grid_.floats_of(ownership_.bucket(bucket)));
  if (levels_.node() == nullptr)
    relay_sums();
  else
    post_within(bucket);
}

// Sends the slices of a bucket to the relay of each owner on this node.
void GradientExchange::post_within(int bucket) {
  const std::vector<Range> slices = ownership_.slices(bucket);
  const int here = hierarchy().node_of(comm_.rank());
  std::vector<Group::Outgoing> out;
  auto& in = at(bucket).within.theirs;
  in.clear();
  for (int owner = 0; owner < comm_.size(); ++owner) {
    const Range slice = slices[static_cast<std::size_t>(owner)];
    const int relay = hierarchy().relay(here, owner);
    if (slice.size() == 0) continue;
    if (relay != comm_.rank()) {
      for (const auto& [node, sums] : mine_)
        out.push_back({levels_.place(relay), sums + slice.begin, slice.bytes()});
      continue;
    }
    for (const int peer : levels_.neighbours())
      for (const Span node : nodes_of(peer))
        if (peer != comm_.rank()) in.push_back({levels_.place(peer), owner, node, slice.size()});
  }
  Group& node = *levels_.node();
  (void)arrays_.post_partials(node, node.others(), bytes_of(bucket), out, at(bucket).within);
}

// The partials of the node's ranks for the `place`-th owner that this rank relays to; `next` points
// to the arrivals.
ConstPartials GradientExchange::collect(int bucket, std::size_t place, Arrivals& next) {
  const int owner = levels_.relayed()[place];
  const Span chunks = ownership_.owned(owner, bucket);
  ConstPartials all;
  for (const int peer : levels_.neighbours()) {
    std::size_t partial = 0;
    for (const Span node : nodes_of(peer)) {
      const float* const sums = peer == comm_.rank()
                                    ? mine_.at(node) + grid_.floats_of(chunks).begin
                                    : arrived(*next++, peer);
      within_.found(levels_.place(peer), within_index(bucket, place, partial++)) =
          checksum_of(sums, chunks);
      all[node] = sums;
    }
  }
  return all;
}

// Adds up the partials of the node's ranks, for each owner that this rank relays to.
void GradientExchange::add_up(int bucket) {
  Bucket& one = at(bucket);
  const std::vector<Span> nodes =
      hierarchy().sums_of_node(hierarchy().node_of(comm_.rank()), settings_.shards);
  make_room(bucket, nodes.size());
  float* sums = one.sums.data();
  std::uint64_t* sealed = one.sealed.data();
  Arrivals next = one.within.theirs.cbegin();
  for (std::size_t place = 0; place < levels_.relayed().size(); ++place) {
    const int owner = levels_.relayed()[place];
    const Span chunks = ownership_.owned(owner, bucket);
    if (chunks.size() == 0) continue;
    const std::size_t width = grid_.floats_of(chunks).size();
    const ConstPartials all = collect(bucket, place, next);
    for (const Span node : nodes) {
      arrays_.sum(sums, node, all, width);
      if (settings_.sealed) arrays_.checksums(sums, chunks, sealed);
      one.passed.push_back({owner, chunks, node, sums, sealed});
      sums += width;
      sealed += chunks.size();
    }
  }
  arrays_.give_back(*levels_.node(), one.within);
}

void GradientExchange::make_room(int bucket, std::size_t sums) {
  Bucket& one = at(bucket);
  std::size_t floats = 0;
  std::size_t chunks = 0;
  for (const int owner : levels_.relayed()) {
    const Span owned = ownership_.owned(owner, bucket);
    floats += sums * grid_.floats_of(owned).size();
    chunks += sums * static_cast<std::size_t>(owned.size());
  }
  arrays_.grow(one.sums, floats);
  one.sealed.resize(chunks + 1);
}

// Without a level within the node, this rank's sums are the node's.
void GradientExchange::relay_own_sums(int bucket) {
  for (const int owner : levels_.relayed()) {
    const Span chunks = ownership_.owned(owner, bucket);
    if (chunks.size() == 0) continue;
    auto sealed = sealed_.begin();
    for (const auto& [node, sums] : mine_)
      at(bucket).passed.push_back({owner,
                                   chunks,
                                   node,
                                   sums + grid_.floats_of(chunks).begin,
                                   (sealed++)->data() + chunks.lo});
  }
}

// Sends the next bucket across nodes; the node's sums must be present or on their way.
void GradientExchange::relay_sums() {
  const int bucket = next(passed_++);
  Bucket& one = at(bucket);
  one.passed.clear();
  if (levels_.node() == nullptr)
    relay_own_sums(bucket);
  else
    add_up(bucket);
  const int own = comm_.rank();
  const auto width = [&](int owner) {
    return grid_.floats_of(ownership_.owned(owner, bucket)).size();
  };
  // Begins with the rank after this one, like Group::others().
  std::vector<Group::Outgoing> out;
  const auto first = std::partition_point(
      one.passed.begin(), one.passed.end(), [&](const Passed& each) { return each.owner <= own; });
  std::rotate(one.passed.begin(), first, one.passed.end());
  for (const Passed& each : one.passed)
    if (hierarchy().node_of(each.owner) != hierarchy().node_of(own))
      out.push_back({each.owner, each.sums, width(each.owner) * sizeof(float)});
  one.across.theirs.clear();
  for (const int peer : levels_.elsewhere()) {
    const int node = hierarchy().node_of(peer);
    if (hierarchy().relay(node, own) != peer || width(own) == 0) continue;
    for (const Span sums : hierarchy().sums_of_node(node, settings_.shards))
      one.across.theirs.push_back({peer, own, sums, width(own)});
  }
  (void)arrays_.post_partials(comm_, levels_.elsewhere(), bytes_of(bucket), out, one.across);
}

void GradientExchange::progress() {
  comm_.progress();
  while (passed_ < posted_ && arrays_.test(*levels_.node(), at(next(passed_)).within.ticket))
    relay_sums();
}

void GradientExchange::relay_rest() {
  for (; passed_ < posted_; relay_sums())
    arrays_.wait(*levels_.node(), at(next(passed_)).within.ticket);
}

// Waits for a bucket and adds up the part that this rank owns.
void GradientExchange::receive(int bucket) {
  Bucket& one = at(bucket);
  const Span chunks = ownership_.owned(comm_.rank(), bucket);
  arrays_.wait(comm_, one.across.ticket);
  ConstPartials all;
  std::vector<std::size_t> count(static_cast<std::size_t>(comm_.size()));
  const auto add = [&](int from, Span node, const float* sums) {
    const std::size_t which = count[static_cast<std::size_t>(from)]++;
    across_.found(from, static_cast<std::size_t>(bucket) * most_sums_ + which) =
        checksum_of(sums, chunks);
    all[node] = sums;
  };
  for (const Passed& each : one.passed)
    if (each.owner == comm_.rank()) add(comm_.rank(), each.node, each.sums);
  for (const auto& each : one.across.theirs) add(each.from, each.node, arrived(each, each.from));
  arrays_.sum(gradients_.data() + begins_[static_cast<std::size_t>(bucket)],
              {0, settings_.shards},
              all,
              grid_.floats_of(chunks).size());
  arrays_.give_back(comm_, one.across);
}

GradientExchange::Sums GradientExchange::sum(const Partials& mine, std::uint64_t step) {
  const Span shards{0, settings_.shards};
  begin(mine, step);
  damaged_.clear();
  for (int bucket = 0; posted_ == 0 && bucket < ownership_.buckets(); ++bucket) seal(bucket);
  if (comm_.size() == 1) {
    inject_gradient({0, layout_.parameter_floats});
    const float* const sums = mine.at(shards);
    return {sums, sums + layout_.parameter_floats};
  }
  while (posted_ < ownership_.buckets()) post_next();
  relay_rest();
  pack_across();
  const Group::Ticket across = across_.post(comm_);
  Group::Ticket within = 0;
  if (levels_.node() != nullptr) {
    pack_within();
    within = within_.post(*levels_.node());
  }
  for (int done = 0; done < ownership_.buckets(); ++done) receive(next(done));
  posted_ = passed_ = 0;
  comm_.wait(across);
  if (levels_.node() != nullptr) levels_.node()->wait(within);
  if (settings_.sealed) compare();
  return {gradients_.data(), combine(shards, tails(), 0, layout_.tail_floats())};
}

}  // namespace dts::train
