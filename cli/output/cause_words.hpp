// SPDX-License-Identifier: Apache-2.0
// Texts for the causes of an attempt's end, and advice for each. Pure.
#pragma once

#include "core/run/event/cause.hpp"
#include "core/run/summary/summary.hpp"

#include <string_view>

namespace dts::cli {

struct CauseWords {
  const char* what;    // a clause: "another job got its nodes"
  const char* advice;  // before continuing the run; empty: none. "{job}", "{attempt}", "{run}"
};

// `detail`: what the ledger says of the end.
[[nodiscard]] CauseWords words_of_cause(run::Cause cause, std::string_view detail);

// True if, according to its ledger, the attempt was ended by `dtsubmit stop`.
[[nodiscard]] bool is_stop_asked_for(const run::AttemptSummary& attempt);

}  // namespace dts::cli
