// SPDX-License-Identifier: Apache-2.0
#include "core/spec/file/locate.hpp"

#include "core/base/text/text.hpp"
#include "core/spec/parts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace dts::spec {
namespace {

using nlohmann::json;

void place_at(const Setting& setting, const std::string& pointer, Diagnostic& problem) {
  problem = setting.reading.at_value(pointer, {Errc::invalid, problem.message, problem.hint});
}

// `where` is an option's name, or a key that is no option.
bool locate_key(const Layer& settings, const std::string& where, Diagnostic& problem) {
  const Option* option = option_named(where);
  const Setting* setting = setting_of_key(settings, option != nullptr ? option->file_key() : where);
  if (setting == nullptr) return false;
  place_at(*setting, setting->pointer, problem);
  return true;
}

// The pointer to the option's value in a part; empty if the part does not set it.
std::string pointer_in_part(const json& part, const std::string& pointer, const Option& option) {
  for (const std::string& key : {option.file_key(), option.json_key()})
    if (part.contains(key)) return member_of(pointer, key);
  return "";
}

// `words` are those of the part; the problem is its own or one of its options': "role `data`:
// --nodes".
void place_in_part(const Layer& settings,
                   const Setting& parts,
                   std::size_t index,
                   const std::string& words,
                   Diagnostic& problem) {
  const std::string pointer = member_of(parts.pointer, std::to_string(index));
  const std::string where = problem.where.substr(std::min(problem.where.size(), words.size() + 2));
  if (where.empty()) return place_at(parts, pointer, problem);
  const Option* option = option_named(where);
  const std::string own =
      option == nullptr ? "" : pointer_in_part((*parts.value)[index], pointer, *option);
  if (!own.empty()) return place_at(parts, own, problem);
  Diagnostic of_job{where, fmt::format("{}: {}", words, problem.message), problem.hint};
  if (locate_key(settings, where, of_job)) {
    problem = std::move(of_job);
    return;
  }
  problem.message = fmt::format("{}: {}", where, problem.message);
  place_at(parts, pointer, problem);
}

// A part of the settings, by the words for it.
struct Place {
  const Setting* parts;
  std::size_t index;
};

using Places = std::map<std::string, Place>;

// A name that is given twice is a problem of the last part that has it.
Places places_of_parts(const Layer& settings) {
  Places places;
  for (const char* list : {"steps", "roles"}) {
    const Setting* parts = setting_of_key(settings, list);
    if (parts == nullptr || !parts->value->is_array()) continue;
    for (std::size_t i = 0; i < parts->value->size(); ++i) {
      const json& part = (*parts->value)[i];
      const auto name = part.is_object() ? part.find("name") : part.end();
      const bool has_name = part.is_object() && name != part.end() && name->is_string();
      places[part_words(parts->key == "roles", has_name ? name->get<std::string>() : "")] = {parts,
                                                                                             i};
    }
  }
  return places;
}

// The part whose words `where` is, or begins with: "role `data`: --nodes".
Places::const_iterator find_part(const Places& places, const std::string& where) {
  const auto whole = places.find(where);
  return whole != places.end() ? whole : places.find(where.substr(0, where.rfind(": ")));
}

}  // namespace

void locate(const Layer& settings, Diagnostics& problems) {
  const Places places = places_of_parts(settings);
  for (Diagnostic& problem : problems) {
    if (locate_key(settings, problem.where, problem)) continue;
    if (const auto part = find_part(places, problem.where); part != places.end())
      place_in_part(settings, *part->second.parts, part->second.index, part->first, problem);
  }
}

}  // namespace dts::spec
