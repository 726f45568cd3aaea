// SPDX-License-Identifier: Apache-2.0
#include "core/spec/stage.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dts::spec {
namespace {

constexpr std::size_t k_longest_stage_path = 4095;  // PATH_MAX without its NUL

std::string_view without_slashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

std::string_view last_name(std::string_view path) {
  path = without_slashes(path);
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_name(std::string_view name) {
  return !name.empty() && name != "." && name != "..";
}

Result<void> check_stage_path(std::string_view path) {
  if (!is_printable(path) || !is_utf8(path))
    return fail(Errc::invalid,
                fmt::format("`{}` is not printable UTF-8 text", printable(path, 80)),
                "give the file or folder another name, or stage the folder that it is in");
  if (path.size() > k_longest_stage_path)
    return fail(Errc::invalid, fmt::format("a path of {} bytes is too long", path.size()));
  return {};
}

Result<void> check_target(std::string_view target) {
  for (const std::string& name : split(target, '/'))
    if (!is_name(name))
      return fail(Errc::invalid,
                  fmt::format("`{}` contains {}", target, name.empty() ? "`//`" : "`" + name + "`"),
                  "write it without");
  return {};
}

bool is_within(const std::string& inner, const std::string& outer) {
  return inner == outer || inner.starts_with(outer + "/");
}

}  // namespace

bool is_archive_name(std::string_view name) {
  constexpr std::array<std::string_view, 9> k_ends{
      ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar.xz", ".txz", ".tar.bz2", ".tbz2"};
  return std::any_of(k_ends.begin(), k_ends.end(), [name](std::string_view end) {
    return name.size() > end.size() && name.ends_with(end);
  });
}

Result<StageItem> parse_stage_item(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  StageItem item;
  item.source = without_slashes(text.substr(0, colon));
  std::string_view target = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  DTS_TRY(check_stage_path(item.source));
  DTS_TRY(check_stage_path(target));
  if (target.starts_with('/'))
    return fail(Errc::invalid,
                fmt::format("`{}` is not below the stage folder", target),
                "DST is relative; DTSUBMIT_STAGE_BASE names the disk");
  if (item.source.empty()) return fail(Errc::invalid, "SRC is missing", "write SRC or SRC:DST");
  const std::string_view own = last_name(item.source);
  const bool into_folder = target.ends_with('/');
  item.unpack = into_folder && is_archive_name(own);
  if ((target.empty() || (into_folder && !item.unpack)) && (!is_name(own) || own == "/"))
    return fail(Errc::invalid,
                fmt::format("`{}` has no name", item.source),
                fmt::format("name the copy: {}:NAME", item.source));
  if (into_folder) target.remove_suffix(1);
  item.target = target;
  if (item.target.empty())
    item.target = own;
  else if (into_folder && !item.unpack)
    item.target += "/" + std::string(own);
  DTS_TRY(check_target(item.target));
  return item;
}

std::string to_text(const StageItem& item) {
  const std::string own(last_name(item.source));
  const bool has_colon = own.find(':') != std::string::npos;  // which DST cannot contain
  if (!item.unpack && item.target == own)
    return item.source + (item.source.find(':') == std::string::npos ? "" : ":");
  if (has_colon && item.target.ends_with("/" + own))
    return item.source + ":" + item.target.substr(0, item.target.size() - own.size());
  return fmt::format("{}:{}{}", item.source, item.target, item.unpack ? "/" : "");
}

void check_stage_items(const std::vector<std::string>& texts,
                       const std::string& option,
                       Diagnostics& problems) {
  std::vector<StageItem> items;
  for (const std::string& text : texts) {
    auto item = parse_stage_item(text);
    if (!item) {
      problems.push_back({option, item.error().message, item.error().hint});
      continue;
    }
    for (const StageItem& other : items)
      if (is_within(item->target, other.target) || is_within(other.target, item->target))
        problems.push_back({option,
                            fmt::format("`{}` and `{}` go to the same place, {}",
                                        other.source,
                                        item->source,
                                        item->target),
                            "add `:NAME` to one of them"});
    items.push_back(*std::move(item));
  }
}

}  // namespace dts::spec
