// SPDX-License-Identifier: Apache-2.0
// Functions of a script that print a command and run it: run() { echo "$@"; "$@"; }. Pure.
#pragma once

#include "core/convert/words/names.hpp"
#include "core/shell/syntax.hpp"

#include <map>
#include <optional>
#include <string>

namespace dts::convert {

class Wrappers {
 public:
  // Definitions, in the order of the script.
  void see(const shell::Statement& statement);

  // The name of such a function in a call of it that can go without; nullopt: it is no such call.
  [[nodiscard]] std::optional<shell::Span> wrapper_in(const shell::Statement& statement) const;

 private:
  std::map<std::string, bool> functions_;  // true: it takes its arguments as they are, "$@"
};

}  // namespace dts::convert
