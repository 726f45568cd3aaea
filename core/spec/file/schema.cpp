// SPDX-License-Identifier: Apache-2.0
// The published schema of job files. It probes each option's own reader for the kinds of value that
// it takes, so the two cannot disagree.
#include "core/spec/file/parts.hpp"
#include "core/spec/file/write.hpp"
#include "core/spec/json.hpp"
#include "core/spec/option.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace dts::spec {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

bool takes(const Option& option, const json& value) {
  JobSpec scratch;
  return option.value.read && option.value.read(value, scratch).has_value();
}

// Schema of the option's command-line text.
ordered_json text_of(const Option& option) {
  if (!option.value.words.empty()) {
    ordered_json words = option.value.words;
    words.push_back("");  // the built-in value
    return {{"enum", words}};
  }
  const bool is_whole = std::string_view(option.value.type) == "N";
  return {{"type", {"string", is_whole ? "integer" : "number"}}};
}

ordered_json schema_of_option(const Option& option) {
  const std::string help = option.help;
  if (*option.value.type == '\0') return {{"description", help}, {"type", "boolean"}};
  ordered_json kinds = ordered_json::array({text_of(option)});
  if (option.value.repeats)
    kinds.push_back({{"type", "array"}, {"items", {{"type", {"string", "number"}}}}});
  else if (takes(option, json::array()))
    kinds.push_back({{"type", "array"}, {"items", {{"type", "string"}}}});
  if (takes(option, json::object()))
    kinds.push_back({{"type", "object"}, {"additionalProperties", {{"type", "string"}}}});
  if (takes(option, true)) kinds.push_back({{"type", "boolean"}});
  return {{"description", help}, {"anyOf", kinds}};
}

ordered_json schema_of_command() {
  const ordered_json bytes{{"type", "object"},
                           {"properties", {{"hex", {{"type", "string"}}}}},
                           {"required", {"hex"}},
                           {"additionalProperties", false}};
  const ordered_json words{
      {"type", "array"},
      {"items", {{"anyOf", ordered_json::array({{{"type", "string"}}, bytes})}}}};
  return {{"description", "the program and its arguments, as a list or as one text"},
          {"anyOf", ordered_json::array({words, {{"type", "string"}}})}};
}

// Steps or roles; see read_parts().
ordered_json schema_of_parts(bool are_roles) {
  ordered_json properties{{"name", {{"type", "string"}}},
                          {"command", schema_of_command()},
                          {"time", {{"type", {"string", "number"}}}}};
  if (are_roles) properties["on_failure"] = {{"enum", {"all", "alone", "none"}}};
  if (are_roles) properties["until"] = {{"const", "others end"}};
  for (const char* role : {"waits_for", "beside"})
    if (are_roles) properties[role] = {{"type", "string"}};
  for (const Option& option : options()) {
    if (!is_of_part(option) && !(are_roles && option.is_of_nodes)) continue;
    properties[option.file_key()] = schema_of_option(option);
    properties[option.json_key()] = schema_of_option(option);
  }
  return {{"description", are_roles ? "programs side by side" : "programs one after another"},
          {"type", "array"},
          {"items",
           {{"type", "object"},
            {"required", {"name", "command"}},
            {"additionalProperties", false},
            {"properties", properties}}}};
}

}  // namespace

std::string job_file_schema() {
  ordered_json properties;
  for (const std::string& key : known_keys(Spelling::typed))
    properties[key] = ordered_json::object();
  for (const Option& option : options()) {
    properties[option.file_key()] = schema_of_option(option);
    properties[option.json_key()] = schema_of_option(option);
  }
  properties["$schema"] = {{"type", "string"}};
  properties["schema"] = {{"const", k_spec_schema}};
  properties["command"] = schema_of_command();
  properties["steps"] = schema_of_parts(false);
  properties["roles"] = schema_of_parts(true);
  ordered_json exclusions = ordered_json::array();  // two spellings of one key
  for (const Option& option : options())
    if (option.file_key() != option.json_key())
      exclusions.push_back(
          {{"not", {{"required", ordered_json::array({option.file_key(), option.json_key()})}}}});
  const ordered_json document{{"$schema", "http://json-schema.org/draft-07/schema#"},
                              {"title", "dtsubmit job file"},
                              {"type", "object"},
                              {"additionalProperties", false},
                              {"allOf", exclusions},
                              {"properties", properties}};
  return document.dump(2) + "\n";
}

}  // namespace dts::spec
