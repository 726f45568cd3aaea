// SPDX-License-Identifier: Apache-2.0
#include "core/script/log_link.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <optional>

namespace dts::script {
namespace {

constexpr std::size_t k_widest = 10;  // sbatch(1)

std::optional<std::string> field(char c, const LogNames& names) {
  const std::string& element = names.element.empty() ? names.job : names.element;
  switch (c) {
    case '%':
      return "%";
    case 'x': {
      std::string name = names.job_name;
      std::replace(name.begin(), name.end(), '/', '_');
      return name;
    }
    case 'j':
    case 'J':
      return names.job;
    case 'A':
      return element.substr(0, element.find('_'));
    case 'a':
      if (const std::size_t mark = element.find('_'); mark != std::string::npos)
        return element.substr(mark + 1);
      return std::nullopt;
    case 'u':
      return names.user;
    case 'n':
    case 't':
      return "0";  // %t, %n: the batch script
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string log_link_path(const std::string& pattern, const LogNames& names) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::size_t letter =
        pattern[i] == '%' ? pattern.find_first_not_of("0123456789", i + 1) : std::string::npos;
    const auto value = letter == std::string::npos ? std::nullopt : field(pattern[letter], names);
    if (!value) {
      path += pattern[i];
      continue;
    }
    const auto width = parse_number(pattern.substr(i + 1, letter - i - 1)).value_or(0);
    const bool is_number = value->find_first_not_of("0123456789") == std::string::npos;
    if (is_number && width > value->size())
      path.append(std::min<std::size_t>(width, k_widest) - std::min(k_widest, value->size()), '0');
    path += *value;
    i = letter;
  }
  return path;
}

std::string escape_pattern(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%') escaped += '%';
    escaped += c;
  }
  return escaped;
}

std::string log_path(const std::string& run_dir, const std::string& job) {
  // The run directory of an array element may not exist yet when its log is opened.
  if (job.find('_') != std::string::npos && job.find('%') == std::string::npos)
    return run_dir.substr(0, run_dir.rfind('/')) + "/slurm-" + job + ".log";
  return run_dir + "/slurm-" + job + ".log";
}

bool is_log(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return path.starts_with('/') && name.starts_with("slurm-") && name.ends_with(".log");
}

}  // namespace dts::script
