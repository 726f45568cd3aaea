// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/script_file.hpp"

#include "core/base/files/files.hpp"
#include "core/lint/lint.hpp"

#include <filesystem>

namespace dts::cli {

Result<void> refuse_folder(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(Errc::invalid, path + " is a folder", "name the scripts in it");
  return {};
}

Result<std::string> read_script(const std::string& path) {
  return read_file(path == k_standard_input ? "/dev/stdin" : path, lint::k_largest_script);
}

Result<void> check_is_text(const std::string& path, std::string_view text) {
  if (text.substr(0, text.find('\n')).find('\0') == std::string_view::npos) return {};
  return fail(Errc::invalid, path + " is not text", "name a script");
}

}  // namespace dts::cli
