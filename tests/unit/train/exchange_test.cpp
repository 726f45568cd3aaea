// SPDX-License-Identifier: Apache-2.0
// Gradients that travel in buckets of any size, early or not, directly or within each node first:
// the same bits, and changed messages are detected. And the amount of data that crosses between
// nodes.
#include "core/train/memory/shared_buffers.hpp"
#include "core/train/update/gradient_exchange.hpp"
#include "tests/unit/train/cnn2.hpp"
#include "tests/unit/train/rank_threads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace dts::train;

namespace {

constexpr int k_all_shards = 7;

const Layout& cnn2_layout() {
  return cnn2().layout;
}

const ChunkGrid& cnn2_grid() {
  static const ChunkGrid made(cnn2_layout());
  return made;
}

float element(int shard, std::size_t at) {
  return 1.0F / static_cast<float>(1 + at % 97 + static_cast<std::size_t>(shard) * 31);
}

// The partials of a run of shards, with their memory.
struct RunSums {
  std::vector<Buffer> buffers;
  Partials partials;

  explicit RunSums(Span run) {
    const std::size_t count = cnn2_layout().sum_floats();
    for (const Span node : maximal_nodes(k_all_shards, run)) {
      Partials leaves;
      for (int shard = node.lo; shard < node.hi; ++shard) {
        Buffer leaf = Buffer::shared(count);
        for (std::size_t at = 0; at < count; ++at) leaf.data()[at] = element(shard, at);
        leaves[{shard, shard + 1}] = leaf.data();
        buffers.push_back(std::move(leaf));
      }
      partials[node] = combine(node, leaves, 0, count);
    }
  }
};

const std::vector<float>& summed_by_one() {
  static const std::vector<float> all = [] {
    RunSums sums({0, k_all_shards});
    const float* const first = sums.partials.begin()->second;
    return std::vector<float>(first, first + cnn2_layout().sum_floats());
  }();
  return all;
}

Hierarchy hierarchy_of(int ranks, const std::vector<int>& nodes) {
  return nodes.empty() ? Hierarchy(ranks) : Hierarchy(nodes);
}

struct Way {
  std::vector<int> nodes = {};  // by rank; empty: flat
  int servers = 0;
  std::size_t bucket_bytes = 0;
  bool early = false;
};

// Whether slices of every owner reach this rank.
bool gathered(Levels& levels, const Ownership& ownership) {
  Buffer whole = Buffer::shared(cnn2_layout().parameter_floats);
  std::vector<Levels::Sliced> all;
  for (int bucket = 0; bucket < ownership.buckets(); ++bucket) {
    all.push_back({whole.data(), ownership.slices(bucket)});
    const Range own = all.back().slices[static_cast<std::size_t>(levels.rank())];
    for (std::size_t at = own.begin; at < own.end; ++at) whole.data()[at] = static_cast<float>(at);
  }
  levels.gather(all);
  levels.all().barrier();
  for (std::size_t at = 0; at < whole.size(); ++at)
    if (whole.data()[at] != static_cast<float>(at)) return false;
  return true;
}

// Returns "" if this rank gets the right sums of what it owns, and the right tail, twice.
std::string exchanged(Group& group, const Way& way) {
  const Ownership ownership(cnn2_grid(), {group.size(), way.servers}, way.bucket_bytes);
  Levels levels(group, hierarchy_of(group.size(), way.nodes));
  GradientExchange exchange(
      levels, cnn2_layout(), cnn2_grid(), ownership, {k_all_shards, true, {}});
  RunSums mine(part_of({0, k_all_shards}, group.size(), group.rank()));
  const std::vector<float>& expected = summed_by_one();
  for (std::uint64_t step = 0; step < 2; ++step) {
    for (std::size_t i = 0; way.early && i < exchange.bucket_ranges().size(); ++i) {
      exchange.send_bucket(mine.partials, step);
      exchange.progress();
    }
    const auto sums = exchange.sum(mine.partials, step);
    const float* at = sums.gradients;
    for (int bucket = 0; bucket < ownership.buckets(); ++bucket) {
      const Range own = cnn2_grid().floats_of(ownership.owned(group.rank(), bucket));
      if (!std::equal(at, at + own.size(), expected.data() + own.begin)) return "sums";
      at += own.size();
    }
    const std::size_t tail = cnn2_layout().tail_floats();
    if (!std::equal(expected.end() - static_cast<std::ptrdiff_t>(tail), expected.end(), sums.tail))
      return "tail";
    if (!exchange.damaged().empty()) return "damaged";
    group.barrier();  // others may still read this rank's memory
  }
  return gathered(levels, ownership) ? "" : "gathered";
}

}  // namespace

