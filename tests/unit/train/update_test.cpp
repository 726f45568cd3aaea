// SPDX-License-Identifier: Apache-2.0
// The grid of chunks, who is blamed for findings, and injected faults.
#include "core/train/device/kernel_table.hpp"
#include "core/train/device/kernels.hpp"
#include "core/train/memory/buffer.hpp"
#include "core/train/update/audit.hpp"
#include "core/train/update/findings.hpp"
#include "core/train/update/injection.hpp"
#include "core/train/update/ownership.hpp"
#include "tests/unit/train/cnn2.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

using namespace dts::train;

namespace {

const ChunkGrid& grid() {
  static const ChunkGrid made(layout());
  return made;
}

Finding found(Found what, int rank, int peer, Span chunks) {
  Finding one;
  one.what = what;
  one.rank = rank;
  one.peer = peer;
  one.chunks = chunks;
  one.set_node("n" + std::to_string(rank));
  return one;
}

// "rank: what" for each, one per line.
std::string in_words(const std::vector<Blame>& blames) {
  std::string text;
  for (const Blame& one : blames) text += std::to_string(one.rank) + ": " + one.what + "\n";
  return text;
}

std::string blamed(const Hierarchy& hierarchy, const std::vector<Finding>& findings) {
  return in_words(judge(grid(), hierarchy, findings));
}

std::string blamed(int ranks, const std::vector<Finding>& findings) {
  return blamed(Hierarchy(ranks), findings);
}

}  // namespace

TEST_CASE("the chunks cover every parameter once, each within one tensor") {
  std::size_t at = 0;
  for (int chunk = 0; chunk < grid().count(); ++chunk) {
    const Range floats = grid().floats_of({chunk, chunk + 1});
    CHECK(floats.begin == at);
    CHECK(floats.begin % 16 == 0);
    CHECK(floats.size() <= ChunkGrid::k_floats);
    const Tensor& tensor = layout().parameter(grid().tensor_of(chunk));
    CHECK(floats.begin >= tensor.offset);
    CHECK(floats.begin < tensor.offset + tensor.count);
    at = floats.end;
  }
  CHECK(at == layout().parameter_floats);
}

TEST_CASE("any number of ranks, or of servers among them, owns each chunk once") {
  for (const int ranks : {1, 2, 3, 5, 8, 16, 211, 1024})
    for (const int servers : {1, 2, 3, 7, ranks}) {
      if (servers > ranks) continue;
      CAPTURE(ranks);
      CAPTURE(servers);
      for (const std::size_t bytes : {0U, 1U, 20000U, 1000000000U}) {
        const Ownership all(grid(), {ranks, servers}, bytes);
        std::size_t at = 0;
        for (int bucket = 0; bucket < all.buckets(); ++bucket) {
          const Span chunks = all.bucket(bucket);
          const std::size_t first = at;
          int with_slices = 0;
          for (const Range slice : all.slices(bucket)) {
            if (slice.size() == 0) continue;
            ++with_slices;
            CHECK(slice.begin == at);
            at = slice.end;
          }
          CHECK(with_slices == std::min(servers, chunks.size()));
          if (bytes > 4096) CHECK(at - first <= bytes / sizeof(float));
          for (int chunk = chunks.lo; chunk < chunks.hi; ++chunk) {
            const Span own = all.owned(all.owner(chunk), bucket);
            CHECK((own.lo <= chunk && chunk < own.hi));
          }
        }
        CHECK(at == layout().parameter_floats);
        const int expected = bytes == 0 || bytes > 1000000 ? 1 : bytes == 1 ? grid().count() : 0;
        CHECK((expected == 0 || all.buckets() == expected));
      }
    }
}

TEST_CASE("servers are spread over the ranks") {
  const Owners two{16, 2};
  CHECK(two.rank_of(0) == 0);
  CHECK(two.rank_of(1) == 8);
  CHECK(two.server_at(8) == 1);
  CHECK(!two.server_at(9));
  CHECK(!two.server_at(15));
}

