// SPDX-License-Identifier: Apache-2.0
// --after: runs that a run waits for. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <string>

namespace dts::spec {

struct After {
  enum class When {
    ok,    // it is done
    any,   // it has ended
    fail,  // it has ended without being done
  };

  std::string run;  // as given to a command; in a submitted run's spec, the run directory
  When when = When::ok;
};

// "RUN", "RUN:ok", "RUN:any" or "RUN:fail". Errc::invalid for an empty name or another condition.
[[nodiscard]] Result<After> parse_after(const std::string& text);

// The inverse of parse_after().
[[nodiscard]] std::string to_text(const After& after);

}  // namespace dts::spec
