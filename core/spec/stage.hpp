// SPDX-License-Identifier: Apache-2.0
// What to copy to each node's local disk before programs start: SRC[:DST]. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::spec {

struct StageItem {
  std::string source;   // as typed: a file or folder
  std::string target;   // below the stage folder, "images/train"; without a trailing slash
  bool unpack = false;  // the source is an archive to unpack there

  friend bool operator==(const StageItem&, const StageItem&) = default;
};

// True for names of archives that tar(1) unpacks: .tar, .tar.gz, .tgz, .tar.zst, .tar.xz, ...
[[nodiscard]] bool is_archive_name(std::string_view name);

// The last colon separates SRC from DST; if DST is missing or empty, the target is the source's own
// name. A DST that ends in a slash is a folder: an archive is unpacked there, anything else is
// copied into it. Errc::invalid.
[[nodiscard]] Result<StageItem> parse_stage_item(std::string_view text);

// The inverse of parse_stage_item().
[[nodiscard]] std::string to_text(const StageItem& item);

// Appends invalid items, and items with the same target; `option` is the place in messages.
void check_stage_items(const std::vector<std::string>& texts,
                       const std::string& option,
                       Diagnostics& problems);

}  // namespace dts::spec
