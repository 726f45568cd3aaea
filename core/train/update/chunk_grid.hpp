// SPDX-License-Identifier: Apache-2.0
// The canonical grid over the flat array of parameters, which cuts each tensor into chunks.
// Checksums, norms and ownership (ownership.hpp) are per chunk. The grid depends only on the
// layout, so that none of them changes with the number of ranks. Pure, thread-safe.
#pragma once

#include "core/train/comm/tree.hpp"
#include "core/train/model/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dts::train {

class ChunkGrid {
 public:
  static constexpr std::size_t k_floats =
      1024;  // of a chunk; the last one of a tensor may have fewer

  explicit ChunkGrid(const Layout& layout);

  [[nodiscard]] int count() const { return static_cast<int>(of_.size()); }

  // The name of the tensor that contains the chunk.
  [[nodiscard]] const std::string& tensor_of(int chunk) const { return tensor(chunk).name; }

  // Whether that tensor decays (Tensor::decays).
  [[nodiscard]] bool decays(int chunk) const { return tensor(chunk).decays; }

  // All chunks of the tensor that contains `chunk`.
  [[nodiscard]] Span tensor_chunks(int chunk) const { return tensor(chunk).chunks; }

  // The floats of a run of chunks.
  [[nodiscard]] Range floats_of(Span chunks) const;

  // Writes checksum() of each chunk of the run to `out`; `values` points to the first chunk.
  void checksums(const float* values, Span chunks, std::uint64_t* out) const;

 private:
  struct TensorChunks {
    std::string name;
    bool decays = false;
    Span chunks;
  };

  std::vector<std::size_t> begins_;  // of each chunk, and the end of the last; multiples of 16

  [[nodiscard]] const TensorChunks& tensor(int chunk) const {
    return tensors_[of_[static_cast<std::size_t>(chunk)]];
  }

  std::vector<TensorChunks> tensors_;
  std::vector<std::size_t> of_;  // by chunk, its index in tensors_
};

}  // namespace dts::train
