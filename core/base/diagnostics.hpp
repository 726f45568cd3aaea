// SPDX-License-Identifier: Apache-2.0
// Problems in an input, collected so that all of them are reported at once.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts {

struct Diagnostic {
  std::string where;        // "--nodes", "job.json:7:18"; may be empty
  std::string message;      // one sentence, lower case, no period
  std::string hint = {};    // what to do; may be empty
  std::string source = {};  // the offending line, for the caret; may be empty
  int column = 0;           // 1-based position of the caret in `source`; 0 without one

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

using Diagnostics = std::vector<Diagnostic>;

// For users: "where: error: message", the source line with a caret, "  help: hint".
[[nodiscard]] std::string to_text(const Diagnostic& diagnostic);

// All problems in one Error of kind `code`; there must be at least one.
[[nodiscard]] Error to_error(const Diagnostics& diagnostics, Errc code = Errc::invalid);

}  // namespace dts
