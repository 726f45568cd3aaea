// SPDX-License-Identifier: Apache-2.0
#include "core/spec/file/parts.hpp"

#include "core/base/text/json_bytes.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/units.hpp"
#include "core/spec/file/document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace dts::spec {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* k_others_end = "others end";

Error not_of_part(const Option& row) {
  if (row.json_key() == "job_name")
    return {Errc::invalid, "a part is called by its `name`", "write `name` instead"};
  return {Errc::invalid,
          fmt::format("`{}` belongs to the whole job", row.json_key()),
          "write it outside of the steps and roles"};
}

Result<void> read_name(const json& value, Part& part) {
  if (!value.is_string()) return fail(Errc::invalid, "expected a name, e.g. \"train\"");
  part.name = value.get<std::string>();
  return {};
}

// As --time accepts it: "2:00:00", or a number of minutes.
Result<void> read_time(const json& value, Part& part) {
  const auto text = value.is_string() ? value.get<std::string>() : value.dump();
  JobSpec scratch;
  DTS_TRY(option_of_key("time")->value.parse(text, scratch));
  part.time =
      *scratch.time == std::chrono::seconds::max() ? std::chrono::seconds(0) : *scratch.time;
  return {};
}

struct OnFailureName {
  OnFailure value;
  const char* name;
};

constexpr std::array k_on_failure{OnFailureName{OnFailure::all, "all"},
                                  OnFailureName{OnFailure::alone, "alone"},
                                  OnFailureName{OnFailure::none, "none"}};

Result<void> read_on_failure(const json& value, Part& part) {
  for (const auto& [known, name] : k_on_failure)
    if (value == name) {
      part.on_failure = known;
      return {};
    }
  return fail(Errc::invalid, "expected \"all\", \"alone\" or \"none\"");
}

const char* name_of(OnFailure value) {
  return std::find_if(k_on_failure.begin(),
                      k_on_failure.end(),
                      [&](const auto& one) { return one.value == value; })
      ->name;
}

Result<void> read_until(const json& value, Part& part) {
  if (value != k_others_end)
    return fail(Errc::invalid, fmt::format("expected \"{}\"", k_others_end));
  part.until_others_end = true;
  return {};
}

template <std::string Part::*member>
Result<void> read_role(const json& value, Part& part) {
  if (!value.is_string()) return fail(Errc::invalid, "expected the name of a role");
  part.*member = value.get<std::string>();
  return {};
}

using ReadOwn = Result<void> (*)(const json&, Part&);

// Reader of a key that is not an option.
ReadOwn own_key(const std::string& key, bool is_role) {
  if (key == "name") return read_name;
  if (key == "time") return read_time;
  if (key == "on_failure" && is_role) return read_on_failure;
  if (key == "until" && is_role) return read_until;
  if (key == "waits_for" && is_role) return read_role<&Part::waits_for>;
  if (key == "beside" && is_role) return read_role<&Part::beside>;
  return nullptr;
}

void read_part_key(const std::string& key,
                   const json& value,
                   const std::string& pointer,
                   const Reading& reading,
                   bool is_role,
                   Part& part,
                   Diagnostics& problems) {
  if (const ReadOwn read = own_key(key, is_role)) {
    if (auto done = read(value, part); !done)
      problems.push_back(reading.at_value(pointer, std::move(done).error()));
    return;
  }
  const Option* row = option_of_key(key);
  // check_parts() knows whether the job is heterogeneous.
  if (row != nullptr && !is_of_part(*row) && !(is_role && row->is_of_nodes))
    return problems.push_back(reading.at_key(pointer, not_of_part(*row)));
  if (key == "steps" || key == "roles" || key == "schema")
    return problems.push_back(
        reading.at_key(pointer, {Errc::invalid, fmt::format("a part has no `{}`", key), ""}));
  if (own_key(key, true) != nullptr)
    return problems.push_back(
        reading.at_key(pointer, {Errc::invalid, fmt::format("only a role has `{}`", key), ""}));
  JobSpec scratch;
  read_key(key, value, pointer, reading, scratch, problems);
}

Part read_part(const json& object,
               const std::string& pointer,
               const Reading& reading,
               bool is_role,
               Diagnostics& problems) {
  Part part;
  json given = json::object();
  for (const auto& [key, value] : object.items()) {
    const std::size_t before = problems.size();
    read_part_key(key, value, member_of(pointer, key), reading, is_role, part, problems);
    if (problems.size() > before)
      part.has_unreadable_keys = true;
    else if (own_key(key, is_role) == nullptr)
      given[key] = value;
  }
  part.given = json_line(given);
  part.is_stored = reading.spelling == Spelling::stored;
  return part;
}

}  // namespace

bool is_of_part(const Option& row) {
  const std::string key = row.json_key();
  return row.group == Group::job && key != "job_name" && key != "heterogeneous";
}

bool is_of_each_part(const Option& row, bool heterogeneous) {
  return is_of_part(row) || (heterogeneous && row.is_of_nodes);
}

void read_parts(const json& list,
                const std::string& pointer,
                const Reading& reading,
                std::vector<Part>& parts,
                bool are_roles,
                Diagnostics& problems) {
  parts.clear();
  if (!list.is_array())
    return problems.push_back(reading.at_value(
        pointer,
        {Errc::invalid,
         R"(expected a list of objects, e.g. [{"name": "prep", "command": [...]}])",
         ""}));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = member_of(pointer, std::to_string(i));
    if (list[i].is_object())
      parts.push_back(read_part(list[i], place, reading, are_roles, problems));
    else
      problems.push_back(
          reading.at_value(place, {Errc::invalid, "expected an object { ... }", ""}));
  }
}

ordered_json parts_to_json(const JobSpec& spec) {
  auto list = ordered_json::array();
  const bool are_roles = !spec.roles.empty();
  for (const Part& part : are_roles ? spec.roles : spec.steps) {
    ordered_json object{{"name", part.name}};
    if (part.time.count() > 0) object["time"] = format_time_limit(part.time);
    if (are_roles) object["on_failure"] = name_of(part.on_failure);
    if (part.until_others_end) object["until"] = k_others_end;
    if (!part.waits_for.empty()) object["waits_for"] = part.waits_for;
    if (!part.beside.empty()) object["beside"] = part.beside;
    for (const Option& row : options()) {
      if (!row.value.write || !is_of_each_part(row, spec.heterogeneous)) continue;
      auto value = row.value.write(part.job);
      if (!value.is_null()) object[row.json_key()] = std::move(value);
    }
    object["command"] = bytes_to_json(part.job.command);
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace dts::spec
