// SPDX-License-Identifier: Apache-2.0
// Batch scripts in here-documents of another script, which passes them to sbatch or writes them to
// a file. Pure.
#pragma once

#include "core/lint/script/subject.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace dts::lint {

struct InnerScript {
  // A part of the text, and its origin.
  struct Stretch {
    std::size_t begin = 0;    // in `text`
    std::size_t origin = 0;   // in the outer script
    bool is_foreign = false;  // inserted by the outer shell, or from sbatch's command line
  };

  // The script as the outer shell writes it. Where that expands something, there is a parameter of
  // unknown value. If sbatch's command line has options, which override the script's own, they form
  // the last #SBATCH line.
  std::string text;
  std::vector<Stretch> stretches;  // by `begin`
  bool is_verbatim = true;         // edits can be made in the outer script
  bool has_command_line = false;   // sbatch's command line has options

  [[nodiscard]] Span in_outer(Span span) const;
  // True if the span contains a foreign part.
  [[nodiscard]] bool touches_foreign(Span span) const;
};

// All here-documents that are certainly batch scripts, in order, except those in which unknown text
// may contain options.
[[nodiscard]] std::vector<InnerScript> inner_scripts(const Subject& outer);

}  // namespace dts::lint
