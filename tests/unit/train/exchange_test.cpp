// SPDX-License-Identifier: Apache-2.0
// Gradients that travel in buckets of any size, early or not: the same bits, and what arrives
// changed is found.
#include "core/train/memory/shared_buffers.hpp"
#include "core/train/update/gradient_exchange.hpp"
#include "tests/unit/train/cnn2.hpp"
#include "tests/unit/train/rank_threads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
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

// The partials of a run of shards, and their memory.
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

struct Way {
  int servers = 0;
  std::size_t bucket_bytes = 0;
  bool early = false;
};

// "" if this rank has the right sums of what it owns, and of the tail, twice.
std::string exchanged(Group& group, const Way& way) {
  const Ownership ownership(cnn2_grid(), {group.size(), way.servers}, way.bucket_bytes);
  GradientExchange exchange(group, cnn2_layout(), cnn2_grid(), ownership, {k_all_shards, true, {}});
  RunSums mine(part_of({0, k_all_shards}, group.size(), group.rank()));
  const std::vector<float>& expected = summed_by_one();
  for (std::uint64_t step = 0; step < 2; ++step) {
    for (std::size_t i = 0; way.early && i < exchange.leaving().size(); ++i) {
      exchange.leave(mine.partials, step);
      exchange.progress();
    }
    const auto sums = exchange.sum(mine.partials, step);
    const float* at = sums.gradients;
    for (int bucket = 0; bucket < ownership.buckets(); ++bucket) {
      const Span own = cnn2_grid().floats_of(ownership.owned(group.rank(), bucket));
      if (!std::equal(expected.begin() + own.lo, expected.begin() + own.hi, at)) return "sums";
      at += own.size();
    }
    const std::size_t tail = cnn2_layout().tail_floats();
    if (!std::equal(expected.end() - static_cast<std::ptrdiff_t>(tail), expected.end(), sums.tail))
      return "tail";
    if (!exchange.damaged().empty()) return "damaged";
    group.barrier();  // others may still read what is mine
  }
  return "";
}

}  // namespace

TEST_CASE(
    "sums have the same bits in buckets of any size, for any ranks and servers, early or not") {
  share_buffers();
  for (const int ranks : {2, 3, 5})
    for (const int servers : {1, 2, ranks})
      for (const std::size_t bytes : {0U, 4096U, 30000U, 500000U})
        for (const bool early : {false, true}) {
          CAPTURE(ranks);
          CAPTURE(servers);
          CAPTURE(bytes);
          CAPTURE(early);
          for (const std::string& end : on_threads(ranks, k_long, [&](Group& group) {
                 return exchanged(group, {servers, bytes, early});
               }))
            CHECK(end.empty());
        }
}

TEST_CASE("of buckets, too, what arrives changed is found, with who sent it and where it is") {
  const std::size_t element = cnn2_layout().parameter("fc1.weight").offset + 4321;
  for (const auto what :
       {dts::train::Injection::What::gradient, dts::train::Injection::What::message})
    for (const bool early : {false, true}) {
      CAPTURE(early);
      const auto ends = on_threads(3, k_long, [&](Group& group) -> std::string {
        const Ownership ownership(cnn2_grid(), {3, 3}, 30000);
        dts::train::Injection fault;
        fault.what = what;
        fault.element = element;
        fault.step = 1;
        fault.rank = 1;
        GradientExchange exchange(
            group, cnn2_layout(), cnn2_grid(), ownership, {k_all_shards, true, fault});
        RunSums mine(part_of({0, k_all_shards}, 3, group.rank()));
        for (std::size_t i = 0; early && i < exchange.leaving().size(); ++i)
          exchange.leave(mine.partials, 0);
        (void)exchange.sum(mine.partials, 0);
        std::string found;
        for (const auto& [peer, chunks] : exchange.damaged()) {
          found += std::to_string(peer);
          const Span floats = cnn2_grid().floats_of(chunks);
          const auto at = static_cast<int>(element);
          if (what == dts::train::Injection::What::gradient && (at < floats.lo || floats.hi <= at))
            found += " elsewhere";
        }
        if (exchange.changed_chunk()) found += " mine";
        group.barrier();
        return found;
      });
      if (what == dts::train::Injection::What::message) {
        CHECK(ends == std::vector<std::string>{"", "0", ""});
        continue;
      }
      const Ownership ownership(cnn2_grid(), {3, 3}, 30000);
      int chunk = 0;
      while (cnn2_grid().floats_of({chunk, chunk + 1}).hi <= static_cast<int>(element)) ++chunk;
      for (int rank = 0; rank < 3; ++rank)
        CHECK(ends[static_cast<std::size_t>(rank)] ==
              std::string(rank == ownership.owner(chunk) ? "1" : "") + (rank == 1 ? " mine" : ""));
    }
}
