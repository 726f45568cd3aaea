// SPDX-License-Identifier: Apache-2.0
// Groups whose ranks are threads or processes of this machine and communicate through its memory.
#include "core/train/comm/group.hpp"

#include "core/train/comm/core_waits.hpp"
#include "core/train/comm/self_transport.hpp"
#include "core/train/comm/shm_transport.hpp"
#include "tests/unit/train/rank_threads.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

using namespace dts::train;
using std::chrono::milliseconds;

namespace {

// The sum of eight shards' arrays of `count` floats, computed along the tree by this group.
std::vector<float> summed(Group& group, int count) {
  constexpr int k_shards = 8;
  std::vector<Buffer> buffers;
  Partials mine;
  const Span run = part_of({0, k_shards}, group.size(), group.rank());
  for (const Span node : maximal_nodes(k_shards, run)) {
    Partials leaves;
    const std::size_t first = buffers.size();
    for (int shard = node.lo; shard < node.hi; ++shard) {
      Buffer& leaf = buffers.emplace_back(Buffer::shared(static_cast<std::size_t>(count)));
      for (int i = 0; i < count; ++i)
        leaf.data()[i] = 1.0F / static_cast<float>(1 + i % 97 + shard * 31);
    }
    for (int shard = node.lo; shard < node.hi; ++shard)
      leaves[{shard, shard + 1}] =
          buffers[first + static_cast<std::size_t>(shard - node.lo)].data();
    mine[node] = combine(node, leaves, 0, static_cast<std::size_t>(count));
  }
  const Range all{0, static_cast<std::size_t>(count)};
  std::vector<Range> slices;
  for (int rank = 0; rank < group.size(); ++rank) slices.push_back(all.part(group.size(), rank));
  const Range own = slices[static_cast<std::size_t>(group.rank())];
  Buffer whole = Buffer::shared(static_cast<std::size_t>(count));
  Group::Scattered scattered;
  group.wait(group.post_scatter(k_shards, slices, mine, scattered));
  combine_to(
      whole.data() + own.begin, {0, k_shards}, Group::partials(scattered, own, mine), own.size());
  group.give_back(scattered);
  group.wait(group.post_gather_slices(whole.data(), slices));
  return {whole.data(), whole.data() + count};
}

std::vector<float> summed_alone(int count) {
  Group alone(std::make_shared<SelfTransport>(), {0}, 0, settings(k_long));
  return summed(alone, count);
}

}  // namespace

TEST_CASE("sums have the same bits for any number of ranks, also if they are larger than a ring") {
  constexpr int k_count = 3000001;  // floats
  const std::vector<float> expected = summed_alone(k_count);
  for (const int ranks : {2, 3, 5, 8})
    for (const std::string& end : on_threads(ranks, k_long, [&](Group& group) {
           return std::string(summed(group, k_count) == expected ? "equal" : "different");
         }))
      CHECK(end == "equal");
}

TEST_CASE(
    "sums read where they are have the same bits, and arrays are mapped anew when they are new") {
  constexpr int k_count = 30001;
  const std::vector<float> expected = summed_alone(k_count);
  share_buffers();
  for (const int ranks : {2, 3, 5})
    for (const std::string& end : on_threads(ranks, k_long, [&](Group& group) -> std::string {
           for (int i = 0; i < 5; ++i)
             if (summed(group, k_count) != expected) return "different";
           return "equal";
         }))
      CHECK(end == "equal");
}

