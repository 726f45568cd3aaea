// SPDX-License-Identifier: Apache-2.0
// The first rank of each node reads, checks and publishes the data.
#include "core/train/data/shared_samples.hpp"

#include "core/base/hash.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace dts::train {
namespace {

struct Raw {
  RawSamples train;
  RawSamples test;
};

Result<void> read_both(const std::string& folder, std::size_t limit, Raw& raw) {
  DTS_TRY(read_samples(folder, "train", raw.train));
  DTS_TRY(read_samples(folder, "t10k", raw.test));
  if (limit != 0) raw.train.view.count = std::min(raw.train.view.count, limit);
  return {};
}

// All ranks get an error if any rank had one; only the lowest such rank has its text.
Result<void> settle(Comm& comm, const Result<void>& mine) {
  const Verdict verdict = comm.agree(mine ? 0 : exit_code(Errc::invalid));
  if (verdict.code == 0) return {};
  if (verdict.rank == comm.rank())
    return fail(Errc::invalid, mine.error().message, mine.error().hint);
  return fail(Errc::invalid, "");
}

std::uint64_t hash_of(const Samples& samples, std::uint64_t seed) {
  const std::uint64_t images = hash64(samples.images, samples.count * k_pixels, seed);
  return hash64(samples.labels, samples.count, images);
}

std::uint64_t hash_of_all(const Samples& train, const Samples& test) {
  return hash_of(test, hash_of(train, 0));
}

// The folder of a rank that is not its node's first is not read, but may be another by mistake.
Result<std::uint64_t> hash_of_own(Comm& comm,
                                  const std::string& folder,
                                  std::size_t limit,
                                  const SharedSamples& shared) {
  const std::uint64_t name = hash64(folder);
  std::vector<std::uint64_t> names(static_cast<std::size_t>(comm.size()), name);
  if (comm.size() > 1) comm.post_gather(&name, names.data(), sizeof name);
  comm.barrier();
  if (names[static_cast<std::size_t>(comm.node_root())] == name)
    return hash_of_all(shared.train, shared.test);
  Raw raw;
  DTS_TRY(read_both(folder, limit, raw));
  return hash_of_all(raw.train.view, raw.test.view);
}

// Lays out images, then labels, and copies them if `from` is given.
Samples place(std::byte*& at, std::size_t count, const Samples* from) {
  auto* const images = reinterpret_cast<std::uint8_t*>(at);
  std::uint8_t* const labels = images + count * k_pixels;
  if (from != nullptr) {
    std::memcpy(images, from->images, count * k_pixels);
    std::memcpy(labels, from->labels, count);
  }
  at += count * (k_pixels + 1);
  return {images, labels, count};
}

}  // namespace

Result<SharedSamples> share_samples(Comm& comm,
                                    const std::string& folder,
                                    std::size_t limit_train) {
  Raw raw;
  Result<void> read;
  if (comm.first_on_node()) read = read_both(folder, limit_train, raw);
  DTS_TRY(settle(comm, read));
  std::array<std::uint64_t, 3> header{raw.train.view.count, raw.test.view.count, 0};
  if (comm.rank() == 0) header[2] = hash64(raw.train.view.images, raw.train.view.count * k_pixels);
  comm.broadcast(header.data(), sizeof header);
  if (comm.first_on_node() &&
      (header[0] != raw.train.view.count || header[1] != raw.test.view.count))
    read = fail(Errc::invalid,
                fmt::format("{} on this node differs from that on rank 0's node", folder));
  DTS_TRY(settle(comm, read));
  const auto memory = comm.node_memory((header[0] + header[1]) * (k_pixels + 1));
  DTS_TRY(settle(comm, memory ? Result<void>{} : tl::unexpected(memory.error())));
  std::byte* at = *memory;
  SharedSamples shared;
  shared.train = place(at, header[0], comm.first_on_node() ? &raw.train.view : nullptr);
  shared.test = place(at, header[1], comm.first_on_node() ? &raw.test.view : nullptr);
  shared.hash = header[2];
  comm.barrier();
  const auto own = hash_of_own(comm, folder, limit_train, shared);
  DTS_TRY(settle(comm, own ? Result<void>{} : tl::unexpected(own.error())));
  shared.hash_of_all = *own;
  return shared;
}

}  // namespace dts::train
