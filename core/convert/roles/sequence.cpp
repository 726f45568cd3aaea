// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/sequence.hpp"

#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/verdict.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// Follows exit codes through the script's variables.
class Codes {
 public:
  // True if `item`, the next one, reads $? or a variable that was set from it.
  [[nodiscard]] bool follow(const Item& item) {
    const bool reads = reads_exit_code(item) ||
                       std::any_of(names_.begin(), names_.end(), [&item](const std::string& name) {
                         return item.used.count(name) > 0;
                       });
    if (reads) names_.insert(item.sets.variables.begin(), item.sets.variables.end());
    return reads;
  }

 private:
  Names names_;
};

// A variable that is set or a folder that is entered between `begin` and `end` matters behind
// `end`.
bool has_effect_behind(const std::vector<Part>& parts, std::size_t begin, std::size_t end) {
  Names set;
  for (std::size_t i = begin; i < parts.size(); ++i) {
    const Item& item = parts[i].item;
    if (i < end) {
      const shell::Command* command = simple_command(*item.statement);
      const std::string word = command == nullptr ? "" : first_word(*command);
      if (word == "cd" || word == "pushd" || word == "source" || word == ".") return true;
      set.insert(item.sets.variables.begin(), item.sets.variables.end());
    } else if (std::any_of(set.begin(), set.end(), [&item](const std::string& name) {
                 return item.used.count(name) > 0;
               })) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::size_t> end_of_sequence(const std::vector<Part>& parts,
                                           const std::vector<std::size_t>& places,
                                           bool is_array) {
  if (places.empty()) return std::nullopt;
  Codes codes;
  std::size_t end = places.back() + 1;
  bool acts = false;
  for (std::size_t i = places.front() + 1; i < parts.size(); ++i) {
    const Item& item = parts[i].item;
    if (!codes.follow(item) || requeues(item)) continue;
    if (parts[i].role == Role::definition) return std::nullopt;
    end = std::max(end, i + 1);
    acts = acts || parts[i].role == Role::program ||
           !(item.only_sets() || ends_only(item) || only_prints(item));
  }
  if (!acts && !(is_array && places.size() > 1)) return std::nullopt;
  return has_effect_behind(parts, places.front(), end) ? parts.size() : end;
}

bool is_in_sequence(const Part& part) {
  const shell::Command* command = simple_command(*part.item.statement);
  const bool is_trap = command != nullptr && first_word(*command) == "trap";
  const bool is_lost =
      part.verdict.kind == Verdict::Kind::lost && part.verdict.why != k_acts_on_exit;
  return part.role == Role::around && !is_trap && !is_lost && !requeues(part.item);
}

}  // namespace dts::convert
