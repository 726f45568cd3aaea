// SPDX-License-Identifier: Apache-2.0
// What libslurm prints as scontrol does, for members whose names or number differ between releases.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace slurm_plugin {

// The text that `print` writes to its stream; empty without memory.
template <class Print>
[[nodiscard]] std::string printed(const Print& print) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* stream = ::open_memstream(&text, &size);
  if (stream == nullptr) return {};
  print(stream);
  std::fclose(stream);
  const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
  return {text, size};
}

}  // namespace slurm_plugin
