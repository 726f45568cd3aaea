// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/show_job.hpp"

#include "plugins/slurm_shared/command.hpp"

#include <csignal>
#include <string>
#include <utility>

namespace slurm_plugin {

namespace {

// scontrol 22.05 crashes at --details if the site hides its nodes (PrivateData=nodes).
bool has_crashed(const Failure& failure) {
  return failure.message.ends_with(" by signal " + std::to_string(SIGSEGV));
}

}  // namespace

Outcome<std::vector<Record>> show_job(const std::string& job, const std::string& what, Of of) {
  std::vector<std::string> words{"scontrol", "--all", "--details", "show", "job", job};
  if (of == Of::this_cluster)
    words.insert(words.begin() + 1, "--local");
  else
    words.insert(words.begin() + 1, {"--federation", "--sibling"});
  auto printed = output_of(words, what);
  if (!printed && has_crashed(printed.error())) {
    std::erase(words, "--details");
    printed = output_of(std::move(words), what);
  }
  return std::move(printed).map([](const std::string& text) { return parse_records(text); });
}

}  // namespace slurm_plugin
