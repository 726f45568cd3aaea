// SPDX-License-Identifier: Apache-2.0
// The template engine: any template is filled in or refused with a place; values are never
// expanded.
#include "core/script/template.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  const dts::script::Values values{{{"a", "{{sh b}}"}, {"b", "x"}}, {{"l", {"{{sh a}}"}}}};
  const auto filled = dts::script::fill_template(input, "t", values);
  if (!filled) {
    must(filled.error().message.rfind("t:", 0) == 0);
    return;
  }
  // Without placeholders it is the template itself, up to a missing last newline.
  if (input.find("{{") != std::string_view::npos) return;
  must(*filled == input || *filled == std::string(input) + "\n");
}
