// SPDX-License-Identifier: Apache-2.0
#include "core/convert/codes.hpp"

#include "core/convert/lines/effects.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

void lose_codes_of_programs(std::vector<Part>& parts) {
  Names codes;
  bool is_behind = false;
  for (Part& part : parts) {
    is_behind = is_behind || part.role == Role::program;
    if (part.role != Role::around || !is_behind) continue;
    const SetNames& sets = part.item.sets;
    const bool uses = std::any_of(codes.begin(), codes.end(), [&](const std::string& name) {
      return part.item.used.count(name) > 0;
    });
    if (!uses && !reads_exit_code(part.item)) continue;
    codes.insert(sets.variables.begin(), sets.variables.end());
    if (part.verdict.kind != Verdict::Kind::kept) continue;
    if (part.item.runs.empty() || ends_only(part.item))
      part.verdict = {Verdict::Kind::unnecessary,
                      "a program that fails ends the run, with its exit code"};
    else
      part.verdict = {Verdict::Kind::lost, k_acts_on_exit};
  }
}

void lose_codes_of_first_node(std::vector<Part>& parts, std::size_t last) {
  for (std::size_t i = 1; i < std::min(last, parts.size()); ++i) {
    Part& part = parts[i];
    const Item& item = part.item;
    const bool acts = part.role == Role::around && part.verdict.kind == Verdict::Kind::kept &&
                      reads_exit_code(item) && !item.only_sets() && !ends_only(item);
    if (acts && runs_on(parts[i - 1].item) == RunsOn::first)
      part.verdict = {Verdict::Kind::lost, k_acts_on_exit};
  }
}

}  // namespace

void lose_exit_codes(std::vector<Part>& parts, std::size_t last, bool has_many_nodes) {
  lose_codes_of_programs(parts);
  if (has_many_nodes) lose_codes_of_first_node(parts, last);
}

}  // namespace dts::convert