TEST_CASE(
    "sums have the same bits in buckets of any size, for any ranks and servers, early or not") {
  share_buffers();
  for (const int ranks : k_ranks)
    for (const int servers : {1, 2, ranks})
      for (const std::size_t bytes : {0U, 4096U, 30000U, 500000U})
        for (const bool early : {false, true}) {
          CAPTURE(ranks);
          CAPTURE(servers);
          CAPTURE(bytes);
          CAPTURE(early);
          for (const std::string& end : on_threads(ranks, k_long, [&](Group& group) {
                 return exchanged(group, {{}, servers, bytes, early});
               }))
            CHECK(end.empty());
        }
}

TEST_CASE("sums have the same bits if they are first added up on nodes, of whichever ranks") {
  share_buffers();
  const std::vector<std::vector<int>> layouts{
      {0, 0, 1}, {0, 1, 0}, {0, 0, 1, 1}, {0, 0, 0, 1, 1}, {0, 1, 1, 2, 2}, {2, 0, 1, 0, 1, 0, 1}};
  for (const std::vector<int>& nodes : layouts)
    for (const int servers : {1, 2, static_cast<int>(nodes.size())})
      for (const std::size_t bytes : {0U, 30000U})
        for (const bool early : {false, true}) {
          const auto ranks = static_cast<int>(nodes.size());
          CAPTURE(ranks);
          CAPTURE(servers);
          CAPTURE(bytes);
          CAPTURE(early);
          for (const std::string& end : on_threads(ranks, k_long, [&](Group& group) {
                 return exchanged(group, {nodes, servers, bytes, early});
               }))
            CHECK(end.empty());
        }
}

TEST_CASE("of buckets, too, what arrives changed is found, with who sent it and where it is") {
  const std::size_t element = cnn2_layout().parameter("fc1.weight").offset + 4321;
  for (const auto what :
       {dts::train::Injection::Target::gradient, dts::train::Injection::Target::message})
    for (const bool early : {false, true}) {
      CAPTURE(early);
      const auto ends = on_threads(3, k_long, [&](Group& group) -> std::string {
        const Ownership ownership(cnn2_grid(), {3, 3}, 30000);
        dts::train::Injection fault;
        fault.what = what;
        fault.element = element;
        fault.step = 1;
        fault.rank = 1;
        Levels levels(group, Hierarchy(3));
        GradientExchange exchange(
            levels, cnn2_layout(), cnn2_grid(), ownership, {k_all_shards, true, fault});
        RunSums mine(part_of({0, k_all_shards}, 3, group.rank()));
        for (std::size_t i = 0; early && i < exchange.bucket_ranges().size(); ++i)
          exchange.send_bucket(mine.partials, 0);
        (void)exchange.sum(mine.partials, 0);
        std::string found;
        for (const auto& [peer, chunks] : exchange.damaged()) {
          found += std::to_string(peer);
          const Range floats = cnn2_grid().floats_of(chunks);
          if (what == dts::train::Injection::Target::gradient && !floats.has(element))
            found += " elsewhere";
        }
        if (exchange.changed_chunk()) found += " mine";
        group.barrier();
        return found;
      });
      if (what == dts::train::Injection::Target::message) {
        CHECK(ends == std::vector<std::string>{"", "0", ""});
        continue;
      }
      const Ownership ownership(cnn2_grid(), {3, 3}, 30000);
      int chunk = 0;
      while (cnn2_grid().floats_of({chunk, chunk + 1}).end <= element) ++chunk;
      for (int rank = 0; rank < 3; ++rank)
        CHECK(ends[static_cast<std::size_t>(rank)] ==
              std::string(rank == ownership.owner(chunk) ? "1" : "") + (rank == 1 ? " mine" : ""));
    }
}

