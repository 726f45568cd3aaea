// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan.hpp"

#include <doctest/doctest.h>

namespace dts::plan {

TEST_CASE("a memory policy is written and read back") {
  using Kind = MemoryPolicy::Kind;

  struct {
    MemoryPolicy policy;
    const char* text;
  } const table[] = {{{}, "none"},
                     {{Kind::prefer, {0}}, "prefer 0"},
                     {{Kind::prefer, {0, 2}}, "prefer 0,2"},
                     {{Kind::bind, {0, 1, 2, 3, 8}}, "bind 0-3,8"}};

  for (const auto& row : table) {
    CAPTURE(row.text);
    CHECK(to_text(row.policy) == row.text);
    CHECK(memory_policy_from(row.text) == row.policy);
  }
}

TEST_CASE("an invalid memory policy is refused") {
  for (const char* text : {"", "prefer", "prefer ", "bind 1-", "bind 1024", "Bind 0", "none 0"})
    CHECK_MESSAGE(!memory_policy_from(text), text);
}

}  // namespace dts::plan
