// SPDX-License-Identifier: Apache-2.0
// A template engine that cannot forget to quote: every placeholder says for which language.
#pragma once

#include "core/base/result.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dts::script {

// Values are data: nothing in them is ever expanded.
struct Values {
  std::map<std::string, std::string> words;  // for {{sh x}}, {{sbatch x}}, {{comment x}}
  std::map<std::string, std::vector<std::string>>
      lines;  // for {{lines x}}: finished lines of the script
};

// `text` with its placeholders filled in:
//   {{sh x}}       one word of POSIX shell
//   {{sbatch x}}   one double-quoted word of an #SBATCH line
//   {{comment x}}  as it is, for comments
//   {{lines x}}    the lines, one below the other; alone on its line, which vanishes where there
//   are none
// A word with a control byte is refused in every language. Errc::invalid with NAME:LINE:COLUMN for
// an unknown name (with the nearest), an unknown language, and {{ or }} without its partner.
[[nodiscard]] Result<std::string> fill_template(std::string_view text,
                                                const std::string& name,
                                                const Values& values);

// `value` as sbatch's own lexer reads it back (Slurm 22.05 to 25.05, src/sbatch/opt.c, not a
// shell's): in double quotes, `\` and `"` escaped. Errc::invalid for control bytes and more than
// 1,024 bytes.
[[nodiscard]] Result<std::string> sbatch_quote(std::string_view value);

}  // namespace dts::script
