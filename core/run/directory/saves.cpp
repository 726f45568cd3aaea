// SPDX-License-Identifier: Apache-2.0
// What of run_directory.hpp concerns the program's own files: its checkpoints and when it wrote.
#include "core/base/files/files.hpp"
#include "core/run/directory/run_directory.hpp"

#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

namespace dts::run {
namespace {

constexpr std::string_view k_step = "step-";
constexpr int k_deepest = 2;  // levels of folders below checkpoints/ that are searched

bool is_temporary(std::string_view name) {
  return name.find(".tmp") != std::string_view::npos;
}

// "step-000000120", "step-120.pt"; "step-last" names no step.
bool names_step(std::string_view name) {
  return name.size() > k_step.size() && name.starts_with(k_step) && name[k_step.size()] >= '0' &&
         name[k_step.size()] <= '9';
}

// The step's digits without leading zeros; empty for step 0 and for other names.
std::string_view step_digits(std::string_view name) {
  if (!names_step(name)) return {};
  name.remove_prefix(k_step.size());
  name = name.substr(0, name.find_first_not_of("0123456789"));
  name.remove_prefix(std::min(name.find_first_not_of('0'), name.size()));
  return name;
}

}  // namespace

bool is_later_checkpoint(const std::string& a, const std::string& b) {
  const std::string_view step_a = step_digits(a);
  const std::string_view step_b = step_digits(b);
  // Of the program's own names, ckpt-1000 is later than ckpt-500.
  return std::tuple(step_a.size(), step_a, ::strverscmp(a.c_str(), b.c_str())) >
         std::tuple(step_b.size(), step_b, 0);
}

std::string newest_checkpoint(const RunDirectory& run) {
  std::string newest;
  for (std::string& name : list_folder(run.checkpoints()))
    if (names_step(name) && !is_temporary(name) && is_later_checkpoint(name, newest))
      newest = std::move(name);
  return newest;
}

namespace {

namespace fs = std::filesystem;

// True if `is` returns true for something in `checkpoints/` that is newer than `time`: files, and
// folders too deep to look into; other folders are as new as what was last removed from them.
// `named_by_step`: entries whose names are steps count, too.
bool any_newer(const RunDirectory& run,
               fs::file_time_type time,
               bool named_by_step,
               const std::function<bool(const fs::path&)>& is) {
  std::error_code failed;
  fs::recursive_directory_iterator entry(
      run.checkpoints(), fs::directory_options::skip_permission_denied, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename();
    std::error_code gone;
    const auto written = entry->last_write_time(gone);
    const bool is_none =
        is_temporary(name) || (!named_by_step && entry.depth() == 0 && names_step(name));
    const bool is_deepest = entry.depth() >= k_deepest;
    const bool counts = !is_none && name != "fence" && (is_deepest || !entry->is_directory(gone));
    if (counts && !gone && written > time && is(entry->path())) return true;
    if (is_none || is_deepest) entry.disable_recursion_pending();
  }
  return false;
}

// True for a file that its writer has begun and not ended, as far as its format shows that: a ZIP
// file, which torch.save() and numpy.savez() write, without the directory at its end.
bool is_cut_short(const fs::path& path) {
  constexpr std::uintmax_t k_longest_end = (1U << 16) + 22;  // with a comment
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(path, failed);
  if (failed) return false;  // a folder, or gone
  std::ifstream file(path, std::ios::binary);
  std::string begin(4, '\0');
  if (!file.read(begin.data(), 4) || begin != "PK\x03\x04") return false;
  std::string end(static_cast<std::size_t>(std::min(size, k_longest_end)), '\0');
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  return file.read(end.data(), static_cast<std::streamsize>(end.size())) &&
         end.find("PK\x05\x06") == std::string::npos;
}

// Of a folder, that of the newest file in it: its own time is also that of a removal.
std::optional<fs::file_time_type> changed_at(const fs::path& path, int depth = 0) {
  std::error_code failed;
  if (!fs::is_directory(path, failed)) {
    const bool is_save = fs::is_regular_file(path, failed) && fs::file_size(path, failed) > 0;
    const auto time = is_save ? fs::last_write_time(path, failed) : fs::file_time_type();
    return is_save && !failed ? std::optional(time) : std::nullopt;
  }
  std::optional<fs::file_time_type> newest;
  for (fs::directory_iterator entry(path, failed);
       depth <= k_deepest && !failed && entry != fs::directory_iterator();
       entry.increment(failed))
    newest = std::max(newest, changed_at(entry->path(), depth + 1));
  return newest;
}

std::optional<std::chrono::system_clock::time_point> time_of(const std::string& file) {
  struct stat info {};

  if (::stat(file.c_str(), &info) != 0) return std::nullopt;
  return std::chrono::system_clock::from_time_t(info.st_mtime);
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> last_report(const RunDirectory& run) {
  return time_of(run.metrics());
}

std::optional<std::chrono::system_clock::time_point> began(const RunDirectory& run) {
  return time_of(run.attempt(1) + "/epoch");
}

bool saves_otherwise(const RunDirectory& run, unsigned attempt) {
  std::error_code failed;
  const auto began = fs::last_write_time(run.attempt(attempt) + "/epoch", failed);
  return !failed && any_newer(run, began, false, [](const fs::path&) { return true; });
}

Matches matches_of(const std::string& pattern, fs::file_time_type since) {
  Matches all{"", since, false};
  glob_t found{};
  const int failed =
      ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_TILDE | GLOB_BRACE, nullptr, &found);
  for (std::size_t i = 0; failed == 0 && i < found.gl_pathc; ++i) {
    std::string path = found.gl_pathv[i];
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const std::string name = fs::path(path).filename();
    const auto time = changed_at(path);
    if (!time || *time <= since || name == "fence" || is_temporary(name)) continue;
    const bool is_cut = is_cut_short(path);
    all.has_incomplete = all.has_incomplete || is_cut;
    const bool is_newer = *time > all.changed ||
                          (*time == all.changed &&
                           is_later_checkpoint(name, fs::path(all.newest).filename().string()));
    if (!is_cut && is_newer) all = {std::move(path), *time, all.has_incomplete};
  }
  ::globfree(&found);
  return all;
}

std::string newest_match(const std::string& pattern, const RunDirectory& run, unsigned attempt) {
  std::error_code failed;
  const auto began = fs::last_write_time(run.attempt(attempt) + "/epoch", failed);
  return failed ? "" : matches_of(pattern, began).newest;
}

std::optional<fs::file_time_type> time_of_last_event(const RunDirectory& run) {
  std::error_code failed;
  const auto time = fs::last_write_time(run.ledger(), failed);
  return failed ? std::nullopt : std::optional(time);
}

bool has_saved_after(const RunDirectory& run, fs::file_time_type time) {
  bool has_content = false;
  const bool is_incomplete = any_newer(run, time, true, [&has_content](const fs::path& file) {
    std::error_code failed;
    has_content = has_content || (!fs::is_empty(file, failed) && !failed);
    return is_cut_short(file);
  });
  return has_content && !is_incomplete;
}

}  // namespace dts::run
