// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm/words.hpp"

#include <cctype>

// Exported by every libslurm, but not declared in its header. The name changed, and so do the
// numbers from release to release: only libslurm itself knows the words of its own. To it a reason
// is an enum, passed as an unsigned; what a newer controller sends may be no value of that enum.
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
  // A number without a name is printed as it is by 22.05, and as "InvaildReason" by 24.11.
  const bool is_named = !word.empty() && std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
                        !word.starts_with("Inva");
  return is_named ? word : "Reason" + std::to_string(reason);
}

}  // namespace slurm_plugin
