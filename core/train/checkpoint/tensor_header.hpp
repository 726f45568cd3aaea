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

// The header of a file with these rows one after the other, padded to a multiple of 8 bytes. Rows
// that are not a whole tensor are named in its __metadata__.
[[nodiscard]] std::string encode_tensor_header(const std::vector<Rows>& rows, std::uint64_t step);

// Of a file that is read.
inline constexpr std::uint64_t k_tensor_header_limit = std::uint64_t{64} << 20;  // bytes

// One tensor of a file.
struct TensorEntry {
  std::string name;
  std::vector<std::size_t> shape;
  std::uint64_t begin = 0;  // of its bytes, counted from the end of the header
  std::uint64_t end = 0;
  std::string dtype;  // "F32", as the format names it
};

// In the order of their bytes. Errc::invalid unless the tensors have types of the format, and cover
// the file's `bytes` after the header without gaps or overlaps, as the format demands.
[[nodiscard]] Result<std::vector<TensorEntry>> parse_tensor_header(std::string_view text,
                                                                   std::uint64_t bytes);

}  // namespace dts::train
