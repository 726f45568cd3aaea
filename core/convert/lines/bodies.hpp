// SPDX-License-Identifier: Apache-2.0
// What lines use through the functions that they call by name or through a variable. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <functional>
#include <map>
#include <string>

namespace dts::convert {

// The bodies of a script's functions.
class Bodies {
 public:
  // Call it for each statement of the script before add_used().
  void add(const Item& item);

  // Adds `names` to `all`, and what the functions among them use, directly or through others. `all`
  // holds only what this function added.
  void add_used(const Names& names, Names& all) const;

 private:
  std::map<std::string, Names, std::less<>> used_by_function_;
  std::map<std::string, Names, std::less<>> words_of_value_;  // by the variable's name
};

}  // namespace dts::convert
