// SPDX-License-Identifier: Apache-2.0
#include "core/train/update/chunk_grid.hpp"

#include "core/train/device/kernels.hpp"

#include <limits>

namespace dts::train {

// Twice, because each tensor may end within a chunk.
static_assert(2 * (k_most_parameters / ChunkGrid::k_floats - 1) < std::numeric_limits<int>::max());

ChunkGrid::ChunkGrid(const Layout& layout) {
  for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
    const bool last = i + 1 == layout.parameters.size();
    const std::size_t end = last ? layout.parameter_floats : layout.parameters[i + 1].offset;
    const Tensor& tensor = layout.parameters[i];
    const int first = count();
    for (std::size_t at = tensor.offset; at < end; at += k_floats) {
      begins_.push_back(at);
      of_.push_back(i);
    }
    tensors_.push_back({tensor.name, tensor.decays(), {first, count()}});
  }
  begins_.push_back(layout.parameter_floats);
}

Range ChunkGrid::floats_of(Span chunks) const {
  return {begins_[static_cast<std::size_t>(chunks.lo)],
          begins_[static_cast<std::size_t>(chunks.hi)]};
}

void ChunkGrid::checksums(const float* values, Span chunks, std::uint64_t* out) const {
  for (int chunk = chunks.lo; chunk < chunks.hi; ++chunk) {
    const std::size_t size = floats_of({chunk, chunk + 1}).size();
    *out++ = checksum(values, size);
    values += size;
  }
}

}  // namespace dts::train
