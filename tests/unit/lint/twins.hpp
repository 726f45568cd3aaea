// SPDX-License-Identifier: Apache-2.0
// The two scripts of each rule in tests/data/lint.
#pragma once

#include "core/base/files/files.hpp"
#include "core/lint/lint.hpp"
#include "tests/support/source_dir.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace dts::lint {

inline std::string folder_of(const Rule& rule) {
  return tests::in_source(std::string("tests/data/lint/") + rule.id);
}

inline Options options_for(const Rule& rule) {
  Options options;
  options.site.folder_exists = [](const std::string& folder) {
    return folder[0] == '/' ? std::nullopt : std::optional(false);
  };
  const auto slurm = read_file(folder_of(rule) + "/slurm");
  options.site.slurm = release_of(slurm ? *slurm : "22.05");
  return options;
}

inline std::string script_of(const Rule& rule, const char* name) {
  const auto text = read_file(folder_of(rule) + "/" + name);
  REQUIRE_MESSAGE(text, rule.id << " has no " << name);
  return *text;
}

}  // namespace dts::lint
