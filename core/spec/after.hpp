// SPDX-License-Identifier: Apache-2.0
// --after: runs that a run waits for. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <string>

namespace dts::spec {

struct After {
  enum class When {
    ok,    // it is done
    any,   // it is over
    fail,  // it is over without being done
  };

  std::string run;  // as a command names it; in the spec of a submitted run the run directory
  When when = When::ok;
};

// "RUN", "RUN:ok", "RUN:any" or "RUN:fail". Errc::invalid for an empty name and for another word.
[[nodiscard]] Result<After> parse_after(const std::string& text);

// The inverse.
[[nodiscard]] std::string to_text(const After& after);

}  // namespace dts::spec
