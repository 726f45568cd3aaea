// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/plugin_options.hpp"

#include "core/base/text/text.hpp"

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

}  // namespace dts::convert
