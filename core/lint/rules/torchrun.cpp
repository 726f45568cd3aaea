// SPDX-License-Identifier: Apache-2.0
#include "core/lint/rules/torchrun.hpp"

#include <algorithm>

namespace dts::lint {
namespace {

// True for torchrun, also as python -m torch.distributed.run.
bool is_torchrun(const Run& run) {
  return run.launch.program == "torchrun" ||
         std::any_of(run.words.begin(), run.words.end(), [](const ExpandedWord& word) {
           return word.value.text.starts_with("torch.distributed.");
         });
}

// True if a word whose value is unknown may contain options, that is, unless it is an option's
// value.
bool may_have_other_options(const Run& run) {
  for (std::size_t i = run.launch.program_at + 1; i < run.words.size(); ++i) {
    const std::string& before = run.words[i - 1].value.text;
    const bool is_value = before.starts_with('-') && before.find('=') == std::string::npos;
    if (run.words[i].value.text.starts_with(k_unknown) && !is_value) return true;
  }
  return false;
}

}  // namespace

std::optional<ProgramOption> nodes_without_address(const Subject& subject, const Run& run) {
  const Launch& launch = run.launch;
  if (launch.launcher == Launcher::none || !launch.starts_processes || !is_torchrun(run) ||
      may_have_other_options(run) || subject.says("PET_MASTER_ADDR") ||
      subject.says("PET_RDZV_ENDPOINT"))
    return std::nullopt;
  for (const char* name : {"master_addr", "rdzv_endpoint", "standalone"})
    if (program_option(run.words, launch.program_at, name)) return std::nullopt;
  auto nodes = program_option(run.words, launch.program_at, "nnodes");
  if (!nodes || nodes->value.text == "1" || nodes->value.text == "1:1") return std::nullopt;
  return nodes;
}

}  // namespace dts::lint
