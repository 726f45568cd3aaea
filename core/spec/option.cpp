// SPDX-License-Identifier: Apache-2.0
#include "core/spec/option.hpp"

#include <algorithm>

namespace dts::spec {
namespace {

std::vector<Option> in_group(Group group, std::vector<Option> rows) {
  for (Option& row : rows) row.group = group;
  return rows;
}

std::vector<Option> all() {
  std::vector<Option> rows = layout_options();
  for (const auto& part : {running_options(),
                           binding_options(),
                           container_options(),
                           setup_options(),
                           in_group(Group::hosts, host_options()),
                           in_group(Group::slurm, slurm_options())})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

}  // namespace

std::string Option::long_name() const {
  const std::string text = names;
  return text.substr(text.find("--"));
}

std::string Option::json_key() const {
  if (*key != '\0') return key;
  std::string name = long_name().substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

const std::vector<Option>& options() {
  static const std::vector<Option> rows = all();
  return rows;
}

}  // namespace dts::spec
