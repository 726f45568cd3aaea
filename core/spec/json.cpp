// SPDX-License-Identifier: Apache-2.0
#include "core/spec/json.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/text/json_bytes.hpp"
#include "core/base/text/json_text.hpp"
#include "core/spec/file/document.hpp"
#include "core/spec/file/parts.hpp"
#include "core/spec/file/read_keys.hpp"
#include "core/spec/option.hpp"
#include "core/spec/parts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::spec {

std::string to_json(const JobSpec& spec) {
  nlohmann::ordered_json document = {{"schema", k_spec_schema}};
  for (const Option& option : options()) {
    if (!option.value.write) continue;
    auto value = option.value.write(spec);
    if (!value.is_null()) document[option.json_key()] = std::move(value);
  }
  document["command"] = bytes_to_json(spec.command);
  if (is_composed(spec)) document[spec.roles.empty() ? "steps" : "roles"] = parts_to_json(spec);
  // validate() rejects strings that are not UTF-8, which json_text() would replace.
  return json_text(document);
}

Result<JobSpec> from_json(std::string_view text, const std::string& file) {
  Diagnostics problems;
  const auto document = parse_json(text, file, problems);
  if (!document) return tl::unexpected(to_error(problems));
  const nlohmann::json& value = document->value();
  if (!value.is_object()) return fail(Errc::invalid, file + ": expected an object { ... }");
  if (!value.contains("schema"))
    problems.push_back(
        {file, "no \"schema\"", fmt::format("add \"schema\": \"{}\"", k_spec_schema)});
  JobSpec spec;
  read_keys(value, "", reading_of(*document, Spelling::stored), spec, problems);
  resolve_parts(spec, problems);
  if (!problems.empty()) return tl::unexpected(to_error(problems));
  return spec;
}

}  // namespace dts::spec
