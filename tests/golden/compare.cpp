// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/compare.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::golden {
namespace {

// The first line that differs, for the report.
std::string difference(const std::string& expected, const std::string& actual) {
  const auto a = split(expected, '\n'), b = split(actual, '\n');
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "(end)", right = i < b.size() ? b[i] : "(end)";
    if (left != right)
      return fmt::format("line {}\n  expected: {}\n  rendered: {}", i + 1, left, right);
  }
  return "";
}

}  // namespace

int compare(const std::string& folder, const Files& files, bool bless) {
  int wrong = 0;
  for (const auto& [name, text] : files) {
    const auto expected = read_file(folder + "/" + name);
    if (expected && *expected == text) continue;
    if (bless) {
      if (!write_file(folder + "/" + name, text, 0644)) return 1;
      fmt::print("wrote {}\n", name);
      continue;
    }
    ++wrong;
    fmt::print("{}: {}\n", name, expected ? difference(*expected, text) : expected.error().message);
  }
  for (const std::string& name : list_folder(folder))
    if (std::none_of(
            files.begin(), files.end(), [&](const auto& file) { return file.first == name; })) {
      ++wrong;
      fmt::print("{}: no case renders it\n", name);
    }
  if (wrong > 0)
    fmt::print("{} wrong; if they are meant to change: tests/tools/bless.sh, then read the diff\n",
               wrong);
  return wrong > 0 ? 1 : 0;
}

}  // namespace dts::golden