TEST_CASE("of sums that are added up on nodes, what changes on either way is found") {
  using What = dts::train::Injection::Target;
  const std::size_t element = cnn2_layout().parameter("fc1.weight").offset + 4321;

  struct Case {
    What what;
    int rank;
    int sender;  // of the message that is changed
  };

  // Ranks 0 and 1 are on one node, where rank 0 relays rank 2's slices, and rank 1 those of rank
  // 3.
  const Hierarchy nodes({0, 0, 1, 1});
  const Ownership ownership(cnn2_grid(), {4, 4}, 30000);
  int chunk = 0;
  while (cnn2_grid().floats_of({chunk, chunk + 1}).end <= element) ++chunk;
  for (const Case& each : {Case{What::message, 1, 0},
                           Case{What::message, 2, 0},
                           Case{What::message, 3, 1},
                           Case{What::gradient, 2, 2},
                           Case{What::gradient, 0, 0}})
    for (const bool early : {false, true}) {
      CAPTURE(each.rank);
      CAPTURE(early);
      std::vector<std::string> expected(4);
      const int finder = each.what == What::message
                             ? each.rank
                             : nodes.relay(nodes.node_of(each.rank), ownership.owner(chunk));
      expected[static_cast<std::size_t>(finder)] = std::to_string(each.sender);
      if (each.what == What::gradient) expected[static_cast<std::size_t>(each.rank)] += " mine";
      CHECK(on_threads(4, k_long, [&](Group& group) -> std::string {
              dts::train::Injection fault;
              fault.what = each.what;
              fault.element = element;
              fault.step = 1;
              fault.rank = each.rank;
              Levels levels(group, nodes);
              GradientExchange exchange(
                  levels, cnn2_layout(), cnn2_grid(), ownership, {k_all_shards, true, fault});
              RunSums mine(part_of({0, k_all_shards}, 4, group.rank()));
              for (std::size_t i = 0; early && i < exchange.bucket_ranges().size(); ++i)
                exchange.send_bucket(mine.partials, 0);
              (void)exchange.sum(mine.partials, 0);
              std::string found;
              for (const auto& [peer, chunks] : exchange.damaged()) found += std::to_string(peer);
              if (exchange.changed_chunk()) found += " mine";
              group.barrier();
              return found;
            }) == expected);
    }
}

namespace {

// Counts the data sent to ranks on other nodes.
class Counted : public Transport {
 public:
  Counted(std::shared_ptr<Transport> inner, const Hierarchy& nodes, int rank)
      : inner_(std::move(inner)), nodes_(nodes), rank_(rank) {}

  [[nodiscard]] Ticket send(int to, const void* data, std::size_t bytes) override {
    if (nodes_.node_of(to) != nodes_.node_of(rank_)) across += bytes;
    return inner_->send(to, data, bytes);
  }

  [[nodiscard]] Ticket receive(int from, void* data, std::size_t bytes) override {
    return inner_->receive(from, data, bytes);
  }

  bool progress() override { return inner_->progress(); }

  [[nodiscard]] bool done(Ticket ticket) const override { return inner_->done(ticket); }

  void abort() override { inner_->abort(); }

  std::size_t across = 0;

 protected:
  void sleep_briefly(Clock::duration limit) override {
    std::this_thread::sleep_for(std::min<Clock::duration>(limit, std::chrono::microseconds(20)));
  }

 private:
  std::shared_ptr<Transport> inner_;
  const Hierarchy& nodes_;
  int rank_;
};

struct Crossed {
  std::size_t sums = 0;
  std::size_t weights = 0;

