// SPDX-License-Identifier: Apache-2.0
// dtsubmit lint: findings of any text have a place in it, and what --fix writes needs no second fix
// of the same kind.
#include "core/lint/lint.hpp"
#include "core/lint/place.hpp"
#include "tests/support/fuzz.hpp"
#include "tests/support/sbatch_lexer.hpp"

using dts::tests::must;
using namespace dts::lint;

DTS_FUZZ_TARGET(input) {
  Options options;
  if (!input.empty() && input[0] % 2 == 0) options.site.slurm = dts::Release{26, 5};
  const std::vector<Finding> findings = lint_script(input, options);
  for (const Finding& one : findings) {
    must(one.rule != nullptr && !one.message.empty() && !one.help.empty());
    must(one.span.begin <= one.span.end && one.span.end <= input.size());
    const Excerpt excerpt = excerpt_at(input, one.span.begin);
    must(excerpt.column >= 1 && excerpt.line.find('\n') == std::string::npos);
    must(place_at(input, one.span.end).line >= place_at(input, one.span.begin).line);
    for (const Edit& edit : one.edits)
      must(edit.span.begin <= edit.span.end && edit.span.end <= input.size());
  }
  for (const Finding& one : lint_lines(input, options))
    must(one.span.begin <= one.span.end && one.span.end <= input.size() && one.edits.empty());
  const std::string fixed = apply_edits(input, findings);
  (void)lint_script(fixed, options);
}
