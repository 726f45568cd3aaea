// SPDX-License-Identifier: Apache-2.0
#include "core/spec/file/read_keys.hpp"

#include "core/base/text/json_bytes.hpp"
#include "core/base/text/text.hpp"
#include "core/spec/file/document.hpp"
#include "core/spec/file/parts.hpp"
#include "core/spec/file/words.hpp"
#include "core/spec/json.hpp"
#include "core/spec/option.hpp"
#include "core/spec/options/of_sbatch.hpp"
#include "core/spec/values/json_values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace dts::spec {
namespace {

using nlohmann::json;

Result<void> read_arguments(const json& value, std::vector<std::string>& into) {
  if (value.is_string()) {
    DTS_ASSIGN(into, split_words(value.get_ref<const std::string&>()));
    return {};
  }
  into.clear();
  if (value.is_array())
    for (const json& word : value) {
      auto bytes = bytes_from_json(word);
      if (!bytes) break;
      into.push_back(*std::move(bytes));
    }
  if (value.is_array() && into.size() == value.size()) return {};
  return fail(
      Errc::invalid,
      R"(expected a list of strings, e.g. ["python3", "train.py"], or {"hex": "..."} for bytes)");
}

Result<void> read_schema(const json& value) {
  if (value == k_spec_schema) return {};
  return fail(Errc::invalid, fmt::format("expected \"{}\"", k_spec_schema));
}

// The value as typed on the command line; nullopt unless it is a string or a number.
std::optional<std::string> typed_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  return std::nullopt;
}

std::optional<std::vector<std::string>> typed_texts(const json& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<std::string> texts;
  for (const json& one : value) {
    auto text = typed_text(one);
    if (!text) return std::nullopt;
    texts.push_back(*std::move(text));
  }
  return texts;
}

// A flag that spec.json does not store negates another one; false counts as not given.
Result<void> set_flag(const Option& row, const json& value, JobSpec& spec) {
  if (row.value.read) return row.value.read(value, spec);
  if (!value.is_boolean()) return fail(Errc::invalid, "expected true or false");
  return value.get<bool>() ? row.value.parse("", spec) : Result<void>{};
}

Result<void> read_typed(const Option& row, const json& value, JobSpec& spec) {
  if (*row.value.type == '\0') return set_flag(row, value, spec);
  if (const auto text = typed_text(value))
    return text->empty() ? Result<void>{} : row.value.parse(*text, spec);
  if (const auto texts = typed_texts(value); texts && row.value.repeats) {
    for (const std::string& text : *texts) DTS_TRY(row.value.parse(text, spec));
    return {};
  }
  if (row.value.read) return row.value.read(value, spec);
  return fail(Errc::invalid, fmt::format("expected {} as a string or number", row.value.type));
}

// Reads the value of a key, located at the pointer.
using ReadValue = std::function<void(const json& value,
                                     const std::string& pointer,
                                     const Reading& reading,
                                     JobSpec& spec,
                                     Diagnostics& problems)>;
using Keys = std::map<std::string, ReadValue>;

using ReadWhole = std::function<Result<void>(const json&, JobSpec&)>;

// The first member of a table, such as [slurm], that is invalid by itself.
std::optional<std::string> wrong_member(const json& value, const ReadWhole& read) {
  if (!value.is_object()) return std::nullopt;
  for (const auto& [key, member] : value.items()) {
    JobSpec unused;
    if (!read(json{{key, member}}, unused)) return key;
  }
  return std::nullopt;
}

// For values that are valid or invalid as a whole.
ReadValue whole(ReadWhole read) {
  return [read = std::move(read)](const json& value,
                                  const std::string& pointer,
                                  const Reading& reading,
                                  JobSpec& spec,
                                  Diagnostics& problems) {
    auto done = read(value, spec);
    if (done) return;
    const auto member = wrong_member(value, read);
    problems.push_back(
        reading.at_value(member ? member_of(pointer, *member) : pointer, std::move(done).error()));
  };
}

