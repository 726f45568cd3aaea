// SPDX-License-Identifier: Apache-2.0
// Gradients that no rank has complete, and weights that come and go: the same bits, and memory is
// given back.
#include "core/train/backend/shard_sums.hpp"
#include "core/train/memory/window.hpp"
#include "core/train/update/round_exchange.hpp"
#include "tests/unit/train/cnn2.hpp"
#include "tests/unit/train/rank_threads.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace dts::train;

namespace {

constexpr int k_all = 11;  // shards

const ChunkGrid& chunks() {
  static const ChunkGrid made(layout());
  return made;
}

void fill_shard(int shard, float* sums) {
  for (std::size_t at = 0; at < layout().sum_floats(); ++at)
    sums[at] = 1.0F / static_cast<float>(3 + at % 89 + static_cast<std::size_t>(shard) * 17);
}

// The partials of a run, in the arrays of their first shards.
Partials partials_of(Span run, std::vector<Buffer>& shards) {
  Partials leaves, nodes;
  for (int shard = run.lo; shard < run.hi; ++shard) {
    if (shards.size() <= static_cast<std::size_t>(shard - run.lo))
      shards.push_back(Buffer::sparse(layout().sum_floats()));
    float* const sums = shards[static_cast<std::size_t>(shard - run.lo)].data();
    fill_shard(shard, sums);
    leaves[{shard, shard + 1}] = sums;
  }
  for (const Span node : maximal_nodes(k_all, run))
    nodes[node] = combine(node, leaves, 0, layout().sum_floats());
  return nodes;
}

const std::vector<float>& sum_of_all() {
  static const std::vector<float> all = [] {
    std::vector<Buffer> shards;
    const float* const sums = partials_of({0, k_all}, shards).at({0, k_all});
    return std::vector<float>(sums, sums + layout().sum_floats());
  }();
  return all;
}

struct RoundsWay {
  int servers = 1;
  std::size_t bucket_bytes = 0;
  int threads = 1;
  bool waits = false;
};

// Makes a step, and immediately overwrites what has left and is free.
RoundExchange::Sums make_step(RoundExchange& exchange, std::vector<Buffer>& shards, bool waits) {
  const std::vector<Range> buckets = exchange.bucket_ranges();
  for (int round = 0; round < exchange.rounds(); ++round) {
    const Partials mine = partials_of(exchange.run(round), shards);
    for (std::size_t left = 0; left < buckets.size(); ++left) {
      exchange.send_bucket(mine, 0);
      if (left == 0 && !waits) continue;
      const Range free = buckets[waits ? left : left - 1];
      for (const auto& [node, sums] : mine)
        std::fill(sums + free.begin, sums + free.end, std::numeric_limits<float>::quiet_NaN());
    }
    exchange.end_round(mine, 0);
  }
  return exchange.sum();
}

// Returns "" if this rank gets the right sums, twice.
std::string exchanged_in_rounds(Group& group, const RoundsWay& way) {
  const Ownership ownership(chunks(), {group.size(), way.servers}, way.bucket_bytes);
  RoundExchange exchange(group,
                         layout(),
                         chunks(),
                         ownership,
                         {k_all, group.size() * way.threads, true, way.waits, {}});
  std::vector<Buffer> shards;
  for (int step = 0; step < 2; ++step) {
    const auto sums = make_step(exchange, shards, way.waits);
    std::vector<float> own;
    for (int bucket = 0; bucket < ownership.buckets(); ++bucket) {
      const Range part = chunks().floats_of(ownership.owned(group.rank(), bucket));
      own.insert(own.end(), sum_of_all().data() + part.begin, sum_of_all().data() + part.end);
    }
    if (!std::equal(own.begin(), own.end(), sums.gradients)) return "sums";
    const auto tail = sum_of_all().end() - static_cast<std::ptrdiff_t>(layout().tail_floats());
    if (!std::equal(tail, sum_of_all().end(), sums.tail)) return "tail";
    if (!exchange.damaged().empty() || exchange.changed_chunk()) return "damaged";
  }
  return "";
}

std::size_t pages_in_memory(const Buffer& buffer) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes = buffer.size() * sizeof(float);
  std::vector<unsigned char> there((bytes + page - 1) / page);
  void* const at = const_cast<float*>(buffer.data());  // NOLINT: only inspected
  REQUIRE(::mincore(at, bytes, there.data()) == 0);
  return static_cast<std::size_t>(
      std::count_if(there.begin(), there.end(), [](unsigned char one) { return (one & 1) != 0; }));
}

}  // namespace

