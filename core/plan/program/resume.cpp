// SPDX-License-Identifier: Apache-2.0
#include "core/plan/program/resume.hpp"

#include "core/base/text/text.hpp"

#include <filesystem>

namespace dts::plan {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

std::vector<std::string> resume_arguments(const std::string& words, const std::string& checkpoint) {
  const std::string folder = std::filesystem::path(checkpoint).parent_path();
  std::vector<std::string> all = split(words, ' ');
  std::erase(all, "");
  for (std::string& one : all) {
    replace_all(one, "{dir}", folder.empty() ? "." : folder);
    replace_all(one, "{}", checkpoint);
  }
  return all;
}

}  // namespace dts::plan
