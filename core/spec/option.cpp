// SPDX-License-Identifier: Apache-2.0
#include "core/spec/option.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace dts::spec {
namespace {

std::vector<Option> in_group(Group group, std::vector<Option> rows) {
  for (Option& row : rows) row.group = group;
  return rows;
}

std::vector<Option> rare(std::vector<Option> rows) {
  for (Option& row : rows) row.is_rare = true;
  return in_group(Group::slurm, std::move(rows));
}

std::vector<Option> all() {
  std::vector<Option> rows = layout_options();
  for (const auto& part : {size_options(),
                           running_options(),
                           binding_options(),
                           container_options(),
                           setup_options(),
                           in_group(Group::hosts, host_options()),
                           in_group(Group::check, check_options()),
                           in_group(Group::slurm, slurm_options()),
                           rare(slurm_node_options()),
                           rare(slurm_core_options()),
                           rare(slurm_notice_options()),
                           rare(sweep_options())})
    rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

}  // namespace

std::string Option::long_name() const {
  const std::string text = names;
  return text.substr(text.find("--"));
}

std::string Option::json_key() const {
  return *key != '\0' ? key : file_key();
}

std::string Option::file_key() const {
  std::string name = long_name().substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<std::string> Option::own_variables() const {
  std::string name = "DTSUBMIT_" + file_key();
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::vector<std::string> variables;
  // A rank's environment holds its job's deadline: a job submitted by the rank must have its own.
  if (name != "DTSUBMIT_DEADLINE") variables.push_back(name);
  if (std::string_view(variable).substr(0, 9) == "DTSUBMIT_") variables.emplace_back(variable);
  return variables;
}

const std::vector<Option>& options() {
  static const std::vector<Option> rows = all();
  return rows;
}

const Option* option_named(std::string_view long_name) {
  for (const Option& option : options())
    if (option.long_name() == long_name) return &option;
  return nullptr;
}

const Option* option_of_key(std::string_view key) {
  for (const Option& option : options())
    if (option.file_key() == key || option.json_key() == key) return &option;
  return nullptr;
}

}  // namespace dts::spec
