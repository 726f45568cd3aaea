// SPDX-License-Identifier: Apache-2.0
// Models with more than 2^31 parameters: the places of everything, and access to them, in memory of
// which hardly any page ever exists.
#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/train/checkpoint/checkpoint.hpp"
#include "core/train/memory/buffer.hpp"
#include "core/train/model/token_blocks.hpp"
#include "core/train/models/model_table.hpp"
#include "core/train/server/roles.hpp"
#include "core/train/update/injection.hpp"
#include "core/train/update/levels.hpp"
#include "core/train/update/ownership.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/train/rank_threads.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

using namespace dts::train;

namespace {

constexpr std::size_t k_int = std::size_t{1} << 31;

// Like Llama 2 7B; nothing of it is allocated.
const Layout& large_layout() {
  static const Layout layout = make_model("llama").value().layout;
  return layout;
}

const ChunkGrid& large_grid() {
  static const ChunkGrid grid(large_layout());
  return grid;
}

// One matrix [k_rows][k_width] with too many elements for an int.
constexpr int k_width = 1024;
constexpr int k_rows = (1 << 21) + 64;

Layout wide_layout() {
  Layout layout;
  layout.add_parameter({.name = "table", .shape = {k_rows, k_width}});
  return layout;
}

}  // namespace

TEST_CASE("a run of an array is divided and compared beyond 2^31") {
  const Range all{5, 3 * k_int + 5};
  CHECK(all.part(3, 1) == Range{k_int + 5, 2 * k_int + 5});
  CHECK(all.part(1024, 1023).end == all.end);
  CHECK(all.bytes() == 12 * k_int);
  CHECK(all.has(3 * k_int));
  CHECK_FALSE(all.has(3 * k_int + 5));
  CHECK(all.common({0, k_int + 7}) == Range{5, k_int + 7});
  CHECK(all.common({4 * k_int, 5 * k_int}).size() == 0);
  CHECK(all.common({0, 5}).size() == 0);
  for (const int parts : {1, 2, 3, 7, 1024})
    for (int index = 0; index < parts; ++index) {
      const Span counted = part_of({3, 1000}, parts, index);
      const Range part = Range{3, 1000}.part(parts, index);
      CHECK(part.begin == static_cast<std::size_t>(counted.lo));
      CHECK(part.end == static_cast<std::size_t>(counted.hi));
    }
}

TEST_CASE("chunks of 7 billion parameters follow each other to the last one") {
  const ChunkGrid& grid = large_grid();
  std::size_t at = 0;
  int wrong = 0;
  for (int chunk = 0; chunk < grid.count(); ++chunk) {
    const Range floats = grid.floats_of({chunk, chunk + 1});
    if (floats.begin != at || floats.size() == 0 || floats.size() > ChunkGrid::k_floats) ++wrong;
    at = floats.end;
  }
  CHECK(wrong == 0);
  CHECK(at == large_layout().parameter_floats);
  CHECK(at > 3 * k_int);
  CHECK(grid.floats_of({0, grid.count()}) == Range{0, at});
  CHECK(grid.tensor_of(grid.count() - 1) == "lm_head.weight");
}

TEST_CASE("7 billion parameters are owned once, in buckets of any size") {
  const std::size_t all = large_layout().parameter_floats;
  for (const int ranks : {1, 3, 64})
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{4000000}, std::size_t{10} << 30}) {
      CAPTURE(ranks);
      CAPTURE(bytes);
      const Ownership ownership(large_grid(), {ranks, ranks}, bytes);
      std::size_t at = 0;
      int wrong = 0;
      for (int bucket = 0; bucket < ownership.buckets(); ++bucket)
        for (const Range slice : ownership.slices(bucket)) {
          wrong += slice.begin == at ? 0 : 1;
          at = slice.end;
        }
      CHECK(wrong == 0);
      CHECK(at == all);
      std::size_t sum = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        sum += ownership.floats_of(rank);
        const auto last = static_cast<std::size_t>(ownership.buckets()) - 1;
        CHECK(ownership.begins_of(rank)[last] +
                  ownership.slices(static_cast<int>(last))[static_cast<std::size_t>(rank)].size() ==
              ownership.floats_of(rank));
      }
      CHECK(sum == all);
      const std::vector<Range> bucket_ranges = ownership.bucket_ranges();
      CHECK(bucket_ranges.front().end == all);
      CHECK(bucket_ranges.back().begin == 0);
      CHECK(ownership.owner(large_grid().count() - 1) == ranks - 1);
    }
  const Roles roles(large_layout(), {4, 2}, Hierarchy(4), 8);
  CHECK(roles.slice_of(0).size() > k_int);
  CHECK(roles.slice_of(0).end == roles.slice_of(2).begin);
  CHECK(roles.slice_of(2).end == all);
}

