// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/resume.hpp"

#include "core/base/text/text.hpp"

#include <filesystem>

namespace dts::plan {

std::vector<std::string> resume_arguments(const std::string& words, const std::string& checkpoint) {
  const std::string folder = std::filesystem::path(checkpoint).parent_path();
  std::vector<std::string> all = split(words, ' ');
  std::erase(all, "");
  for (std::string& one : all)
    one = replaced(replaced(one, "{dir}", folder.empty() ? "." : folder), "{}", checkpoint);
  return all;
}

}  // namespace dts::plan
