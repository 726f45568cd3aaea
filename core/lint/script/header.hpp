// SPDX-License-Identifier: Apache-2.0
// The #SBATCH lines of a script as sbatch reads them: by rules of its own, which differ from a
// shell's, up to the first line that is neither blank nor a comment. Source: src/sbatch/opt.c,
// Slurm 22.05 to 26.05. Pure, thread-safe.
#pragma once

#include "core/lint/script/sbatch_options.hpp"
#include "core/shell/syntax.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

using shell::Span;

struct Directive {
  std::string name;                      // "nodes", also for -N or --nod; as typed if unknown
  std::string value;                     // without quotes, as sbatch sees it
  const SbatchOption* option = nullptr;  // null: sbatch itself does not know it
  bool is_letter = false;                // "-N"
  Span span{};                           // the option, and its value if that is in the same word
  Span value_span{};
  std::size_t component = 0;  // number of the component of a heterogeneous job
};

// Something in these lines that sbatch cannot read.
struct HeaderProblem {
  enum class Kind {
    unclosed_quote,
    colon,          // a word that begins with one
    stray_word,     // not an option, nor an option's value
    missing_value,  // of the last option
    unknown_letter,
  };

  Kind kind;
  Span span;
  std::string word;
};

struct Header {
  std::vector<Directive> directives;
  std::vector<HeaderProblem> problems;
  std::size_t components = 1;
  std::size_t end = 0;     // the first byte that sbatch does not read
  bool has_lines = false;  // any line that begins with #SBATCH
};

[[nodiscard]] Header read_header(std::string_view text);

// The last option with this name, which is the one that takes effect; null: none. Only looks at the
// first component.
[[nodiscard]] const Directive* find_directive(const Header& header, std::string_view name);

}  // namespace dts::lint
