// SPDX-License-Identifier: Apache-2.0
// What a script's shell does when a command fails, by `set -e` and `set -o pipefail`, and what a
// set-up does then. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string>
#include <string_view>

namespace dts::convert {

struct Failures {
  bool stop = false;           // they end the shell: set -e
  bool count_in_pipe = false;  // in a pipeline, those of every command count: set -o pipefail
};

// True if the script's first line turns the option on: #!/bin/bash -el, #!/bin/bash --login.
// `letter`: 0 if it has none.
[[nodiscard]] bool is_set_at_start(std::string_view text, std::string_view name, char letter);

class Errexit {
 public:
  // As in the script's first line: #!/bin/bash -e.
  explicit Errexit(std::string_view text);

  // The item has been run. A `set -e` counts under any condition, a `set +e` only without one: a
  // failure should be noticed.
  void follow(const Item& item);

  [[nodiscard]] const Failures& now() const { return now_; }

 private:
  Failures now_;
};

// "set -e\n", "set -o pipefail\n" or both, for a shell that runs only `text`. Empty where they make
// no difference.
[[nodiscard]] std::string failure_line(std::string_view text,
                                       const Failures& failures,
                                       bool calls_functions);

// The lines that make a shell treat failures as `wanted`, of those that `matter`. `now`: as it
// does, which is updated.
[[nodiscard]] std::string change_of(Failures& now, const Failures& wanted, const Failures& matter);

// True for a | b, in whatever part of the text.
[[nodiscard]] bool has_pipe(std::string_view text);

struct LinePlace {
  bool is_tear_down = false;
  bool is_code_read = false;  // the next line reads the exit code, which must therefore be kept
  bool is_repeated = false;   // an earlier step has the line as well, or each node runs it
  bool are_pipe_codes_read = false;  // by the next line: PIPESTATUS, which `!` keeps
};

// True for [ -f a ] && exit 1: its exit code may tell of a failure that is none. That of a set-up's
// last line is the set-up's.
[[nodiscard]] bool leaves_code(const Item& item);

// What a line ends with in a set-up, which a failure ends: " || true" where the script goes on.
// `stops`: the script does not. A line that fails where it has run before may fail in every attempt
// but the first, and always where it is repeated within one.
[[nodiscard]] std::string_view failure_of_line(const Item& item,
                                               bool stops,
                                               const LinePlace& place);

}  // namespace dts::convert
