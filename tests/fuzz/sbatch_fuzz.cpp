// SPDX-License-Identifier: Apache-2.0
// #SBATCH values: sbatch's lexer reads back what was written, as one word, or it was refused.
#include "core/base/text/text.hpp"
#include "core/script/sbatch.hpp"
#include "tests/support/fuzz.hpp"
#include "tests/support/sbatch_lexer.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  (void)dts::tests::read_directives(input);
  const auto quoted = dts::script::sbatch_quote(input);
  must(quoted.has_value() == (dts::is_printable(input) && input.size() <= 1024));
  if (!quoted) return;
  const auto words = dts::tests::read_directives("#SBATCH --x=" + *quoted + "\n#SBATCH --next\n");
  must(words && words->size() == 2 && (*words)[0] == "--x=" + std::string(input) &&
       (*words)[1] == "--next");
}
