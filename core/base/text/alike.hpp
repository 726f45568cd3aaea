// SPDX-License-Identifier: Apache-2.0
// Groups things that are equal. Pure, thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <type_traits>
#include <vector>

namespace dts {

template <class Key>
struct Alike {
  Key key;
  std::vector<std::size_t> members;  // ascending, never empty
};

// Groups the numbers 0 to count - 1 by key_of(number), in the order of the groups' first members.
// Keys need operator<.
template <class KeyOf>
[[nodiscard]] auto group_alike(std::size_t count, const KeyOf& key_of) {
  using Key = std::decay_t<decltype(key_of(std::size_t{}))>;
  std::vector<Alike<Key>> groups;
  std::map<Key, std::size_t> known;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [place, is_new] = known.try_emplace(key_of(i), groups.size());
    if (is_new) groups.push_back({place->first, {}});
    groups[place->second].members.push_back(i);
  }
  return groups;
}

// Sorts the values and removes duplicates.
template <class Value>
void make_set(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace dts