TEST_CASE(
    "a message that is borrowed is the sender's memory, and it waits until all are given back") {
  share_buffers();
  const auto pair = transports(2);
  Buffer out = Buffer::shared(1 << 16), in(1 << 16);
  std::iota(out.data(), out.data() + out.size(), 0.0F);
  const std::size_t bytes = out.size() * sizeof(float);
  const void *first = nullptr, *second = nullptr;
  const auto sent = pair[0]->send(1, out.data(), bytes);
  const auto again = pair[0]->send(1, out.data(), bytes);
  const auto copied = pair[0]->send(1, out.data(), bytes);
  const auto one = pair[1]->borrow(0, first, in.data(), bytes);
  const auto two = pair[1]->borrow(0, second, in.data(), bytes);
  const auto three = pair[1]->receive(0, in.data(), bytes);
  CHECK(pair[1]->test(three));
  CHECK(pair[1]->done(one));
  CHECK(first != in.data());
  CHECK(std::memcmp(first, out.data(), bytes) == 0);
  CHECK(std::memcmp(in.data(), out.data(), bytes) == 0);
  CHECK_FALSE(pair[0]->test(copied));
  CHECK(pair[0]->on_loan(sent));
  pair[1]->give_back(two);
  CHECK_FALSE(pair[0]->test(sent));
  pair[1]->give_back(one);
  CHECK(pair[0]->test(sent));
  CHECK(pair[0]->done(again));
  CHECK(pair[0]->done(copied));
}

TEST_CASE("more ranks than elements: some have nothing of their own") {
  const std::vector<float> expected = summed_alone(3);
  for (const std::string& end : on_threads(5, k_long, [&](Group& group) {
         return std::string(summed(group, 3) == expected ? "equal" : "different");
       }))
    CHECK(end == "equal");
}

TEST_CASE("collectives give each rank what it should have") {
  for (const int ranks : {1, 2, 4, 7}) {
    const auto work = [ranks](Group& group) -> std::string {
      const int rank = group.rank();
      if (group.sum(rank + 1) != ranks * (ranks + 1) / 2) return "sum";
      if (group.least(10 - rank) != 11 - ranks) return "least";
      const Verdict verdict = group.agree(rank == ranks - 1 ? 74 : 0);
      if (verdict.code != 74 || verdict.rank != ranks - 1) return "agree";
      if (group.agree(0).code != 0) return "agree on nothing";
      const std::vector<int> all = group.gather(rank * rank);
      for (int peer = 0; peer < ranks; ++peer)
        if (all[static_cast<std::size_t>(peer)] != peer * peer) return "gather";
      std::vector<std::uint64_t> text(400001, rank == 0 ? 7 : 0);  // more than three pieces
      group.broadcast(text.data(), text.size() * sizeof text[0]);
      if (std::count(text.begin(), text.end(), 7U) != 400001) return "broadcast";
      std::vector<int> out(static_cast<std::size_t>(ranks)), in(out.size());
      for (int peer = 0; peer < ranks; ++peer)
        out[static_cast<std::size_t>(peer)] = rank * 100 + peer;
      const auto ticket = group.post_exchange(out.data(), in.data(), sizeof(int));
      group.barrier();  // completes everything posted before
      if (!group.test(ticket)) return "test";
      for (int peer = 0; peer < ranks; ++peer)
        if (in[static_cast<std::size_t>(peer)] != peer * 100 + rank) return "exchange";
      return "right";
    };
    if (ranks == 1) {
      Group alone(std::make_shared<SelfTransport>(), {0}, 0, settings(k_long));
      CHECK(work(alone) == "right");
      continue;
    }
    for (const std::string& end : on_threads(ranks, k_long, work)) CHECK(end == "right");
  }
}

TEST_CASE("messages between two ranks, to oneself, and tickets that are tested") {
  Group alone(std::make_shared<SelfTransport>(), {0}, 0, settings(k_long));
  int sent = 5, got = 0;
  const auto received = alone.post_receive(0, &got, sizeof got);
  CHECK_FALSE(alone.test(received));
  (void)alone.post_send(0, &sent, sizeof sent);
  CHECK(alone.test(received));
  CHECK(got == 5);
  const auto ends = on_threads(3, k_long, [](Group& group) -> std::string {
    if (group.rank() == 2) return "sits by";
    const int peer = 1 - group.rank();
    std::vector<int> out(500000, group.rank() + 1), in(out.size());
    const auto first = group.post_receive(peer, in.data(), in.size() * sizeof(int));
    (void)group.post_send(peer, out.data(), out.size() * sizeof(int));
    while (!group.test(first)) std::this_thread::sleep_for(milliseconds(1));
    if (std::count(in.begin(), in.end(), peer + 1) != 500000) return "content";
    int last = 0;
    (void)group.post_send(peer, out.data(), sizeof last);
    group.wait(group.post_receive(peer, &last, sizeof last));
    return last == peer + 1 ? "right" : "order";
  });
  CHECK(ends == std::vector<std::string>{"right", "right", "sits by"});
}

