// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/sequence.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// It reads $?, or a variable that has one.
class Codes {
 public:
  [[nodiscard]] bool follow(const Item& item) {
    const bool reads = item.source.find("$?") != std::string::npos ||
                       item.source.find("PIPESTATUS") != std::string::npos ||
                       std::any_of(names_.begin(), names_.end(), [&item](const std::string& name) {
                         return item.used.count(name) > 0;
                       });
    if (reads) names_.insert(item.sets.variables.begin(), item.sets.variables.end());
    return reads;
  }

 private:
  Names names_;
};

}  // namespace

std::optional<std::size_t> end_of_sequence(const std::vector<Part>& parts,
                                           const std::vector<std::size_t>& places,
                                           bool is_array) {
  if (places.empty()) return std::nullopt;
  Codes codes;
  std::size_t end = places.back() + 1;
  bool acts = false;
  for (std::size_t i = places.front() + 1; i < parts.size(); ++i) {
    if (!codes.follow(parts[i].item)) continue;
    if (parts[i].role == Role::definition) return std::nullopt;
    end = std::max(end, i + 1);
    const Item& item = parts[i].item;
    acts = acts || parts[i].role == Role::program ||
           !(item.only_sets() || ends_only(item) || only_prints(item));
  }
  return acts || (is_array && places.size() > 1) ? std::optional(end) : std::nullopt;
}

bool is_in_sequence(const Part& part) {
  const shell::Command* command = simple_command(*part.item.statement);
  const bool is_trap = command != nullptr && first_word(*command) == "trap";
  const bool is_lost =
      part.verdict.kind == Verdict::Kind::lost && part.verdict.why != k_acts_on_exit;
  return part.role == Role::around && !is_trap && !is_lost;
}

}  // namespace dts::convert
