// SPDX-License-Identifier: Apache-2.0
// Rendered texts against the files of a folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace dts::golden {

using Files = std::vector<std::pair<std::string, std::string>>;  // names in the folder, texts

// 0: all are equal, and the folder has no other. 1: not, which is printed. With `bless` those that
// differ are written anew instead.
[[nodiscard]] int compare(const std::string& folder, const Files& files, bool bless);

}  // namespace dts::golden
