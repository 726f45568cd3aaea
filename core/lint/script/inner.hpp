// SPDX-License-Identifier: Apache-2.0
// Batch scripts in the here-documents of another script: handed to sbatch, or written to a file.
// Pure.
#pragma once

#include "core/lint/script/subject.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace dts::lint {

struct InnerScript {
  // A part of the text and where it comes from.
  struct Stretch {
    std::size_t begin = 0;    // in the text
    std::size_t origin = 0;   // in the outer script
    bool is_foreign = false;  // put in by the outer shell, or an option of sbatch's command line
  };

  // As the outer shell writes it. What it expands is a parameter of an unknown value here. The
  // options that sbatch's command line has, which override those of the script, are its last
  // #SBATCH line.
  std::string text;
  std::vector<Stretch> stretches;  // by `begin`
  bool is_verbatim = true;         // an edit of it is one of the outer script
  bool has_command_line = false;   // of sbatch, with options: they override its own

  [[nodiscard]] Span in_outer(Span span) const;
  // Whether it has a foreign part.
  [[nodiscard]] bool touches_foreign(Span span) const;
};

// Those that are surely batch scripts, in order. Where unknown text may be options, none.
[[nodiscard]] std::vector<InnerScript> inner_scripts(const Subject& outer);

}  // namespace dts::lint
