// SPDX-License-Identifier: Apache-2.0
// Writing and checked reading of safetensors headers.
#include "core/train/checkpoint/tensor_header.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace dts::train {
namespace {

using nlohmann::json;

constexpr const char* k_metadata = "__metadata__";

constexpr std::pair<std::string_view, std::uint64_t> k_types[] = {{"F32", 4},
                                                                  {"F16", 2},
                                                                  {"BF16", 2},
                                                                  {"F64", 8},
                                                                  {"I64", 8},
                                                                  {"I32", 4},
                                                                  {"I16", 2},
                                                                  {"I8", 1},
                                                                  {"U64", 8},
                                                                  {"U32", 4},
                                                                  {"U16", 2},
                                                                  {"U8", 1},
                                                                  {"BOOL", 1}};

// Bytes of one number of that type; 0 for a type that the format does not have.
std::uint64_t width_of(const json& type) {
  for (const auto& [name, bytes] : k_types)
    if (type == name) return bytes;
  return 0;
}

// The bytes of a tensor of that shape; nullopt if there are more than `most`.
std::optional<std::uint64_t> bytes_of(const std::vector<std::size_t>& shape,
                                      std::uint64_t width,
                                      std::uint64_t most) {
  std::uint64_t bytes = width;
  for (const std::size_t extent : shape) {
    if (extent != 0 && bytes > most / extent) return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

bool are_unsigned(const json& array) {
  return array.is_array() && std::all_of(array.begin(), array.end(), [](const json& j) {
           return j.is_number_unsigned();
         });
}

Result<TensorEntry> parse_entry(const std::string& name,
                                const json& description,
                                std::uint64_t bytes) {
  const auto bad = [&](const char* what) {
    return fail(Errc::invalid, fmt::format("tensor {}: {}", name, what));
  };
  if (!description.is_object()) return bad("not an object");
  const json type = description.value("dtype", json());
  const std::uint64_t width = width_of(type);
  if (width == 0) return bad("no dtype");
  const json shape = description.value("shape", json());
  if (!are_unsigned(shape)) return bad("no shape");
  const json offsets = description.value("data_offsets", json());
  if (!are_unsigned(offsets) || offsets.size() != 2) return bad("no data_offsets");
  TensorEntry entry{name,
                    shape.get<std::vector<std::size_t>>(),
                    offsets[0].get<std::uint64_t>(),
                    offsets[1].get<std::uint64_t>(),
                    type.get<std::string>()};
  if (entry.end > bytes || entry.begin > entry.end) return bad("lies outside the file");
  if (bytes_of(entry.shape, width, bytes) != entry.end - entry.begin)
    return bad("its bytes are not its shape's");
  return entry;
}

}  // namespace

std::string encode_tensor_header(const std::vector<Rows>& rows, std::uint64_t step) {
  json header = json::object();
  // "pt" is what Hugging Face's programs expect of tensors that PyTorch can use.
  json& metadata = header[k_metadata] = {{"format", "pt"}, {"step", std::to_string(step)}};
  std::size_t at = 0;
  for (const Rows& part : rows) {
    const std::size_t end = at + part.floats() * sizeof(float);
    header[part.name] = {{"dtype", "F32"}, {"shape", part.shape()}, {"data_offsets", {at, end}}};
    at = end;
    if (part.count != part.all())
      metadata[part.name] =
          fmt::format("rows {} to {} of {}", part.first, part.first + part.count, part.all());
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // keeps the tensors aligned
  return text;
}

Result<std::vector<TensorEntry>> parse_tensor_header(std::string_view text, std::uint64_t bytes) {
  const json header = json::parse(text, nullptr, false);
  if (!header.is_object()) return fail(Errc::invalid, "its header is not a JSON object");
  std::vector<TensorEntry> entries;
  for (const auto& [name, description] : header.items()) {
    if (name == k_metadata) continue;
    DTS_ASSIGN(TensorEntry entry, parse_entry(name, description, bytes));
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return a.begin < b.begin;
  });
  std::uint64_t at = 0;
  for (const TensorEntry& entry : entries) {
    if (entry.begin != at)
      return fail(Errc::invalid,
                  fmt::format("tensor {}: begins at {}, not at {}", entry.name, entry.begin, at));
    at = entry.end;
  }
  if (at != bytes)
    return fail(Errc::invalid, fmt::format("tensors of {} bytes, {} in the file", at, bytes));
  return entries;
}

}  // namespace dts::train
