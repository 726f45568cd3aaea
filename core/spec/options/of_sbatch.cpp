// SPDX-License-Identifier: Apache-2.0
#include "core/spec/options/of_sbatch.hpp"

#include <algorithm>
#include <iterator>

namespace dts::spec {
namespace {

struct Other {
  std::string_view name;
  std::string_view letter;  // the short name; empty: none
  const char* instead;
};

constexpr Other k_others[] = {
    {"--array", "-a", "arrays are not supported yet: submit one job for each element"},
    {"--clusters", "-M", "set SLURM_CONF to the other cluster's configuration"},
    {"--export", "", "the job gets your environment; for one variable: -- env NAME=VALUE program"},
    {"--export-file", "", "the job gets your environment; --setup FILE sets more of it"},
    {"--get-user-env", "", "use --setup to set the environment on each node"},
    {"--gid", "", "submit as that user"},
    {"--help", "", "omit it"},
    {"--ignore-pbs", "", "omit it"},
    {"--input", "-i", "standard input is empty: let the program open the file by its name"},
    {"--parsable", "", "--json prints the job's id"},
    {"--quiet", "-Q", "omit it"},
    {"--test-only", "", "--dry-run plans without submitting"},
    {"--uid", "", "submit as that user"},
    {"--usage", "", "omit it"},
    {"--verbose", "-v", "omit it"},
    {"--version", "-V", "omit it"},
    {"--wait", "", "write --wait itself"},
    {"--wrap", "", "write the program after `--`"},
};

}  // namespace

std::optional<std::string> instead_of(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(k_others), std::end(k_others), [&](const Other& other) {
        return other.name == name || (!other.letter.empty() && other.letter == name);
      });
  if (found == std::end(k_others)) return std::nullopt;
  return found->instead;
}

}  // namespace dts::spec
