// SPDX-License-Identifier: Apache-2.0
// The causes of an attempt's end in words, and what a person can do about each. Pure.
#pragma once

#include "core/run/event/cause.hpp"
#include "core/run/summary/summary.hpp"

namespace dts::cli {

struct CauseWords {
  const char* what;    // a clause: "another job got its nodes"
  const char* advice;  // before the run is continued; empty: nothing. "{job}", "{attempt}", "{run}"
};

[[nodiscard]] CauseWords words_of_cause(run::Cause cause);

// True where `dtsubmit stop` ended the attempt, as its ledger says.
[[nodiscard]] bool is_stop_asked_for(const run::AttemptSummary& attempt);

}  // namespace dts::cli