TEST_CASE("a group is split by color, and both go on") {
  for (const std::string& end : on_threads(5, k_long, [](Group& group) -> std::string {
         Group half = group.split(group.rank() % 2);
         const bool even = group.rank() % 2 == 0;
         if (half.size() != (even ? 3 : 2) || half.rank() != group.rank() / 2) return "who";
         if (half.sum(group.rank()) != (even ? 6 : 4)) return "sum of a half";
         if (group.sum(group.rank()) != 10) return "sum of all";
         return half.gather(group.rank())[1] == (even ? 2 : 3) ? "right" : "gather";
       }))
    CHECK(end == "right");
}

TEST_CASE("calls that do not match are reported at once, by rank and call") {
  const auto ends = on_threads(3, k_long, [](Group& group) -> std::string {
    group.barrier();
    if (group.rank() == 1) (void)group.gather(group.rank());
    group.barrier();
    return "not noticed";
  });
  CHECK(ends[0].starts_with("mismatch: call 2, barrier: rank 1 makes call 2, gather of 4 B\n"));
  CHECK(ends[1].find("mismatch: call 2, gather of 4 B: rank ") == 0);
  CHECK(ends[1].find(" makes call 2, barrier\n") != std::string::npos);
  CHECK(ends[2].ends_with("calls of this rank: 1 barrier, 2 barrier"));
}

