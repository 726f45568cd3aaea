// SPDX-License-Identifier: Apache-2.0
// What a script's shell does when a command fails: `set -e` and `set -o pipefail`. Pure.
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
[[nodiscard]] std::string failure_line(std::string_view text, const Failures& failures);

}  // namespace dts::convert
