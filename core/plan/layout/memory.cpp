// SPDX-License-Identifier: Apache-2.0
// A memory policy as text, in placement.json and on the control channel.
#include "core/base/text/number_list.hpp"
#include "core/plan/plan.hpp"

namespace dts::plan {
namespace {

constexpr std::pair<MemoryPolicy::Kind, std::string_view> k_kinds[] = {
    {MemoryPolicy::Kind::prefer, "prefer "}, {MemoryPolicy::Kind::bind, "bind "}};

constexpr unsigned k_most_nodes = 1023;  // MAX_NUMNODES of the largest kernels is 1024

}  // namespace

std::string to_text(const MemoryPolicy& policy) {
  for (const auto& [kind, word] : k_kinds)
    if (policy.kind == kind) return std::string(word) + fold_numbers(policy.nodes);
  return "none";
}

std::optional<MemoryPolicy> memory_policy_from(std::string_view text) {
  if (text == "none") return MemoryPolicy{};
  for (const auto& [kind, word] : k_kinds) {
    if (text.substr(0, word.size()) != word) continue;
    auto nodes = parse_number_list(text.substr(word.size()), k_most_nodes);
    if (!nodes || nodes->empty()) return std::nullopt;
    return MemoryPolicy{kind, *std::move(nodes)};
  }
  return std::nullopt;
}

}  // namespace dts::plan