TEST_CASE("an element beyond 2^31 can be named, within its tensor and not behind it") {
  const Layout layout = wide_layout();
  const auto last = static_cast<std::size_t>(k_rows) * k_width - 1;
  const auto injection = parse_injection(layout, "weight:table:" + std::to_string(last) + "@1:0");
  REQUIRE(injection);
  CHECK(injection->element == last);
  CHECK(!parse_injection(layout, "weight:table:" + std::to_string(last + 1) + "@1:0"));
}

TEST_CASE("shares and headers of a checkpoint of 7 billion parameters") {
  const Layout& layout = large_layout();
  std::size_t floats = 0;
  for (const int parts : {1, 3}) {
    for (int part = 0; part < parts; ++part) {
      const std::vector<Rows> share = share_of(layout, parts, part);
      std::size_t of_share = 0;
      for (const Rows& rows : share) of_share += rows.floats();
      floats += of_share;
      const std::string header = encode_tensor_header(share, 1);
      const auto entries = parse_tensor_header(header, of_share * sizeof(float));
      REQUIRE(entries);
      CHECK(entries->size() == share.size());
      CHECK(entries->back().end == of_share * sizeof(float));
    }
  }
  std::size_t elements = 0;
  for (const Rows& rows : all_rows(layout)) elements += rows.floats();
  CHECK(floats == 2 * elements);
  // The place of the last matrix's momentum.
  CHECK(all_rows(layout).back().range().end == layout.parameter_floats);
}

TEST_CASE("a run beyond 2^31 floats is read out of a checkpoint, and nothing else") {
  const Layout layout = wide_layout();
  const dts::tests::TemporaryFolder folder;
  const std::vector<Rows> rows = all_rows(layout);
  const std::string header = encode_tensor_header(rows, 7);
  const std::uint64_t length = header.size();
  const std::uint64_t begin = sizeof length + length;
  const std::uint64_t bytes = begin + 2 * layout.parameter_floats * sizeof(float);
  const Range run{layout.parameter_floats - 1500, layout.parameter_floats};
  const std::vector<float> values(run.size(), 2.0F);
  // Only the last floats of the weights and of the momentum; the rest of the file is a hole.
  const dts::UniqueFd fd(
      ::open((folder.path + "/state.safetensors").c_str(), O_RDWR | O_CREAT, 0600));
  REQUIRE(::ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0);
  REQUIRE(::pwrite(fd.get(), &length, sizeof length, 0) == sizeof length);
  REQUIRE(::pwrite(fd.get(), header.data(), header.size(), sizeof length) > 0);
  for (const std::size_t array : {0U, 1U})
    REQUIRE(::pwrite(fd.get(),
                     values.data(),
                     run.bytes(),
                     static_cast<off_t>(begin + (array * layout.parameter_floats + run.begin) *
                                                    sizeof(float))) > 0);
  const Manifest manifest{7, 7, 1, 0, {{"state.safetensors", bytes, 0}}, {}};
  REQUIRE(dts::write_file(folder.path + "/" + k_manifest_file, encode_manifest(manifest)));
  State state(layout, false);
  REQUIRE(read_runs(folder.path, layout, {{0, 10}, run}, state));
  CHECK(state.step == 7);
  for (const float* const array : {state.weights.data(), state.momentum.data()}) {
    CHECK(array[run.begin] == 2);
    CHECK(array[run.end - 1] == 2);
    CHECK(array[run.begin - 1] == 0);
    CHECK(array[9] == 0);
  }
  REQUIRE(::ftruncate(fd.get(), static_cast<off_t>(bytes - 1)) == 0);
  const auto cut = read_runs(folder.path, layout, {run}, state);
  REQUIRE(!cut);
  CHECK(cut.error().message == "state.safetensors: " + std::to_string(bytes - 1) +
                                   " bytes, manifest says " + std::to_string(bytes));
}

