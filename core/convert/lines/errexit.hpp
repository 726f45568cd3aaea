// SPDX-License-Identifier: Apache-2.0
// Where a script ends at the first line that fails: after `set -e`. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string_view>

namespace dts::convert {

class Errexit {
 public:
  // As in the script's first line: #!/bin/bash -e.
  explicit Errexit(std::string_view text);

  // The item has been run. A `set -e` counts under any condition, a `set +e` only without one: a
  // failure should be noticed.
  void follow(const Item& item);

  [[nodiscard]] bool is_on() const { return is_on_; }

 private:
  bool is_on_;
};

}  // namespace dts::convert
