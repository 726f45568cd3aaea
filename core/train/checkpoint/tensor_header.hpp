// SPDX-License-Identifier: Apache-2.0
// The JSON header of a safetensors file (https://huggingface.co/docs/safetensors). Pure; safe for
// any input.
#pragma once

#include "core/base/result.hpp"
#include "core/train/checkpoint/rows.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dts::train {

// The header of a file with these rows one after another, padded to a multiple of 8 bytes. Its
// __metadata__ lists the rows that are not a complete tensor.
[[nodiscard]] std::string encode_tensor_header(const std::vector<Rows>& rows, std::uint64_t step);

// The largest accepted header, in bytes.
inline constexpr std::uint64_t k_tensor_header_limit = std::uint64_t{64} << 20;

// One tensor of a file.
struct TensorEntry {
  std::string name;
  std::vector<std::size_t> shape;
  std::uint64_t begin = 0;  // offset of its bytes from the end of the header
  std::uint64_t end = 0;
  std::string dtype;  // "F32", as the format names it
};

// Returns the tensors in the order of their bytes. Errc::invalid unless all have types of the
// format and they cover the file's `bytes` after the header without gaps or overlaps, as the format
// requires.
[[nodiscard]] Result<std::vector<TensorEntry>> parse_tensor_header(std::string_view text,
                                                                   std::uint64_t bytes);

}  // namespace dts::train
