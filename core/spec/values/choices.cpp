// SPDX-License-Identifier: Apache-2.0
// Options whose text is one of a few words, or maps to a value.
#include "core/base/text/text.hpp"
#include "core/spec/values/json_values.hpp"
#include "core/spec/values/values.hpp"

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

// A text that is parsed into a value when it is read.
template <class Parsed, class Parse, class Write>
Value parsed_text(const char* type, Parsed JobSpec::*member, Parse parse, Write write) {
  Value value;
  value.type = type;
  value.parse = [=](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(spec.*member, parse(typed));
    return {};
  };
  value.read = [=](const json& stored, JobSpec& spec) -> Result<void> {
    std::string text;
    DTS_TRY(read_text(stored, text));
    DTS_ASSIGN(spec.*member, parse(text));
    return {};
  };
  value.write = [=](const JobSpec& spec) { return ordered_json(write(spec.*member)); };
  return value;
}

}  // namespace

Value choice(std::string JobSpec::*member, const char* type, std::vector<std::string> words) {
  Value value = text(member, type);
  value.words = words;
  value.check = [=](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    if (std::find(words.begin(), words.end(), spec.*member) == words.end())
      problems.push_back({option, "must be " + alternatives(words)});
  };
  return value;
}

Value launcher(Launcher JobSpec::*member) {
  std::vector<std::string> names{"auto"};
  for (const LauncherRow& row : built_in_launchers()) names.emplace_back(row.name);
  const auto parse = [names](const std::string& name) -> Result<Launcher> {
    if (const auto known = launcher_from(name)) return *known;
    return fail(Errc::invalid, "must be " + alternatives(names));
  };
  Value value = parsed_text("NAME", member, parse, [](Launcher one) { return to_string(one); });
  value.words = names;
  return value;
}

Value bind(Bind JobSpec::*member) {
  return parsed_text("POLICY", member, parse_bind, [](const Bind& one) { return one.text; });
}

}  // namespace dts::spec
