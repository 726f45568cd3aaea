// SPDX-License-Identifier: Apache-2.0
// --export: which variables of the submitting shell a job gets. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts::spec {

struct Exports {
  bool all = false;                   // every variable of the submitting shell
  bool logs_in = false;               // also those of a login on the node; the others override them
  std::vector<std::string> names;     // passed on if the submitting shell has them
  std::vector<std::string> settings;  // "NAME=VALUE"
};

// "ALL", "NONE", "NIL" or a list of NAME, NAME=VALUE and ALL, as sbatch(1) describes them; a value
// with commas is in quotation marks. Errc::invalid for anything that names no variable.
[[nodiscard]] Result<Exports> parse_exports(const std::string& text);

// True if the job gets the value that the submitting shell gives this variable.
[[nodiscard]] bool passes_on(const Exports& exports, const std::string& name);

}  // namespace dts::spec
