// SPDX-License-Identifier: Apache-2.0
// What is copied to each node's own disk before programs start: SRC[:DST]. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::spec {

struct StageItem {
  std::string source;   // as typed: a file or folder
  std::string target;   // below the stage folder, "images/train"; without a slash at its end
  bool unpack = false;  // the source is an archive whose contents go there

  friend bool operator==(const StageItem&, const StageItem&) = default;
};

// True for the names of archives that tar(1) unpacks: .tar, .tar.gz, .tgz, .tar.zst, .tar.xz, ...
[[nodiscard]] bool is_archive_name(std::string_view name);

// The last colon separates; without DST, or with an empty one, the target is the source's own name.
// A DST that ends in a slash is a folder: an archive is unpacked there, anything else is copied
// into it. Errc::invalid.
[[nodiscard]] Result<StageItem> parse_stage_item(std::string_view text);

// Such a text again.
[[nodiscard]] std::string to_text(const StageItem& item);

// What is wrong with any of them, and two that go to the same place; `option`: where that is.
void check_stage_items(const std::vector<std::string>& texts,
                       const std::string& option,
                       Diagnostics& problems);

}  // namespace dts::spec
