// SPDX-License-Identifier: Apache-2.0
#include "core/stage/scan.hpp"

#include "core/base/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace dts::stage {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_problems = 20;
constexpr std::size_t k_longest_shown = 400;

class Scan {
 public:
  Scan(const std::string& option, Diagnostics& problems) : option_(option), problems_(problems) {}

  Tree run(const std::string& source) {
    std::error_code failed;
    tree_.root = fs::canonical(source, failed).string();
    if (failed) {
      add_problem(fmt::format("cannot find {} on this node: {}", source, failed.message()),
                  "is it on a file system that all nodes mount?");
      return {};
    }
    if (add("") == EntryKind::folder) walk();
    return std::move(tree_);
  }

 private:
  void walk() {
    std::error_code failed;
    fs::recursive_directory_iterator each(tree_.root, failed);
    std::string last = tree_.root;
    while (!failed && each != fs::recursive_directory_iterator()) {
      last = each->path().string();
      add(last.substr(tree_.root == "/" ? 1 : tree_.root.size() + 1));
      each.increment(failed);
    }
    if (failed) add_problem(fmt::format("cannot read {}: {}", last, failed.message()));
  }

  EntryKind add(const std::string& name) {
    Entry entry;
    entry.name = name;
    const std::string path = tree_.path_of(entry);

    struct stat info {};

    if (::lstat(path.c_str(), &info) != 0) {
      add_problem(fmt::format("cannot look at {}: {}", path, std::strerror(errno)));
      return EntryKind::link;
    }
    entry.mode = info.st_mode & 0777;
    entry.changed = info.st_mtim;
    if (S_ISDIR(info.st_mode)) {
      entry.kind = EntryKind::folder;
    } else if (S_ISREG(info.st_mode)) {
      entry.size = static_cast<std::uint64_t>(info.st_size);
      entry.on_disk = std::min(entry.size, static_cast<std::uint64_t>(info.st_blocks) * 512);
    } else if (S_ISLNK(info.st_mode)) {
      entry.kind = EntryKind::link;
      std::error_code failed;
      entry.link_target = fs::read_symlink(path, failed).string();
      if (failed) add_problem(fmt::format("cannot read {}: {}", path, failed.message()));
    } else {
      add_problem(path + " is neither a file nor a folder", "sockets and devices are not copied");
    }
    tree_.entries.push_back(std::move(entry));
    return tree_.entries.back().kind;
  }

  void add_problem(const std::string& words, const std::string& hint = "") {
    if (problems_.size() < k_most_problems)
      problems_.push_back({option_, printable(words, k_longest_shown), hint});
  }

  const std::string& option_;
  Diagnostics& problems_;
  Tree tree_;
};

}  // namespace

Tree scan(const std::string& source, const std::string& option, Diagnostics& problems) {
  return Scan(option, problems).run(source);
}

bool is_same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace dts::stage
