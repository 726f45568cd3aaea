// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/json.hpp"

#include "core/base/text/json_text.hpp"
#include "core/sweep/axis.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::sweep {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* k_sweep_schema = "dtsubmit/sweep/1";
constexpr const char* k_element_schema = "dtsubmit/element/1";

tl::unexpected<Error> damaged(const std::string& file, const std::string& what) {
  return fail(Errc::invalid, fmt::format("{}: {}", file, what), "it is not as dtsubmit wrote it");
}

// The member, or a default if it is absent or of another type.
template <class T>
T member(const json& object, const char* key, T otherwise = {}) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>)
    return found->is_string() ? found->template get<T>() : otherwise;
  else
    return found->is_number_unsigned() ? found->template get<T>() : otherwise;
}

std::vector<std::string> texts(const json& list) {
  std::vector<std::string> all;
  if (list.is_array())
    for (const json& one : list) all.push_back(one.is_string() ? one.get<std::string>() : "");
  return all;
}

Result<json> object_of(std::string_view text, const std::string& file, const char* schema) {
  json object = json::parse(text, nullptr, false);
  if (!object.is_object() || member<std::string>(object, "schema") != schema)
    return damaged(file, fmt::format("no document of schema {}", schema));
  return object;
}

}  // namespace

std::string to_json(const Sweep& sweep) {
  ordered_json head{{"schema", k_sweep_schema},
                    {"mode", sweep.mode},
                    {"at_once", sweep.at_once},
                    {"array", sweep.array()},
                    {"parameters", sweep.names}};
  if (sweep.seed) head["seed"] = *sweep.seed;
  std::string text = json_line(head);
  text.pop_back();  // the closing brace
  text += ",\n\"elements\":[\n";
  for (const Element& element : sweep.elements) {
    if (&element != &sweep.elements.front()) text += ",\n";
    text += json_line(ordered_json{{"index", element.index}, {"values", element.values}});
  }
  return text + "\n]}\n";
}

Result<Sweep> sweep_from_json(std::string_view text, const std::string& file) {
  DTS_ASSIGN(const json object, object_of(text, file, k_sweep_schema));
  Sweep sweep;
  sweep.mode = member<std::string>(object, "mode");
  sweep.at_once = member<unsigned>(object, "at_once");
  if (object.contains("seed")) sweep.seed = member<std::uint64_t>(object, "seed");
  if (object.contains("parameters")) sweep.names = texts(object["parameters"]);
  for (const std::string& name : sweep.names)
    if (!is_name(name)) return damaged(file, "a parameter without a name");
  if (object.contains("elements") && object["elements"].is_array())
    for (const json& one : object["elements"]) {
      if (!one.is_object() || !one.contains("values")) return damaged(file, "a broken element");
      Element element{member<unsigned>(one, "index"), texts(one["values"])};
      const bool ascends = sweep.elements.empty() || sweep.elements.back().index < element.index;
      if (element.values.size() != sweep.names.size() || !ascends)
        return damaged(file, "a broken element");
      sweep.elements.push_back(std::move(element));
    }
  if (sweep.elements.empty()) return damaged(file, "no elements");
  return sweep;
}

std::string to_json(const Membership& membership) {
  auto parameters = ordered_json::object();
  for (const auto& [name, value] : membership.parameters) parameters[name] = value;
  const ordered_json document{{"schema", k_element_schema},
                              {"index", membership.index},
                              {"array", membership.array.text()},
                              {"lowest", membership.lowest},
                              {"highest", membership.highest},
                              {"count", membership.count},
                              {"parameters", std::move(parameters)}};
  return json_text(document);
}

Result<Membership> membership_from_json(std::string_view text, const std::string& file) {
  DTS_ASSIGN(const json object, object_of(text, file, k_element_schema));
  Membership membership;
  membership.index = member<unsigned>(object, "index");
  membership.array = JobId::parse(member<std::string>(object, "array")).value_or(JobId());
  membership.lowest = member<unsigned>(object, "lowest");
  membership.highest = member<unsigned>(object, "highest");
  membership.count = member<unsigned>(object, "count");
  // Preserves the order of the keys as written.
  const auto ordered = ordered_json::parse(text, nullptr, false);
  if (ordered.contains("parameters") && ordered["parameters"].is_object())
    for (const auto& [name, value] : ordered["parameters"].items()) {
      if (!is_name(name) || !value.is_string()) return damaged(file, "a broken parameter");
      membership.parameters.emplace_back(name, value.get<std::string>());
    }
  return membership;
}

}  // namespace dts::sweep
