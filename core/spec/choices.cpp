// SPDX-License-Identifier: Apache-2.0
// Options that take one of a few words.
#include "core/base/text/text.hpp"
#include "core/spec/json_values.hpp"
#include "core/spec/values.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace dts::spec {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

std::string alternatives(const std::vector<std::string>& words) {
  const std::vector<std::string> first(words.begin(), words.end() - 1);
  return join(first, ", ") + " or " + words.back();
}

}  // namespace

Value choice(std::string JobSpec::*member, const char* type, std::vector<std::string> words) {
  Value value = text(member, type);
  value.check = [=](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    if (std::find(words.begin(), words.end(), spec.*member) == words.end())
      problems.push_back({option, "must be " + alternatives(words)});
  };
  return value;
}

Value launcher(Launcher JobSpec::*member) {
  const auto set = [member](const std::string& name, JobSpec& spec) -> Result<void> {
    if (const auto known = launcher_from(name)) {
      spec.*member = *known;
      return {};
    }
    std::vector<std::string> names{"auto"};
    for (const LauncherRow& row : built_in_launchers()) names.emplace_back(row.name);
    return fail(Errc::invalid, "must be " + alternatives(names));
  };
  Value value;
  value.type = "NAME";
  value.parse = set;
  value.read = [set](const json& stored, JobSpec& spec) -> Result<void> {
    std::string name;
    DTS_TRY(read_text(stored, name));
    return set(name, spec);
  };
  value.write = [member](const JobSpec& spec) { return ordered_json(to_string(spec.*member)); };
  return value;
}

}  // namespace dts::spec
