// SPDX-License-Identifier: Apache-2.0
#include "core/spec/file/layers.hpp"

#include "core/base/text/json_bytes.hpp"
#include "core/base/text/text.hpp"
#include "core/spec/gres.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace dts::spec {
namespace {

using nlohmann::json;

// Mutually exclusive options: a layer that sets one of them clears the others.
const std::array<std::set<std::string_view>, 4> k_alternatives{
    std::set<std::string_view>{"mem", "mem_per_cpu", "mem_per_gpu"},
    std::set<std::string_view>{"cpus_per_task", "cpus_per_gpu"},
    std::set<std::string_view>{"per_node", "per_rank"},
    std::set<std::string_view>{"exclusive", "oversubscribe"}};

GresItems gres_of(const Setting& setting) {
  const bool is_gres = setting.key == "gres" && setting.value->is_string();
  return is_gres ? split_gres(setting.value->get<std::string>()) : GresItems{};
}

// A later layer replaces an earlier one's GPUs (--gpus-per-node or --gres=gpu), unless that would
// also drop other items of --gres.
bool hides_gpus(const Setting& later, const Setting& earlier) {
  const GresItems gres = gres_of(earlier);
  const bool are_gpus =
      earlier.key == "gpus_per_node" || (!gres.gpus.empty() && gres.others.empty());
  return are_gpus && (later.key == "gpus_per_node" || !gres_of(later).gpus.empty());
}

bool hides(const Setting& later, const Setting& earlier) {
  if (later.key == earlier.key || hides_gpus(later, earlier)) return true;
  return std::any_of(k_alternatives.begin(), k_alternatives.end(), [&](const auto& words) {
    return words.count(later.key) > 0 && words.count(earlier.key) > 0;
  });
}

std::size_t position_of(const std::string& key) {
  const auto& rows = options();
  return static_cast<std::size_t>(
      std::find_if(
          rows.begin(), rows.end(), [&](const Option& row) { return row.file_key() == key; }) -
      rows.begin());
}

// For problems without a position in a file.
Reading from(const std::string& origin) {
  const auto at_origin = [origin](const std::string&, Error error) {
    return Diagnostic{origin, std::move(error.message), std::move(error.hint)};
  };
  return {at_origin, at_origin, Spelling::typed};
}

Setting option_setting(const Option& option, json value, const std::string& origin) {
  const std::string key = option.file_key();
  return {key,
          std::make_shared<const json>(std::move(value)),
          origin,
          member_of("", key),
          from(origin)};
}

// For problems in a document, which is kept alive: settings outlive the call that made them.
Reading reading_that_keeps(std::shared_ptr<const Document> document) {
  return {[document](const std::string& pointer, Error error) {
            return document->at_value(pointer, std::move(error));
          },
          [document](const std::string& pointer, Error error) {
            return document->at_key(pointer, std::move(error));
          },
          Spelling::typed};
}

// Line and column of "job.toml:7:18"; zeros without them.
std::pair<std::uint64_t, std::uint64_t> place_in_file(const Diagnostic& problem) {
  const std::vector<std::string> fields = split(problem.where, ':');
  if (fields.size() < 3) return {};
  return {parse_number(fields[fields.size() - 2]).value_or(0),
          parse_number(fields.back()).value_or(0)};
}

}  // namespace

const Setting* setting_of_key(const Layer& settings, const std::string& key) {
  const auto found = std::find_if(
      settings.begin(), settings.end(), [&](const Setting& one) { return one.key == key; });
  return found == settings.end() ? nullptr : &*found;
}

