// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/plugin_options.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/program/launcher_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {
namespace {

constexpr std::string_view k_left[] = {"image", "module", "uenv", "view", "volume"};

// "uenv=" of "uenv=NAME"
std::string_view key_of(std::string_view option) {
  return option.substr(0, option.find('=') + 1);
}

}  // namespace

bool is_left_to_sbatch(std::string_view name) {
  return is_one_of(k_left, name);
}

void settle_plugin_options(Program& program, Draft& draft) {
  const auto own = program.settings.find("slurm");
  if (own == program.settings.end()) return;
  for (const std::string& option : own->second.texts) {
    std::vector<std::string>& job = draft.settings["slurm"].texts;
    const auto before = std::find_if(job.begin(), job.end(), [&](const std::string& one) {
      return key_of(one) == key_of(option);
    });
    if (before == job.end()) {
      job.push_back(option);
      program.notes.push_back(fmt::format("--{}: for the whole job", option));
    } else if (*before != option) {
      program.losses.push_back(fmt::format("srun --{}: the job has --{}", option, *before));
    }
  }
  program.settings.erase("slurm");
}

KnownEntries entries_of(const std::string& list) {
  KnownEntries entries;
  std::vector<std::string> unknown;
  for (const FlatWord& entry : split_words(from_expanded({{list, true}, {}, false})))
    if (const auto text = plain(entry)) {
      entries.known.push_back(*text);
    } else {
      std::string& source = unknown.emplace_back();
      for (const Segment& one : entry) source += one.text;
    }
  entries.unknown = join(unknown, ",");
  return entries;
}

bool lists_names_by_prefix(std::string_view value, const lint::Runs& runs) {
  const auto lists = [](std::string_view text) {  // ${!NCCL*}, ${!NCCL@}
    for (std::size_t at = text.find("${!"); at != std::string_view::npos;
         at = text.find("${!", at + 1)) {
      std::size_t end = at + 3;
      while (end < text.size() && shell::is_name_char(text[end])) ++end;
      const std::string_view rest = text.substr(end, 2);
      if (end > at + 3 && (rest == "*}" || rest == "@}")) return true;
    }
    return false;
  };
  if (lists(value)) return true;
  const Names names = used_names(to_source(from_expanded({{std::string(value), true}, {}, false})));
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const lint::Value* known = runs.variables.find(name);
    return known != nullptr && lists(known->text);
  });
}

void settle_without_image(Launched& made) {
  const auto is_image = [](const Blank& one) { return one.option == "container"; };
  if (std::any_of(made.blanks.begin(), made.blanks.end(), is_image))
    std::erase_if(made.settings, [&](const auto& setting) {
      const auto& [name, asked] = setting;
      if (!name.starts_with("container") && name != "mount") return false;
      made.blanks.push_back({name, asked.texts, ""});
      return true;
    });
  if (made.settings.count("container") == 0 && made.settings.erase("mount") > 0)
    made.notes.emplace_back("--container-mounts: without an image nothing is mounted");
}

}  // namespace dts::convert