TEST_CASE(
    "a checksum sees each flipped bit and every swap, the norm every NaN, on all processors") {
  Buffer values(1024);
  for (std::size_t i = 0; i < values.size(); ++i)
    values.data()[i] = static_cast<float>(i) * 0.25F - 100.0F;
  CHECK(sum_squares(values.data(), 16) == doctest::Approx(154077.5));
  for (const std::size_t count : {16U, 144U, 1024U}) {
    const std::uint64_t before = checksum(values.data(), count);
    for (std::size_t i = 0; i < count; i += 5) {
      float& value = values.data()[i];
      const float was = value;
      flip_bit(value);
      CHECK(checksum(values.data(), count) != before);
      value = NAN;
      CHECK_FALSE(std::isfinite(sum_squares(values.data(), count)));
      value = was;
    }
    std::swap(values.data()[0], values.data()[1]);
    CHECK(checksum(values.data(), count) != before);
    std::swap(values.data()[0], values.data()[1]);
    std::swap(values.data()[0], values.data()[count - 16]);
    CHECK((count == 16 || checksum(values.data(), count) != before));
    std::swap(values.data()[0], values.data()[count - 16]);
    CHECK(checksum(values.data(), count) == before);
  }
}

TEST_CASE("kernels of checksums and norms give the same on every instruction set") {
  Buffer values(1040);
  for (std::size_t i = 0; i < values.size(); ++i)
    values.data()[i] = std::sin(static_cast<float>(i)) * 1e-3F;
  const InstructionSet best = best_instruction_set();
  const std::uint64_t sum = checksum(values.data(), values.size());
  const double squares = sum_squares(values.data(), values.size());
  for (int set = 0; set <= static_cast<int>(best); ++set) {
    select_kernels(static_cast<InstructionSet>(set));
    CHECK(checksum(values.data(), values.size()) == sum);
    CHECK(sum_squares(values.data(), values.size()) == squares);
  }
  select_kernels(best);
}

TEST_CASE("the rank is blamed whose copy differs, or the owner if all others differ from it") {
  const Span chunk{9, 10};
  const std::string what = "the weights of " + grid().tensor_of(9) + " (chunk 9)";
  CHECK(blamed(4, {found(Found::weights, 2, 0, chunk)}) ==
        "2: " + what + " are not what their owner had computed\n");
  CHECK(blamed(4,
               {found(Found::weights, 1, 0, chunk),
                found(Found::weights, 2, 0, chunk),
                found(Found::weights, 3, 0, chunk)}) ==
        "0: " + what + " are not what it had computed\n");
  CHECK(blamed(3, {found(Found::weights, 0, 0, chunk)}) ==
        "0: " + what + " are not what their owner had computed\n");
  CHECK(blamed(2, {found(Found::weights, 1, 0, chunk)}).substr(0, 3) == "1: ");
}

TEST_CASE("who handed changed weights on to its node is blamed, not those who have them from it") {
  const Span chunk{9, 10};
  const std::string what = "the weights of " + grid().tensor_of(9) + " (chunk 9)";
  const std::string theirs = ": " + what + " are not what their owner had computed\n";
  const auto changed = [&](const std::vector<int>& ranks) {
    std::vector<Finding> all;
    for (const int rank : ranks) all.push_back(found(Found::weights, rank, 0, chunk));
    return all;
  };
  const Hierarchy two({0, 1, 1});
  CHECK(two.relay(1, 0) == 1);
  CHECK(blamed(two, changed({1, 2})) == "1" + theirs);
  CHECK(blamed(two, changed({2})) == "2" + theirs);
  CHECK(blamed(two, changed({0, 1, 2})) == "0: " + what + " are not what it had computed\n");
  const Hierarchy three({0, 1, 1, 2, 2});
  CHECK(three.relay(2, 0) == 3);
  CHECK(blamed(three, changed({1, 2})) == "1" + theirs);
  CHECK(blamed(three, changed({1, 2, 4})) == "1" + theirs + "4" + theirs);
  CHECK(blamed(three, changed({1, 2, 3, 4})) == "0: " + what + " are not what it had computed\n");
}

TEST_CASE("a changed message is its sender's fault if that has found its own sums changed") {
  const Span chunks{0, 3};
  CHECK(blamed(3, {found(Found::message, 0, 2, chunks), found(Found::gradient, 2, 2, {1, 2})}) ==
        "2: the gradient of " + grid().tensor_of(1) + " changed in its memory\n");
  const std::string between = blamed(3, {found(Found::message, 0, 2, chunks)});
  CHECK(between.substr(0, 4) == "-1: ");
  CHECK(between.find("that rank 2 sent to rank 0 on n0 arrived changed") != std::string::npos);
  CHECK(blamed(3, {found(Found::momentum, 1, 0, {0, 1})}) ==
        "1: the momentum of conv1.weight changed in its memory\n");
}

