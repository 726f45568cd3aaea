// SPDX-License-Identifier: Apache-2.0
// Functions of a script that print a command and run it: run() { echo "$@"; srun "$@"; }. Pure.
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

  struct Wrapper {
    shell::Span name;      // in a call of it that can go without
    shell::Span launcher;  // what its definition has before "$@": srun -n 4; empty: nothing
  };

  // nullopt: it is no such call.
  [[nodiscard]] std::optional<Wrapper> wrapper_in(const shell::Statement& statement) const;

 private:
  struct Function {
    bool takes_words = false;  // its arguments as they are, "$@"
    shell::Span launcher;
  };

  std::map<std::string, Function> functions_;
};

}  // namespace dts::convert
