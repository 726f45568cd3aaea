// SPDX-License-Identifier: Apache-2.0
// What lines use through the functions that they call, by name or in a variable. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <functional>
#include <map>
#include <string>

namespace dts::convert {

class Bodies {
 public:
  // `item` is a line of the script.
  void add(const Item& item);

  // Adds to `names` what the functions among them use, and so on.
  void complete(Names& names) const;

 private:
  std::map<std::string, Names, std::less<>> used_by_function_;
  std::map<std::string, Names, std::less<>> words_of_value_;  // by the variable's name
};

}  // namespace dts::convert
