// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/chunk_grid.hpp"

#include "core/train/device/kernels.hpp"

namespace dts::train {

ChunkGrid::ChunkGrid(const Layout& layout) {
  const auto total = static_cast<int>(layout.parameter_floats);
  for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
    const bool last = i + 1 == layout.parameters.size();
    const int end = last ? total : static_cast<int>(layout.parameters[i + 1].offset);
    const Tensor& tensor = layout.parameters[i];
    const int first = count();
    for (int at = static_cast<int>(tensor.offset); at < end; at += k_floats) {
      begins_.push_back(at);
      of_.push_back(i);
    }
    tensors_.push_back({tensor.name, tensor.decays(), {first, count()}});
  }
  begins_.push_back(total);
}

std::optional<int> Owners::server_at(int rank) const {
  // The first one at or after this rank.
  const auto server = static_cast<int>((std::int64_t{rank} * servers + ranks - 1) / ranks);
  return server < servers && rank_of(server) == rank ? std::optional(server) : std::nullopt;
}

Span ChunkGrid::owned(const Owners& owners, int rank) const {
  const auto server = owners.server_at(rank);
  return server ? part_of({0, count()}, owners.servers, *server) : Span{};
}

int ChunkGrid::owner(const Owners& owners, int chunk) const {
  return owners.rank_of(owner_in({0, count()}, owners.servers, chunk));
}

Span ChunkGrid::floats_of(Span chunks) const {
  return {begins_[static_cast<std::size_t>(chunks.lo)],
          begins_[static_cast<std::size_t>(chunks.hi)]};
}

std::vector<Span> ChunkGrid::slices(const Owners& owners) const {
  std::vector<Span> all;
  for (int rank = 0; rank < owners.ranks; ++rank) all.push_back(floats_of(owned(owners, rank)));
  return all;
}

void ChunkGrid::checksums(const float* values, Span chunks, std::uint64_t* out) const {
  for (int chunk = chunks.lo; chunk < chunks.hi; ++chunk) {
    const auto size = static_cast<std::size_t>(floats_of({chunk, chunk + 1}).size());
    *out++ = checksum(values, size);
    values += size;
  }
}

}  // namespace dts::train
