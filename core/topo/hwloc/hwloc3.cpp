// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/hwloc3.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace dts::topo {
namespace {

constexpr std::string_view k_blanks = " \t\r\n";

// The value of an attribute in the tag `tag`, a part of it; without data if it has none.
std::string_view value_of(std::string_view tag, std::string_view attribute) {
  for (std::size_t at = 1; (at = tag.find(attribute, at)) != std::string_view::npos; ++at) {
    const std::string_view rest = tag.substr(at + attribute.size());
    if (k_blanks.find(tag[at - 1]) == std::string_view::npos ||
        !(rest.starts_with("=\"") || rest.starts_with("='")))
      continue;
    const std::size_t end = rest.find(rest[1], 2);
    return end == std::string_view::npos ? std::string_view() : rest.substr(2, end - 2);
  }
  return {};
}

// The first tag or comment of the text, with what follows up to the next one.
std::string_view first_piece(std::string_view text) {
  constexpr std::string_view k_comment = "<!--";
  const std::size_t behind = text.starts_with(k_comment) ? text.find("-->", k_comment.size()) : 1;
  return text.substr(0, text.find('<', std::min(behind, text.size())));
}

// hwloc 2's type of the OS device `tag` (HWLOC_OBJ_OSDEV_*), which has `types` of hwloc 3.
std::string type_of_device(std::uint64_t types, std::string_view tag) {
  enum Types : unsigned {
    storage = 1,
    memory = 2,
    gpu = 4,
    coprocessor = 8,
    network = 16,
    openfabrics = 32,
    dma = 64
  };

  enum Type2 : unsigned { block_2, gpu_2, network_2, openfabrics_2, dma_2, coprocessor_2 };

  const auto type = [&] {
    if ((types & (storage | memory)) != 0) return block_2;
    if ((types & openfabrics) != 0 || value_of(tag, "subtype") == "BXI") return openfabrics_2;
    if ((types & network) != 0) return network_2;
    if ((types & dma) != 0) return dma_2;
    const std::string_view name = value_of(tag, "name");
    const bool was_gpu = name.starts_with("nvml") || name.starts_with("rsmi");
    return (types & coprocessor) != 0 && !was_gpu ? coprocessor_2 : gpu_2;
  };
  return types == 0 ? "0" : std::to_string(type());
}

std::string kind_of_distances(std::uint64_t kind) {
  constexpr std::uint64_t k_latency = 4;  // HWLOC_DISTANCES_KIND_MEANS_LATENCY
  constexpr std::uint64_t k_hops = 32;    // HWLOC_DISTANCES_KIND_VALUE_HOPS
  return std::to_string((kind & k_hops) != 0 ? (kind & ~k_hops) | k_latency : kind);
}

// Appends a tag, with translate(value) as the attribute's value if it has it.
template <typename Translate>
void append(std::string& out,
            std::string_view tag,
            std::string_view attribute,
            const Translate& translate) {
  const std::string_view value = value_of(tag, attribute);
  if (value.data() == nullptr) {
    out += tag;
    return;
  }
  const auto first = static_cast<std::size_t>(value.data() - tag.data());
  out += tag.substr(0, first);
  out += translate(value);
  out += tag.substr(first + value.size());
}

// The same for a number; what is none stays.
template <typename Translate>
void append_number(std::string& out,
                   std::string_view tag,
                   std::string_view attribute,
                   const Translate& translate) {
  append(out, tag, attribute, [&](std::string_view value) {
    const auto number = parse_number(value);
    return number ? translate(*number) : std::string(value);
  });
}

}  // namespace

std::string_view version_of(std::string_view text) {
  while (!text.empty()) {
    const std::string_view piece = first_piece(text);
    if (piece.starts_with("<topology")) {
      const std::string_view value = value_of(piece, "version");
      return value.substr(0, value.find_first_not_of("0123456789."));
    }
    text.remove_prefix(piece.size());
  }
  return {};
}

std::string as_version_2(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::string_view tag = first_piece(text);
    if (tag.starts_with("<topology"))
      append(out, tag, "version", [](auto) { return "2.0"; });
    else if (tag.starts_with("<object"))
      append_number(out, tag, "osdev_type", [&](auto types) { return type_of_device(types, tag); });
    else if (tag.starts_with("<distances2"))
      append_number(out, tag, "kind", kind_of_distances);
    else
      out += tag;
    text.remove_prefix(tag.size());
  }
  return out;
}

}  // namespace dts::topo