TEST_CASE("a sparse array takes memory where it is written, and gives it back") {
  constexpr std::size_t k_floats = 1 << 20;
  Buffer array = Buffer::sparse(k_floats);
  CHECK(pages_in_memory(array) == 0);
  std::fill_n(array.data(), k_floats, 1.0F);
  const std::size_t all = pages_in_memory(array);
  CHECK(all >= 64);
  array.drop({k_floats / 2 + 1, k_floats});
  CHECK(pages_in_memory(array) <= all / 2 + 1);
  CHECK(array.data()[k_floats / 2] == 1.0F);
  CHECK(array.data()[k_floats - 1] == 0.0F);
  array.set_to_zero();
  CHECK(std::all_of(array.all().begin(), array.all().end(), [](float v) { return v == 0.0F; }));
}

TEST_CASE("sums made in rounds have the bits of all others, in buckets of any size") {
  for (const int ranks : k_ranks)
    for (const int servers : {1, ranks})
      for (const std::size_t bytes : {0U, 4096U, 60000U})
        for (const int threads : {1, 2})
          for (const bool waits : {false, true}) {
            CAPTURE(ranks);
            CAPTURE(servers);
            CAPTURE(bytes);
            CAPTURE(threads);
            CAPTURE(waits);
            for (const std::string& end : on_threads(ranks, k_long, [&](Group& group) {
                   return exchanged_in_rounds(group, {servers, bytes, threads, waits});
                 }))
              CHECK(end.empty());
          }
}

TEST_CASE("what arrives changed in a round is found, with who sent it and whether that knows it") {
  using What = dts::train::Injection::Target;
  const std::size_t at = layout().parameter("fc1.weight").offset + 4321;
  for (const auto what : {What::gradient, What::message}) {
    const auto ends = on_threads(3, k_long, [&](Group& group) -> std::string {
      const Ownership ownership(chunks(), {3, 3}, 30000);
      dts::train::Injection fault;
      fault.what = what;
      fault.element = at;
      fault.step = 1;
      fault.rank = 1;
      RoundExchange exchange(group, layout(), chunks(), ownership, {k_all, 3, true, false, fault});
      std::vector<Buffer> shards;
      (void)make_step(exchange, shards, false);
      std::string found;
      for (const auto& [peer, where] : exchange.damaged()) found += std::to_string(peer);
      return found + (exchange.changed_chunk() ? " knows" : "");
    });
    const std::string all = ends[0] + "," + ends[1] + "," + ends[2];
    if (what == What::message)
      CHECK(all == ",0,");
    else  // one of them owns that element
      CHECK((all == "1, knows," || all == ",1 knows," || all == ", knows,1"));
  }
}

