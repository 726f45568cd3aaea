// SPDX-License-Identifier: Apache-2.0
// Which inherited variables are another job's, although their names do not tell: advice to a rank
// of ours looks like a setting of its user.
#include "core/base/hash.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/plan.hpp"

#include <algorithm>

namespace dts::plan {
namespace {

// The value is part of it, because one that the program has changed is the program's own.
std::string mark(std::string_view name, std::string_view value) {
  const std::string entry = std::string(name).append("=").append(value);
  return std::string(name).append("=").append(to_hex(hash64(entry)));
}

}  // namespace

Environment::value_type advice_of_rank(const Environment& variables) {
  std::vector<std::string> marks;
  for (const auto& [name, value] : variables)
    if (!is_leaky_variable(name)) marks.push_back(mark(name, value));
  return {k_advice_variable, join(marks, " ")};
}

bool is_advice(std::string_view entry, std::string_view advice) {
  const std::size_t end = entry.find('=');
  if (end == std::string_view::npos || advice.empty()) return false;
  const std::vector<std::string> marks = split(advice, ' ');
  const std::string own = mark(entry.substr(0, end), entry.substr(end + 1));
  return std::find(marks.begin(), marks.end(), own) != marks.end();
}

bool holds_for_nested_run(std::string_view name) {
  return name.starts_with("CUDA_") || name.starts_with("ROCR_") || name == "DTSUBMIT_DEADLINE";
}

}  // namespace dts::plan
