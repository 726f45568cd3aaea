// SPDX-License-Identifier: Apache-2.0
// The text of --stage, and the progress that a rank reads: what is accepted stays below the stage
// folder and can be written again.
#include "core/spec/stage.hpp"
#include "core/stage/meter.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;
namespace spec = dts::spec;

DTS_FUZZ_TARGET(input) {
  if (const auto item = spec::parse_stage_item(input)) {
    must(spec::parse_stage_item(spec::to_text(*item)) == *item);
    must(!item->source.empty() && !item->target.empty() && item->target.front() != '/');
    const std::string framed = "/" + item->target + "/";
    for (const char* wrong : {"//", "/../", "/./"}) must(framed.find(wrong) == std::string::npos);
  }
  if (const auto progress = dts::stage::parse_progress(input))
    (void)dts::stage::format_progress(*progress, 0, std::chrono::seconds(1));
}