TEST_CASE("gradients that are handed over and dropped are those of the whole arrays") {
  constexpr int k_micro = 2;
  constexpr int k_samples = 40;
  std::vector<std::uint8_t> images(k_samples * k_pixels);
  for (std::size_t i = 0; i < images.size(); ++i)
    images[i] = static_cast<std::uint8_t>(i * 7 % 251);
  std::vector<std::uint8_t> labels(k_samples);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::uint8_t>(i % 10);
  Buffer weights(layout().parameter_floats);
  initial_weights(layout(), 3, weights.data());
  StepInput input{{images.data(), labels.data(), labels.size()}, weights.data(), 9, 4, 8 * k_micro};
  input.with_squares = true;
  const auto make = [&](int threads) {
    return std::move(*ShardSums::create(cnn2(), 8, k_micro, threads));
  };
  const auto alone = make(1);
  const auto others = make(3);
  GradientBuckets buckets;
  const std::size_t count = layout().parameter_floats;
  for (std::size_t cut = 7; cut > 0; --cut)
    buckets.ranges.push_back({count / 16 * (cut - 1) / 7 * 16, count / 16 * cut / 7 * 16});
  buckets.progress = [] {};
  buckets.reuses_memory = true;
  for (const Span run : {Span{0, 3}, Span{3, 6}, Span{6, 8}, Span{2, 3}, Span{8, 8}}) {
    std::map<Span, std::vector<float>> left;
    std::size_t leaves = 0;
    buckets.ready = [&](const Partials& partials) {
      const Range range = buckets.ranges[leaves++];
      for (const auto& [node, sums] : partials) {
        left[node].resize(layout().sum_floats());
        std::copy(sums + range.begin,
                  sums + range.end,
                  left[node].begin() + static_cast<std::ptrdiff_t>(range.begin));
      }
    };
    input.buckets = nullptr;
    const Partials expected = alone->sum(input, run);
    input.buckets = &buckets;
    const Partials now = others->sum(input, run);
    CHECK(leaves == buckets.ranges.size());
    REQUIRE(now.size() == expected.size());
    for (const auto& [node, sums] : expected) {
      CHECK(std::equal(sums, sums + count, left[node].begin()));
      CHECK(sums[layout().scalar(Scalar::loss)] == now.at(node)[layout().scalar(Scalar::loss)]);
      CHECK(now.at(node)[layout().scalar(Scalar::squares)] ==
            doctest::Approx(sums[layout().scalar(Scalar::squares)]));
    }
  }
}

TEST_CASE("within a window, parts are fetched and dropped as the places need them") {
  std::string told;
  Window window({{0, 10, 20, 30},
                 [&](int part) { told += "+" + std::to_string(part); },
                 [&](int part) { told += "-" + std::to_string(part); },
                 1});
  CHECK(window.parts_of(5, 12).begin == 0);
  CHECK(window.parts_of(5, 12).end == 2);
  CHECK(window.parts_of(10, 20).begin == 1);
  CHECK(window.parts_of(10, 20).end == 2);
  CHECK(window.parts_of(7, 7).end == 0);
  const std::vector<std::pair<std::size_t, std::size_t>> reads{
      {0, 5}, {5, 15}, {0, 0}, {12, 18}, {18, 30}, {0, 0}, {0, 3}};
  std::vector<Window::Parts> places;
  for (const auto& [begin, end] : reads) places.push_back(window.parts_of(begin, end));
  window.begin(places, 1);
  for (int place = 0; place < static_cast<int>(places.size()); ++place) {
    told += " ";
    window.enter(0, place);
  }
  window.leave(0);
  window.end();
  CHECK(told == " +0 +1 -0  +2 -1-2 +0");
  told.clear();
  window.begin({window.parts_of(3, 12)}, 1);  // parts that are present are not fetched again
  window.enter(0, 0);
  window.leave(0);
  window.end();
  CHECK(told == "+1");
  window.clear();
  CHECK(told == "+1-0-1");
}

TEST_CASE("no thread reads a part that is not there, however fast the others are") {
  constexpr int k_threads = 3;
  constexpr int k_parts = 8;
  std::vector<std::atomic<int>> there(k_parts);
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i <= k_parts; ++i) begins.push_back(i);
  Window window({begins,
                 [&](int part) { there[static_cast<std::size_t>(part)] = 1; },
                 [&](int part) { there[static_cast<std::size_t>(part)] = 0; },
                 k_threads});
  std::atomic<int> absent{0};
  for (int round = 0; round < 50; ++round) {
    std::vector<Window::Parts> places;
    for (int place = 0; place < 40; ++place) places.push_back({place * 3 % 7, place * 3 % 7 + 2});
    window.begin(places, k_threads);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < k_threads; ++thread)
      threads.emplace_back([&, thread] {
        for (int place = 0; place < 40; ++place) {
          window.enter(thread, place);
          const Window::Parts now = places[static_cast<std::size_t>(place)];
          for (int part = now.begin; part < now.end; ++part)
            if (there[static_cast<std::size_t>(part)] == 0) ++absent;
        }
        window.leave(thread);
      });
    for (std::thread& thread : threads) thread.join();
    window.end();
    window.clear();
  }
  CHECK(absent == 0);
  CHECK(std::all_of(there.begin(), there.end(), [](const auto& one) { return one == 0; }));
}
