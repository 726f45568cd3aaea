// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/bodies.hpp"

#include <vector>

namespace dts::convert {

void Bodies::add(const Item& item) {
  for (const std::string& name : item.sets.functions) {
    Names& used = used_by_function_[name];
    used.insert(item.used.begin(), item.used.end());
    used.insert(item.words.begin(), item.words.end());
  }
  if (!item.sets.functions.empty()) return;
  each_command(*item.statement, [this](const shell::Command& command) {
    for (const shell::Assignment& one : command.assignments) {
      words_of_value_[one.name].insert(literal_of(one.value));
      for (const shell::Word& element : one.elements)
        words_of_value_[one.name].insert(literal_of(element));
    }
  });
}

void Bodies::add_used(const Names& names, Names& all) const {
  std::vector<std::string> open;
  const auto add = [&](const std::string& name) {
    if (all.insert(name).second) open.push_back(name);
  };
  for (const std::string& name : names) add(name);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    const auto function = used_by_function_.find(name);
    if (function != used_by_function_.end())
      for (const std::string& one : function->second) add(one);
    const auto value = words_of_value_.find(name);
    if (value == words_of_value_.end()) continue;
    for (const std::string& word : value->second)  // LAUNCHER=launch_local
      if (used_by_function_.count(word) > 0) add(word);
  }
}

}  // namespace dts::convert
