// SPDX-License-Identifier: Apache-2.0
#include "core/spec/bind.hpp"

#include "core/base/text/names.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

namespace dts::spec {
namespace {

constexpr Names<BindPolicy, 5> k_bind_policies{{
    {BindPolicy::automatic, "auto"},
    {BindPolicy::compact, "compact"},
    {BindPolicy::spread, "spread"},
    {BindPolicy::none, "none"},
    {BindPolicy::map, "map"},
}};

}  // namespace

Result<Bind> parse_bind(std::string_view text) {
  constexpr std::string_view k_map = "map:";
  Bind bind;
  bind.text = text;
  const auto policy = value_of(k_bind_policies, text);
  if (policy && *policy != BindPolicy::map) {
    bind.policy = *policy;
    return bind;
  }
  if (!text.starts_with(k_map))
    return fail(Errc::invalid,
                fmt::format("`{}` is not a binding", text),
                "one of auto, compact, spread, none, map:LIST;LIST...");
  bind.policy = BindPolicy::map;
  for (const std::string& list : split(text.substr(k_map.size()), ';')) {
    const auto pus = parse_number_list(list, k_highest_cpu);
    if (!pus || pus->empty())
      return fail(Errc::invalid,
                  fmt::format("`{}` in `{}` is not a list of processors", list, text),
                  "for example map:0-3,8;4-7");
    bind.map.push_back(*pus);
  }
  return bind;
}

const char* to_string(BindPolicy policy) {
  return name_of(k_bind_policies, policy);
}

}  // namespace dts::spec
