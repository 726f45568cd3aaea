// SPDX-License-Identifier: Apache-2.0
// Time limits, memory and shell words: what is read can be written and read again.
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  if (const auto time = dts::parse_time_limit(input)) {
    must(time->count() > 0);
    must(dts::parse_time_limit(dts::format_time_limit(*time)) == *time);
  }
  if (const auto memory = dts::parse_memory_mib(input))
    must(dts::parse_memory_mib(std::to_string(*memory)) == *memory);
  must(dts::is_printable(dts::shell_quote(input)) == dts::is_printable(input));
  must(dts::edit_distance(input.substr(0, 64), input.substr(0, 64)) == 0);
}
