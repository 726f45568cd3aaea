// SPDX-License-Identifier: Apache-2.0
#include "core/provenance/source_tree.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/provenance/recorded_environment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <set>

namespace dts::provenance {
namespace {

constexpr std::chrono::seconds k_question_limit{5};
constexpr std::chrono::seconds k_list_limit{60};
constexpr std::size_t k_largest_diff = std::size_t{16} << 20;

// git's standard output. The call neither runs programs that a repository's configuration names,
// nor writes the repository's index.
Result<std::string> git(const std::string& folder,
                        std::vector<std::string> words,
                        std::chrono::milliseconds limit = k_question_limit) {
  Command command;
  command.argv = {"git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-C", folder};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.env = environment_with({{"GIT_OPTIONAL_LOCKS", "0"}, {"LC_ALL", "C"}});
  DTS_ASSIGN(Output output, run_process(std::move(command), limit));
  if (output.exit_code == 0) return std::move(output.out);
  return fail(Errc::io, fmt::format("git {}: {}", words.front(), trim(output.err)));
}

// The rest of `entry` after the given number of blanks.
std::string path_after(const std::string& entry, int blanks) {
  std::size_t at = 0;
  for (; blanks > 0; --blanks) {
    const std::size_t blank = entry.find(' ', at);
    if (blank == std::string::npos) return entry;
    at = blank + 1;
  }
  return entry.substr(at);
}

// Reads header lines such as "# branch.oid COMMIT".
void read_header(const std::string& entry, SourceTree& tree) {
  const std::string value = path_after(entry, 2);
  if (entry.starts_with("# branch.oid ") && value != "(initial)") tree.commit = value;
  if (entry.starts_with("# branch.head ") && value != "(detached)") tree.branch = value;
}

// The entries of `git status --porcelain=v2 --branch -z` (git-status(1), Porcelain Format Version
// 2), each ended by a NUL.
void read_status(const std::string& text, SourceTree& tree) {
  const std::vector<std::string> entries = split(text, '\0');
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string& entry = entries[i];
    const char kind = entry.empty() ? ' ' : entry[0];
    if (kind == '#') read_header(entry, tree);
    if (kind == '1') tree.changed.push_back(path_after(entry, 8));
    if (kind == '2') tree.changed.push_back(path_after(entry, 9));
    if (kind == 'u') tree.changed.push_back(path_after(entry, 10));
    if (kind == '?') tree.untracked.push_back(path_after(entry, 1));
    if (kind == '2') ++i;  // skips the old path of a rename
  }
}

Result<std::string> status_of(const std::string& folder) {
  return git(folder, {"status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=none"});
}

Result<void> read_changes(const Result<std::string>& status, SourceTree& tree) {
  if (!status) return tl::unexpected<Error>(status.error());
  read_status(*status, tree);
  if (tree.commit.empty() || tree.changed.empty()) return {};
  DTS_ASSIGN(
      tree.diff,
      git(tree.top, {"diff", "--binary", "--no-color", "--no-ext-diff", "--no-textconv", "HEAD"}));
  if (tree.diff.size() <= k_largest_diff) return {};
  tree.note =
      fmt::format("the diff has {} bytes, at most {} are kept", tree.diff.size(), k_largest_diff);
  tree.diff.clear();
  return {};
}

// False if `from` is not a file or link, or was removed.
Result<bool> copy_one(const std::filesystem::path& from, const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::file_status status = fs::symlink_status(from, failed);
  if (!fs::is_regular_file(status) && !fs::is_symlink(status)) return false;
  fs::create_directories(to.parent_path(), failed);
  if (!failed && fs::is_symlink(status)) fs::copy_symlink(from, to, failed);
  if (!failed && fs::is_regular_file(status)) fs::copy_file(from, to, failed);
  if (!failed) return true;
  return fail(
      Errc::io,
      fmt::format("cannot copy {} to {}: {}", from.string(), to.string(), failed.message()));
}

// True if git could find a repository: it looks for `.git` in the folder and its parents, and in
// the environment (git(1), GIT_DIR). Saves three processes if there is none.
bool may_be_in_repository(const std::filesystem::path& folder) {
  if (getenv_lookup("GIT_DIR")) return true;
  std::error_code unknown;
  for (std::filesystem::path place = folder;; place = place.parent_path()) {
    if (std::filesystem::exists(place / ".git", unknown)) return true;
    if (place == place.parent_path()) return false;
  }
}

}  // namespace

Result<std::optional<SourceTree>> read_source_tree(const std::string& folder) {
  if (!may_be_in_repository(folder) || !find_program("git")) return std::optional<SourceTree>();
  // Concurrently: each query is a process, and a submission waits for all of them.
  auto status = std::async(std::launch::async, status_of, folder);
  auto remote = std::async(std::launch::async, [&folder] {
    return git(folder, {"config", "--get", "remote.origin.url"});
  });
  const auto place = git(folder, {"rev-parse", "--show-toplevel", "--show-prefix"});
  if (!place && place.error().message.find("not a git repository") != std::string::npos)
    return std::optional<SourceTree>();
  if (!place) return tl::unexpected<Error>(place.error());
  const std::vector<std::string> lines = split(*place, '\n');
  SourceTree tree;
  tree.top = lines[0];
  if (tree.top.empty()) return std::optional<SourceTree>();  // within the repository's own folder
  if (lines.size() > 1) tree.prefix = lines[1];
  DTS_TRY(read_changes(status.get(), tree));
  if (const auto url = remote.get()) tree.remote = without_secrets(trim(*url));
  return tree;
}

Result<std::vector<std::string>> tracked_files(const SourceTree& tree) {
  DTS_ASSIGN(const std::string list,
             git(tree.top, {"ls-files", "-z", "--cached", "--recurse-submodules"}, k_list_limit));
  std::set<std::string> paths;  // a set, as a file in conflict is listed several times
  for (std::string& path : split(list, '\0'))
    if (!path.empty()) paths.insert(std::move(path));
  return std::vector<std::string>(paths.begin(), paths.end());
}

Result<Copied> copy_tracked_files(const SourceTree& tree, const std::string& into) {
  DTS_TRY(make_folders(into));
  DTS_ASSIGN(const std::vector<std::string> paths, tracked_files(tree));
  Copied copied;
  for (const std::string& path : paths) {
    const std::filesystem::path to = std::filesystem::path(into) / path;
    DTS_ASSIGN(const bool is_there, copy_one(std::filesystem::path(tree.top) / path, to));
    if (is_there) ++copied.files;
  }
  const UniqueFd folder(::open(into.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || ::syncfs(folder.get()) != 0) return fail_errno("cannot sync " + into);
  return copied;
}

std::string to_json(const SourceTree& tree) {
  nlohmann::ordered_json facts{{"folder", tree.top}, {"commit", tree.commit}};
  if (!tree.branch.empty()) facts["branch"] = tree.branch;
  if (!tree.remote.empty()) facts["remote"] = tree.remote;
  facts["changed"] = tree.changed;
  facts["untracked"] = tree.untracked;
  if (!tree.note.empty()) facts["note"] = tree.note;
  return json_text(facts);
}

}  // namespace dts::provenance