TEST_CASE("the majority decides who is odd, and without one nobody is right") {
  CHECK(odd_ones({7, 7, 8, 7}) == std::vector<int>{2});
  CHECK(odd_ones({8, 7, 7}) == std::vector<int>{0});
  CHECK(odd_ones({7, 8}) == std::vector<int>{0, 1});
  CHECK(odd_ones({7, 7, 8, 8}) == std::vector<int>{0, 1, 2, 3});
  CHECK(odd_ones({7, 7}).empty());
}

TEST_CASE("audits fall on a share of the steps, on any shard, and on another rank than its owner") {
  constexpr int k_steps = 20000;
  for (const int ranks : {1, 2, 3, 5}) {
    int audits = 0;
    std::vector<int> shards(5);
    std::vector<int> auditors(static_cast<std::size_t>(ranks));
    for (std::uint64_t step = 0; step < k_steps; ++step) {
      const auto audit = audit_of(0.25, 1, step, 5, ranks);
      if (!audit) continue;
      ++audits;
      ++shards.at(static_cast<std::size_t>(audit->shard));
      ++auditors.at(static_cast<std::size_t>(audit->auditor));
      const Span run = part_of({0, 5}, ranks, audit->owner);
      CHECK((run.lo <= audit->shard && audit->shard < run.hi));
      CHECK((audit->auditor != audit->owner) == (ranks > 1));
      const auto alone = audit_of(0.25, 1, step, 5, 1);
      CHECK((alone && alone->shard == audit->shard));  // for any number of ranks
    }
    CHECK(std::abs(audits - k_steps / 4) < 300);  // five standard deviations
    for (const int count : shards) CHECK(count > audits / 5 - 200);
    for (const int count : auditors) CHECK(count > 0);
  }
  CHECK_FALSE(audit_of(0, 1, 7, 5, 2));
  CHECK(audit_of(1, 1, 7, 5, 2));
}

TEST_CASE("an audit blames who computes other sums than the majority of recomputations") {
  const std::string words = "the sums of shard 4 are not what a recomputation gives\n";
  const Audit audit{4, 1, 2};
  CHECK(in_words(judge(audit, {8, 7, {7, 8, 7}})) == "1: " + words);  // its owner, both times
  CHECK(in_words(judge(audit, {8, 7, {7, 7, 7}})) == "1: " + words);  // its owner, once
  CHECK(in_words(judge(audit, {7, 8, {7, 7, 8}})) == "2: " + words);  // the auditor
  CHECK(in_words(judge({4, 0, 1}, {8, 7, {7, 7}})) == "0: " + words);
  CHECK(in_words(judge({4, 0, 1}, {8, 7, {8, 7}})) ==
        "-1: ranks 0 and 1 compute different sums of shard 4, and no majority of recomputations "
        "says which of the two is wrong\n");
  CHECK(in_words(judge({4, 0, 0}, {8, 7, {7}})) == "0: " + words);
  CHECK(in_words(judge({4, 0, 0}, {8, 7, {6}})) == "0: " + words);
}

TEST_CASE("faults on purpose are read, and anything else refused") {
  const auto weight = parse_injection(layout(), "weight:fc2.bias:3@12:1");
  REQUIRE(weight);
  CHECK(weight->element == layout().parameter("fc2.bias").offset + 3);
  CHECK(weight->is_due(Injection::Target::weight, 11));
  CHECK_FALSE(weight->is_due(Injection::Target::weight, 12));
  CHECK_FALSE(weight->is_due(Injection::Target::gradient, 11));
  CHECK(weight->rank == 1);
  CHECK(parse_injection(layout(), "computation:fc2.bias@1:0"));
  CHECK(parse_injection(layout(), "momentum:fc2.bias@1"));
  CHECK(parse_injection(layout(), "statistic:bn2.running_var:31@1:0"));
  CHECK(parse_injection(layout(), "nan:15@4")->shard == 15);
  CHECK(parse_injection(layout(), "call@4:2")->rank == 2);
  CHECK_FALSE(parse_injection(layout(), "call:fc2.bias@4:2"));
  for (const char* const wrong : {"",
                                  "weight",
                                  "weight:fc2.bias:3@12",
                                  "weight:fc2.bias:10@12:1",
                                  "weight:fc9.bias:1@12:1",
                                  "weight:fc2.bias:3@0:1",
                                  "momentum:fc2.bias:3@12:1",
                                  "statistic:fc2.bias:3@12:1",
                                  "nan:x@4",
                                  "nan:1@4:0",
                                  "bias:fc2.bias:3@12:1"})
    CHECK_FALSE(parse_injection(layout(), wrong));
}