  bool operator==(const Crossed&) const = default;
};

// The total of all ranks, in one exchange of sums and one of weights. Ranks are on `nodes` and use
// the hierarchy `way`.
Crossed crossed(const Hierarchy& nodes, const Hierarchy& way, const Ownership& ownership) {
  const int ranks = nodes.ranks();
  std::vector<std::shared_ptr<Transport>> between = transports(ranks);
  std::vector<std::shared_ptr<Counted>> counted;
  for (int rank = 0; rank < ranks; ++rank) {
    auto& one = between[static_cast<std::size_t>(rank)];
    one = counted.emplace_back(std::make_shared<Counted>(one, nodes, rank));
  }
  std::vector<Crossed> found(counted.size());
  for (const std::string& end : on_threads(between, k_long, [&](Group& group) -> std::string {
         const auto place = static_cast<std::size_t>(group.rank());
         Levels levels(group, way);
         GradientExchange exchange(
             levels, cnn2_layout(), cnn2_grid(), ownership, {k_all_shards, true, {}});
         const RunSums mine(part_of({0, k_all_shards}, ranks, group.rank()));
         const std::size_t first = counted[place]->across;
         (void)exchange.sum(mine.partials, 0);
         const std::size_t second = counted[place]->across;
         std::vector<Levels::Sliced> all;
         Buffer whole = Buffer::shared(cnn2_layout().parameter_floats);
         for (int bucket = 0; bucket < ownership.buckets(); ++bucket)
           all.push_back({whole.data(), ownership.slices(bucket)});
         levels.gather(all);
         found[place] = {second - first, counted[place]->across - second};
         group.barrier();
         return "";
       }))
    CHECK(end.empty());
  Crossed sum;
  for (const Crossed& one : found) {
    sum.sums += one.sums;
    sum.weights += one.weights;
  }
  return sum;
}

// dttrain(1), --hierarchy, without what does not grow with the model: for every two ranks on
// different nodes a header per call and a checksum per sum, and the sums of everything but
// gradients.
Crossed by_formula(const Hierarchy& nodes, const Hierarchy& way, const Ownership& ownership) {
  std::size_t sums = 0;
  std::size_t weights = 0;
  for (int node = 0; node < way.nodes(); ++node)
    for (int owner = 0; owner < way.ranks(); ++owner) {
      // Within a node nothing crosses, even if ranks use a flat hierarchy.
      if (nodes.node_of(way.ranks_of(node).front()) == nodes.node_of(owner)) continue;
      sums += way.sums_of_node(node, k_all_shards).size() * ownership.floats_of(owner);
      weights += ownership.floats_of(owner);
    }
  std::size_t pairs = 0;
  std::size_t most_sums = 0;
  std::size_t most_partials = 0;
  for (int rank = 0; rank < nodes.ranks(); ++rank) {
    for (int peer = 0; peer < nodes.ranks(); ++peer)
      pairs += nodes.node_of(rank) != nodes.node_of(peer) ? 1 : 0;
    most_sums = std::max(most_sums, way.sums_of_node(way.node_of(rank), k_all_shards).size());
    most_partials = std::max(most_partials, way.sums_of_rank(rank, k_all_shards).size());
  }
  const auto buckets = static_cast<std::size_t>(ownership.buckets());
  const std::size_t notes = most_sums * buckets * sizeof(std::uint64_t) +
                            most_partials * cnn2_layout().tail_floats() * sizeof(float);
  return {sums * sizeof(float) + pairs * ((buckets + 1) * sizeof(CallHeader) + notes),
          weights * sizeof(float) + pairs * buckets * sizeof(CallHeader)};
}

}  // namespace

TEST_CASE("what crosses between nodes is the formula's, and node first once a node") {
  const std::vector<std::vector<int>> layouts{
      {0, 0, 1, 1}, {0, 0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 1, 1, 2}, {0, 0, 0, 0, 0, 0, 1}};
  for (const std::vector<int>& layout : layouts)
    for (const std::size_t bytes : {0U, 100000U})
      for (const int servers : {1, static_cast<int>(layout.size())}) {
        const Hierarchy nodes(layout);
        const Hierarchy flat(nodes.ranks());
        CAPTURE(nodes.ranks());
        CAPTURE(bytes);
        CAPTURE(servers);
        const Ownership ownership(cnn2_grid(), {nodes.ranks(), servers}, bytes);
        CHECK(crossed(nodes, flat, ownership) == by_formula(nodes, flat, ownership));
        const Crossed first = crossed(nodes, nodes, ownership);
        CHECK(first == by_formula(nodes, nodes, ownership));
      }
}
