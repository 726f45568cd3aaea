// SPDX-License-Identifier: Apache-2.0
#include "core/base/files/files.hpp"

#include "core/base/files/own_file.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/hash.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <future>

namespace dts {
namespace fs = std::filesystem;

namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A name beside `path` that no other process has, on no node that shares the folder, and that no
// killed one has left behind: numbers of processes come again.
std::string temporary_name(const std::string& path) {
  return path + ".tmp." + random_hex(8);
}

// Unlinks the temporary file unless it was renamed away.
struct TemporaryFile {
  std::string path;
  bool kept = false;

  ~TemporaryFile() {
    if (!kept) ::unlink(path.c_str());
  }
};

// Makes folders writable by their owner, which they may not be in an unpacked archive.
void open_folders(const fs::path& top) {
  std::error_code error;
  const auto open = [&error](const fs::path& path) {
    if (fs::is_directory(fs::symlink_status(path, error)))
      fs::permissions(path, fs::perms::owner_all, fs::perm_options::add, error);
  };
  open(top);
  // A folder is made accessible before the iterator enters it.
  for (fs::recursive_directory_iterator each(top, error), end; !error && each != end;) {
    open(each->path());
    each.increment(error);
  }
}

// The names in a folder as far as they can be read, sorted.
std::error_code add_names(const std::string& path, std::vector<std::string>& names) {
  std::error_code error;
  for (auto it = fs::directory_iterator(path, error); !error && it != fs::directory_iterator();
       it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return error;
}

}  // namespace

Result<void> write_whole(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) {  // whoever shares our terminal or pipe has made it non-blocking
        pollfd room{fd, POLLOUT, 0};
        (void)::poll(&room, 1, -1);
        continue;
      }
      return fail_errno("cannot write " + path);
    }
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return fail_errno("cannot read " + path);
  return read_open_file(fd.get(), path, limit);
}

Result<void> write_file(const std::string& path,
                        std::string_view content,
                        unsigned mode,
                        Durability durability) {
  TemporaryFile temporary{temporary_name(path)};
  UniqueFd fd(
      ::open(temporary.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!fd.valid()) {
    temporary.kept = true;  // nothing of ours to remove
    return fail_errno("cannot create " + path);
  }
  DTS_TRY(write_whole(fd.get(), content, path));
  if (durability == Durability::synced && ::fsync(fd.get()) != 0)
    return fail_errno("cannot sync " + path);
  fd.reset();
  if (::rename(temporary.path.c_str(), path.c_str()) != 0)
    return fail_errno("cannot rename to " + path);
  temporary.kept = true;
  return durability == Durability::synced ? sync_folder(folder_of(path)) : Result<void>{};
}

Result<void> create_file(const std::string& path, std::string_view content, unsigned mode) {
  const UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!fd.valid()) return fail_errno("cannot create " + path);
  return write_whole(fd.get(), content, path);
}

Result<void> append_line(const std::string& path, std::string_view line, unsigned mode) {
  const UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!fd.valid()) return fail_errno("cannot append to " + path);
  DTS_TRY(check_file_is_ours(fd.get(), path));
  std::string record(line);
  record += '\n';
  const ssize_t n = ::write(fd.get(), record.data(), record.size());
  if (n < 0) return fail_errno("cannot append to " + path);
  const bool is_short = static_cast<std::size_t>(n) != record.size();
  if (!is_short && ::fsync(fd.get()) == 0) return {};
  auto failed = is_short ? fail(Errc::io, "no space left to append to " + path, "free space there")
                         : fail_errno("cannot sync " + path);
  failed.value().no_space |= is_short;
  // A short write happens on a full disk. What was written is removed: no reader may see half a
  // record, or one that the caller will append again.
  const off_t end = ::lseek(fd.get(), 0, SEEK_END);
  if (end >= n && ::ftruncate(fd.get(), end - n) != 0)
    return fail_errno("cannot undo a write to " + path);
  return failed;
}

Result<void> make_folders(const std::string& path, unsigned mode) {
  if (path.empty() || path == "/" || path == ".") return {};
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) {
    struct stat info {};

    if (::stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode))
      return fail(Errc::io, path + " exists and is not a folder");
    return {};
  }
  if (errno != ENOENT) return fail_errno("cannot create folder " + path);
  DTS_TRY(make_folders(folder_of(path), mode));
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST)
    return fail_errno("cannot create folder " + path);
  return {};
}

Result<void> sync_folder(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return fail_errno("cannot sync folder " + path);
  return {};
}

Result<void> sync_folder_tree(const std::string& path) {
  // Two at a time: a journalling file system commits pending changes together, with one disk flush
  // for several; more threads cost more than they save.
  const std::vector<std::string> names = list_folder(path);
  const auto sync_every_second = [&](std::size_t first) -> Result<void> {
    for (std::size_t i = first; i < names.size(); i += 2) {
      const std::string file = path + "/" + names[i];
      const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
      const bool is_synced = !fd.valid() || ::fsync(fd.get()) == 0 || errno == EINVAL;  // a pipe
      if (!is_synced) return fail_errno("cannot sync " + file);
    }
    return {};
  };
  auto other = std::async(std::launch::async, sync_every_second, 1);
  const auto synced = sync_every_second(0);
  DTS_TRY(other.get());
  DTS_TRY(synced);
  return sync_folder(path);
}

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  [[maybe_unused]] const std::error_code error = add_names(path, names);
  return names;
}

Result<std::vector<std::string>> read_folder(const std::string& path) {
  std::vector<std::string> names;
  if (const std::error_code error = add_names(path, names)) {
    errno = error.value();
    return fail_errno("cannot read folder " + path);
  }
  return names;
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

bool is_gone(const std::string& path) {
  return !exists(path) && (errno == ENOENT || errno == ENOTDIR);
}

Result<void> remove_all(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error == std::errc::permission_denied) {
    open_folders(path);
    fs::remove_all(path, error);
  }
  if (error) return fail(Errc::io, "cannot remove " + path + ": " + error.message());
  return {};
}

std::string program_path() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

std::string library_folder() {
  return (fs::path(program_path()).parent_path().parent_path() / "lib/dtsubmit").string();
}

Result<std::string> state_folder() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state) + "/dtsubmit";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.local/state/dtsubmit";
  return fail(Errc::invalid,
              "neither XDG_STATE_HOME nor HOME is set, so there is no place for your own files",
              "set one of them");
}

Result<void> make_link(const std::string& target, const std::string& link) {
  std::error_code error;
  const fs::path folder = fs::path(link).parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error)
    return fail(Errc::io, fmt::format("cannot make {}: {}", folder.string(), error.message()));
  if (::symlink(target.c_str(), link.c_str()) == 0) return {};
  if (errno != EEXIST || !fs::is_symlink(link, error))
    return fail_errno("cannot make the link " + link);
  // Atomic like files, since another process may create the same link.
  const std::string temporary = temporary_name(link);
  if (::symlink(target.c_str(), temporary.c_str()) != 0 ||
      ::rename(temporary.c_str(), link.c_str()) != 0) {
    auto failed = fail_errno("cannot make the link " + link);
    fs::remove(temporary, error);
    return failed;
  }
  return {};
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return path;
  std::string normal = absolute.lexically_normal().string();
  if (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

}  // namespace dts
