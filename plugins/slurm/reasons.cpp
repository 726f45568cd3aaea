// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm/words.hpp"

#include <cctype>

// Exported by every libslurm, but not declared in its header. Names and numbers change between
// releases, so only libslurm itself knows its own words. It takes an enum, which is passed as an
// unsigned here because a newer controller may send a value that is not in that enum.
extern "C" {
[[gnu::weak]] const char* slurm_job_state_reason_string(unsigned reason);
[[gnu::weak]] const char* slurm_job_reason_string(unsigned reason);
}

namespace slurm_plugin {
namespace {

const char* library_word(unsigned reason) {
  if (slurm_job_state_reason_string != nullptr) return slurm_job_state_reason_string(reason);
  return slurm_job_reason_string != nullptr ? slurm_job_reason_string(reason) : "";
}

}  // namespace

std::string reason_word(unsigned reason) {
  const std::string word = library_word(reason);
  // 22.05 prints a number without a name as it is, 24.11 prints "InvaildReason".
  const bool is_named = !word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
                        !word.starts_with("Inva");
  return is_named ? word : "Reason" + std::to_string(reason);
}

}  // namespace slurm_plugin
