// SPDX-License-Identifier: Apache-2.0
#include "core/launch/binding/openmp_runtime.hpp"

#include "core/base/os/linked_files.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/thread_places.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>

namespace dts::launch {
namespace {

std::string real_path(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  return failed ? path : real.string();
}

// Adds the targets of symbolic links. In a conda environment, "libgomp.so.1 =>
// /opt/env/lib/libgomp.so.1 (0x7f...)" may be a link to LLVM's runtime.
std::string behind_links(const std::string& list) {
  std::string text;
  for (const std::string& line : split(list, '\n')) {
    if (runtimes_in(line).empty()) continue;
    const std::size_t path = line.find('/');
    text += path == std::string::npos ? line
                                      : real_path(line.substr(path, line.find(" (", path) - path));
    text += '\n';
  }
  return text;
}

LinkedRuntimes none(std::string why) {
  return {{}, std::move(why)};
}

}  // namespace

std::vector<std::string> runtimes_in(std::string_view text) {
  constexpr std::string_view k_ends = "/ \t\n";
  std::vector<std::string> found;
  for (const std::string_view runtime : plan::k_openmp_runtimes)
    for (auto at = text.find(runtime); at != text.npos; at = text.find(runtime, at + 1)) {
      const std::string_view name = text.substr(at, text.find_first_of(k_ends, at) - at);
      const bool whole = at == 0 || k_ends.find(text[at - 1]) != k_ends.npos;
      const bool folder = at + name.size() < text.size() && text[at + name.size()] == '/';
      const std::string_view rest = name.substr(runtime.size());
      if (!whole || folder || rest.find(".so") == rest.npos || (rest[0] != '.' && rest[0] != '-'))
        continue;
      if (rest.starts_with("-plugin")) continue;  // for accelerators; libgomp is listed by itself
      found.emplace_back(runtime);
      break;
    }
  return found;
}

LinkedRuntimes linked_runtimes(const std::string& program) {
  const LinkedFiles own = linked_files(program, Preload::without);
  if (!own.why_none.empty()) return none(own.why_none);
  auto runtimes = runtimes_in(behind_links(own.list));
  if (runtimes.empty()) return none("is linked with no OpenMP runtime");
  if (std::getenv("LD_PRELOAD") == nullptr) return {std::move(runtimes), {}};
  const LinkedFiles all = linked_files(program, Preload::with);
  if (!all.why_none.empty()) return none(all.why_none);
  return {runtimes_in(behind_links(all.list)), {}};
}

}  // namespace dts::launch
