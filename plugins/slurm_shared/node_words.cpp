// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/node_words.hpp"

#include <cctype>

namespace slurm_plugin {
namespace {

// One entry of a Gres list, without its "(S:...)": "gpu", "gpu:8", "gpu:a100:8".
unsigned gpus_of_entry(std::string_view entry) {
  entry = entry.substr(0, entry.find('('));
  if (entry.substr(0, 3) != "gpu" || (entry.size() > 3 && entry[3] != ':')) return 0;
  if (entry.size() == 3) return 1;
  const std::string_view number = entry.substr(entry.rfind(':') + 1);
  unsigned count = 0;
  for (const char digit : number) {
    if (std::isdigit(static_cast<unsigned char>(digit)) == 0) return 1;  // "gpu:a100"
    count = count * 10 + static_cast<unsigned>(digit - '0');
  }
  return count;
}

}  // namespace

std::string node_state_word(const NodeState& state) {
  std::string word = state.base;
  const bool busy = state.base == "allocated" || state.base == "mixed" || state.completing;
  if (state.invalid)
    word = "inval";
  else if (state.drain)
    word = busy ? "draining" : "drained";
  else if (state.maintenance && !busy)
    word = "maint";
  else if (state.reserved && state.base == "idle")
    word = "reserved";
  else if (state.completing)
    word = "completing";
  if (state.silent) word += '*';
  return word;
}

bool is_lost(std::string_view state) {
  return state.find('*') != std::string_view::npos || state.rfind("down", 0) == 0;
}

bool is_away(std::string_view state) {
  if (is_lost(state)) return true;
  for (const std::string_view word : {"drain", "fail", "error", "inval"})
    if (state.rfind(word, 0) == 0) return true;
  return false;
}

unsigned count_gpus(const char* gres) {
  if (gres == nullptr) return 0;
  unsigned total = 0;
  int depth = 0;
  std::string entry;
  for (const char c : std::string_view(gres)) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      total += gpus_of_entry(entry);
      entry.clear();
    } else {
      entry += c;
    }
  }
  return total + gpus_of_entry(entry);
}

}  // namespace slurm_plugin