TEST_CASE("what ranks send each other is found beyond 2^31 floats") {
  constexpr int k_ranks = 3;
  for (const bool by_nodes : {false, true}) {
    const auto ends = on_threads(k_ranks, k_long, [&](Group& group) -> std::string {
      Buffer array = Buffer::sparse(k_int + 4096);
      const Range all{k_int - 96, k_int + 3000};
      std::vector<Range> slices;
      for (int rank = 0; rank < k_ranks; ++rank) slices.push_back(all.part(k_ranks, rank));
      const Range own = slices[static_cast<std::size_t>(group.rank())];
      const auto fill = [&](std::size_t at) { return static_cast<float>(at - all.begin); };
      for (std::size_t at = own.begin; at < own.end; ++at) array.data()[at] = fill(at);
      Levels levels(group, by_nodes ? Hierarchy({0, 0, 1}) : Hierarchy(k_ranks));
      levels.gather({{array.data(), slices}});
      group.barrier();
      for (std::size_t at = all.begin; at < all.end; ++at)
        if (array.data()[at] != fill(at)) return "gathered";
      Group::Scattered scattered;
      const Partials mine{{{group.rank(), group.rank() + 1}, array.data()}};
      group.wait(group.post_scatter(k_ranks, slices, mine, scattered));
      std::vector<float> sums(own.size());
      combine_to(sums.data(), {0, k_ranks}, Group::partials(scattered, own, mine), own.size());
      group.give_back(scattered);
      group.barrier();
      for (std::size_t at = own.begin; at < own.end; ++at)
        if (sums[at - own.begin] != k_ranks * fill(at)) return "summed";
      return "";
    });
    for (const std::string& end : ends) CHECK(end.empty());
  }
}

TEST_CASE("a table of more than 2^31 floats is looked up in, and multiplied with as a tied head") {
  const Layout layout = wide_layout();
  const std::array<std::uint32_t, 2> tokens{k_rows - 3, 1};
  std::vector<float> rows(2 * k_width), d_rows(2 * k_width);
  std::iota(d_rows.begin(), d_rows.end(), 1.0F);
  Buffer weights = Buffer::sparse(layout.parameter_floats);
  Buffer sums = Buffer::sparse(layout.parameter_floats);
  const auto row_of = [](Buffer& table, std::uint32_t token) {
    return table.data() + std::size_t{token} * k_width;
  };
  for (const std::uint32_t token : tokens)
    std::fill_n(row_of(weights, token), k_width, static_cast<float>(token % 1000));
  const Pass pass{true, weights.data(), nullptr, sums.data()};
  const auto table = embedding(layout,
                               {"table", "", 1, 2, k_width, Into::adds},
                               tokens.data(),
                               {rows.data(), d_rows.data()});
  table->forward(pass);
  CHECK(rows.front() == static_cast<float>((k_rows - 3) % 1000));
  CHECK(rows.back() == 1);
  table->backward(pass);
  CHECK(row_of(sums, k_rows - 3)[k_width - 1] == k_width);
  CHECK(row_of(sums, 1)[0] == k_width + 1);

  std::vector<float> logits(2 * std::size_t{k_rows});
  const auto head = projection(
      layout,
      {.weight = "table", .bias = "", .rows = 2, .in = k_width, .out = k_rows, .is_shared = true},
      {rows.data(), d_rows.data()},
      {logits.data(), logits.data()});
  std::fill(rows.begin(), rows.end(), 1.0F);
  head->forward(pass);
  CHECK(logits[k_rows - 3] == static_cast<float>((k_rows - 3) % 1000) * k_width);
  CHECK(logits[k_rows - 2] == 0);
  CHECK(logits[k_rows + 1] == k_width);
}
