// SPDX-License-Identifier: Apache-2.0
#include "core/base/diagnostics.hpp"

#include <fmt/format.h>

namespace dts {

std::string to_text(const Diagnostic& d) {
  std::string text = d.where.empty() ? d.message : fmt::format("{}: {}", d.where, d.message);
  if (!d.source.empty()) {
    text += fmt::format("\n    | {}", d.source);
    if (d.column > 0) text += fmt::format("\n    | {:>{}}", "^", d.column);
  }
  if (!d.hint.empty()) text += fmt::format("\n  help: {}", d.hint);
  return text;
}

Error to_error(const Diagnostics& diagnostics, Errc code) {
  if (diagnostics.size() == 1 && diagnostics[0].source.empty()) {
    const Diagnostic& d = diagnostics[0];
    return Error{code, d.where.empty() ? d.message : d.where + ": " + d.message, d.hint};
  }
  Error error{code, fmt::format("{} problems:", diagnostics.size()), {}};
  if (diagnostics.size() == 1) error.message.clear();
  for (const Diagnostic& d : diagnostics)
    error.message += (error.message.empty() ? "" : "\n") + to_text(d);
  return error;
}

}  // namespace dts