TEST_CASE("sizes that do not match are reported, and calls that differed before") {
  auto ends = on_threads(2, k_long, [](Group& group) -> std::string {
    std::array<char, 8> block{}, all{};
    group.wait(group.post_gather(block.data(), all.data(), group.rank() == 0 ? 2 : 3));
    return "not noticed";
  });
  CHECK(ends[0].starts_with("mismatch: call 1, gather of 2 B: rank 1 makes call 1, gather of 3 B"));
  const auto pairs = transports(2);
  ends = {"", ""};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      const auto place = static_cast<std::size_t>(rank);
      Group group = group_of(pairs[place], 2, rank, k_long);
      Group other(std::make_shared<SelfTransport>(), {rank}, 0, settings(k_long));
      try {
        other.barrier();  // of another group, which does not count
        if (rank == 0) group.split(0).barrier();
        group.barrier();
      } catch (const Lost& lost) {
        ends[place] = lost.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(ends[1].find("call 1, barrier: rank 0 makes call 1, gather of 4 B") == 0);
}

TEST_CASE("a rank that does not come is named at the deadline, one that waits for it is not") {
  const auto start = std::chrono::steady_clock::now();
  const auto ends = on_threads(3, milliseconds(300), [](Group& group) -> std::string {
    group.barrier();
    if (group.rank() == 1) return "gone";
    group.barrier();
    return "not noticed";
  });
  const auto took = std::chrono::steady_clock::now() - start;
  CHECK(ends[0].starts_with("timed out: call 2, barrier: rank 1 did not arrive within 0.3 s\n"));
  CHECK(ends[2].starts_with("timed out: call 2, barrier: rank 1 did not arrive within 0.3 s\n"));
  CHECK(took >= milliseconds(300));
  CHECK(took < milliseconds(20000));
}

TEST_CASE("time in which others had no core does not count, ten times the timeout at most") {
  const auto pair = transports(2);
  for (const int answers : {3, 1000}) {
    int asked = 0;
    Group::Settings limits = settings(milliseconds(100));
    limits.starved = [&] { return milliseconds(asked++ < answers ? 50 : 0); };
    Group group(pair[0], {0, 1}, 0, limits);
    const auto start = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(group.barrier(), Lost);
    const auto took = std::chrono::steady_clock::now() - start;
    CHECK(asked == (answers == 3 ? 4 : 23));
    CHECK(took >= milliseconds(answers == 3 ? 200 : 1150));
  }
}

TEST_CASE("a process that shares its core has waited for it, one that sleeps has not") {
  cpu_set_t all, one;
  REQUIRE(::sched_getaffinity(0, sizeof all, &all) == 0);
  int core = 0;
  while (!CPU_ISSET(core, &all)) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  std::array<pid_t, 3> children{};
  for (std::size_t i = 0; i < children.size(); ++i) {
    children[i] = ::fork();
    REQUIRE(children[i] >= 0);
    if (children[i] != 0) continue;
    ::sched_setaffinity(0, sizeof one, &one);
    while (i < 2) std::atomic_signal_fence(std::memory_order_seq_cst);
    ::pause();
  }
  CoreWaits busy({children[0], children[1]}), sleeping({children[2]});
  std::this_thread::sleep_for(milliseconds(300));
  (void)sleeping.since_last();  // waits until it sleeps
  std::this_thread::sleep_for(milliseconds(300));
  CHECK(busy.since_last() > milliseconds(100));
  CHECK(sleeping.since_last() < milliseconds(50));
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  CHECK(busy.since_last().count() == 0);
}

TEST_CASE("abort forgets what is under way and touches no memory afterwards") {
  const auto pair = transports(2);
  std::array<char, 4> in{};
  const auto ticket = pair[0]->receive(1, in.data(), in.size());
  CHECK_FALSE(pair[0]->test(ticket));
  pair[0]->abort();
  (void)pair[1]->send(0, "abcd", 4);
  pair[0]->progress();
  CHECK(in == std::array<char, 4>{});
}

TEST_CASE("processes share a ring; one that is killed is named, and its inbox goes with it") {
  auto mine = ShmTransport::create(0, 2);
  REQUIRE(mine);
  std::array<int, 2> there{}, back{};
  REQUIRE(::pipe(there.data()) == 0);
  REQUIRE(::pipe(back.data()) == 0);
  const SharedMemoryName name = (*mine)->name();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto own = ShmTransport::create(1, 2);
    const SharedMemoryName said = own ? (*own)->name() : SharedMemoryName{};
    (void)!::write(back[1], &said, sizeof said);
    if (!own || !(*own)->connect({name, said})) ::_exit(1);
    (void)!::write(back[1], "c", 1);
    Group group = group_of(*std::move(own), 2, 1, k_long);
    const bool right = group.sum(2) == 3;
    if (right) ::kill(::getpid(), SIGKILL);
    ::_exit(2);
  }
  SharedMemoryName theirs;
  char connected = 0;
  REQUIRE(::read(back[0], &theirs, sizeof theirs) == sizeof theirs);
  REQUIRE(theirs.pid == child);
  REQUIRE((*mine)->connect({name, theirs}));
  REQUIRE(::read(back[0], &connected, 1) == 1);
  Group group = group_of(*std::move(mine), 2, 0, milliseconds(300));
  CHECK(group.sum(1) == 3);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK_FALSE(SharedMemory::open(theirs, 1, SharedMemory::Access::read));
  CHECK_THROWS_AS(group.barrier(), Lost);
  for (const int fd : {there[0], there[1], back[0], back[1]}) ::close(fd);
}

TEST_CASE("the record keeps the newest calls, and its hash all of them") {
  FlightRecord one(1), other(1);
  for (int i = 0; i < 20; ++i) CHECK(one.add(Call::gather, 8) == other.add(Call::gather, 8));
  CHECK(one.newest().starts_with("5 gather of 8 B, 6 gather of 8 B, "));
  CHECK(one.newest().ends_with(", 20 gather of 8 B"));
  CHECK(one.add_message(3, 16).hash == 0);
  CHECK(one.newest().ends_with(", 20 gather of 8 B, 3 message of 16 B"));
  CHECK(one.add(Call::barrier, 0) == other.add(Call::barrier, 0));
  (void)one.add(Call::barrier, 0);
  (void)other.add(Call::broadcast, 1);
  CHECK(one.add(Call::barrier, 0) != other.add(Call::barrier, 0));
  CHECK(FlightRecord(1).add(Call::barrier, 0) != FlightRecord(2).add(Call::barrier, 0));
}