ReadValue list_of_parts(std::vector<Part> JobSpec::*member) {
  return [member](const json& value,
                  const std::string& pointer,
                  const Reading& reading,
                  JobSpec& spec,
                  Diagnostics& problems) {
    read_parts(value, pointer, reading, spec.*member, member == &JobSpec::roles, problems);
  };
}

void add_options(Spelling spelling, Keys& keys) {
  for (const Option& option : options()) {
    if (spelling == Spelling::stored) {
      if (option.value.read) keys[option.json_key()] = whole(option.value.read);
      continue;
    }
    const auto read = whole(
        [&option](const json& value, JobSpec& spec) { return read_typed(option, value, spec); });
    keys[option.json_key()] = read;
    keys[option.file_key()] = read;
  }
}

Keys all_keys(Spelling spelling) {
  Keys keys;
  add_options(spelling, keys);
  keys["schema"] = whole([](const json& value, JobSpec&) { return read_schema(value); });
  if (spelling == Spelling::typed)
    keys["$schema"] = whole([](const json& value, JobSpec&) {
      std::string ignored;
      return read_text(value, ignored);
    });
  keys["command"] =
      whole([](const json& value, JobSpec& spec) { return read_arguments(value, spec.command); });
  keys["steps"] = list_of_parts(&JobSpec::steps);
  keys["roles"] = list_of_parts(&JobSpec::roles);
  return keys;
}

const Keys& keys_of(Spelling spelling) {
  static const Keys stored = all_keys(Spelling::stored);
  static const Keys typed = all_keys(Spelling::typed);
  return spelling == Spelling::stored ? stored : typed;
}

constexpr std::size_t k_few_keys = 20;

std::vector<std::string> names_of(const Keys& keys) {
  std::vector<std::string> names;
  for (const auto& [name, read] : keys) names.push_back(name);
  return names;
}

// What to write for the name that sbatch or another launcher has for something.
std::optional<std::string> hint_for_other_tools(const std::string& key) {
  std::string option = "--" + key;
  std::replace(option.begin(), option.end(), '_', '-');
  for (const auto& instead :
       {instead_of(option), instead_of_srun(option), instead_of_launcher(option)}) {
    if (!instead) continue;
    const Option* ours = option_named(*instead);
    return ours == nullptr ? *instead : fmt::format("did you mean `{}`?", ours->file_key());
  }
  return std::nullopt;
}

Error unknown(const std::string& key, const Keys& keys) {
  const std::vector<std::string> known = names_of(keys);
  std::string wanted = key;  // job-name, Job_Name
  for (char& c : wanted)
    c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (auto hint = hint_for_other_tools(wanted))
    return {Errc::invalid, fmt::format("unknown key `{}`", key), *std::move(hint)};
  const auto near = nearest(wanted, known);
  return {Errc::invalid,
          fmt::format("unknown key `{}`", key),
          near                        ? fmt::format("did you mean `{}`?", *near)
          : known.size() > k_few_keys ? "dtsubmit-jobfile(5) lists the keys"
                                      : "known keys: " + join(known, ", ")};
}

}  // namespace

std::vector<std::string> known_keys(Spelling spelling) {
  return names_of(keys_of(spelling));
}

bool is_remark(const std::string& key) {
  return key == "schema" || key == "$schema";
}

Reading reading_of(const Document& document, Spelling spelling) {
  return {[&document](const std::string& pointer, Error error) {
            return document.at_value(pointer, std::move(error));
          },
          [&document](const std::string& pointer, Error error) {
            return document.at_key(pointer, std::move(error));
          },
          spelling};
}

void read_key(const std::string& key,
              const json& value,
              const std::string& pointer,
              const Reading& reading,
              JobSpec& spec,
              Diagnostics& problems) {
  const Keys& keys = keys_of(reading.spelling);
  const auto found = keys.find(key);
  if (found == keys.end())
    problems.push_back(reading.at_key(pointer, unknown(key, keys)));
  else
    found->second(value, pointer, reading, spec, problems);
}

void read_keys(const json& object,
               const std::string& pointer,
               const Reading& reading,
               JobSpec& spec,
               Diagnostics& problems) {
  for (const auto& [key, value] : object.items())
    read_key(key, value, member_of(pointer, key), reading, spec, problems);
}

}  // namespace dts::spec