Layer layer_of(const Document& document, Diagnostics& problems) {
  const auto kept = std::make_shared<const Document>(document);
  const Reading reading = reading_that_keeps(kept);
  const json& value = kept->value();
  if (!value.is_object()) {
    problems.push_back(reading.at_value("", {Errc::invalid, "expected an object { ... }", ""}));
    return {};
  }
  Layer layer;
  const auto known_before = static_cast<std::ptrdiff_t>(problems.size());
  std::map<std::string, std::string> spelled;  // the first spelling of each key
  for (const auto& [name, member] : value.items()) {
    const std::string pointer = member_of("", name);
    const std::size_t known = problems.size();
    JobSpec scratch;
    read_key(name, member, pointer, reading, scratch, problems);
    // Parts are kept: those without problems are checked further.
    const bool has_parts = name == "steps" || name == "roles";
    if ((problems.size() > known && !has_parts) || is_remark(name)) continue;
    const Option* option = option_of_key(name);
    const std::string key = option != nullptr ? option->file_key() : name;
    if (const auto [first, is_new] = spelled.emplace(key, name); !is_new) {
      problems.push_back(reading.at_key(
          pointer,
          {Errc::invalid,
           fmt::format("key `{}` is given twice: `{}` means the same", name, first->second),
           "omit one of both"}));
      continue;
    }
    layer.push_back({key, {kept, &member}, document.place(pointer), pointer, reading});
  }
  std::stable_sort(
      problems.begin() + known_before, problems.end(), [](const auto& a, const auto& b) {
        return place_in_file(a) < place_in_file(b);
      });
  return layer;
}

Setting setting_of(const Option& option,
                   const std::vector<std::string>& texts,
                   const std::string& origin) {
  if (*option.value.type == '\0') return option_setting(option, true, origin);
  if (option.value.repeats) return option_setting(option, texts, origin);
  return option_setting(option, texts.empty() ? "" : texts.back(), origin);
}

Setting setting_of_flag(const Option& option, bool on, const std::string& origin) {
  return option_setting(option, on, origin);
}

Result<bool> parse_switch(const std::string& text) {
  for (const char* word : {"1", "yes", "true", "on"})
    if (text == word) return true;
  for (const char* word : {"0", "no", "false", "off"})
    if (text == word) return false;
  return fail(Errc::invalid, fmt::format("`{}` is neither yes nor no", text), "yes or no");
}

Setting setting_of_command(const std::vector<std::string>& command) {
  return {"command",
          std::make_shared<const json>(bytes_to_json(command)),
          "command line",
          "/command",
          from("command")};
}

Layer settle(const std::vector<Layer>& layers) {
  Layer settled;
  for (Layer layer : layers) {
    std::stable_sort(layer.begin(), layer.end(), [](const Setting& a, const Setting& b) {
      return position_of(a.key) < position_of(b.key);
    });
    const auto is_hidden = [&layer](const Setting& earlier) {
      return std::any_of(
          layer.begin(), layer.end(), [&](const Setting& later) { return hides(later, earlier); });
    };
    settled.erase(std::remove_if(settled.begin(), settled.end(), is_hidden), settled.end());
    settled.insert(settled.end(), layer.begin(), layer.end());
  }
  return settled;
}

Layer only_groups(Layer layer, const std::set<Group>& groups) {
  layer.erase(std::remove_if(layer.begin(),
                             layer.end(),
                             [&](const Setting& setting) {
                               const Option* option = option_of_key(setting.key);
                               return option != nullptr && groups.count(option->group) == 0;
                             }),
              layer.end());
  return layer;
}

void apply(const Layer& settings, JobSpec& spec, Diagnostics& problems) {
  Diagnostics found;
  for (const Setting& setting : settings)
    read_key(setting.key, *setting.value, setting.pointer, setting.reading, spec, found);
  // layer_of() has already reported unreadable keys of parts. A set, as there may be thousands.
  std::set<std::pair<std::string, std::string>> known;
  if (!found.empty())
    for (const Diagnostic& problem : problems) known.emplace(problem.where, problem.message);
  for (Diagnostic& problem : found)
    if (known.emplace(problem.where, problem.message).second)
      problems.push_back(std::move(problem));
}

}  // namespace dts::spec
