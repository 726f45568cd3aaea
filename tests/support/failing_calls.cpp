// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: a file system whose calls fail for a while, as those of a file server do.
//   DTS_FAILING_CALLS   "CALL NUMBER FIRST LAST PART" for each fault, with semicolons between: of
//                       the calls of a process whose path has PART in it, those from FIRST to LAST
//                       fail with the error NUMBER of errno(3). CALL is create, mkdir, opendir,
//                       access, fsync or ftruncate.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

constexpr std::size_t k_most_faults = 8;
std::array<std::atomic<int>, k_most_faults> g_calls{};

// The error of this call; 0: it does not fail.
int error_of(const std::string& call, const std::string& path) {
  const char* faults = std::getenv("DTS_FAILING_CALLS");
  std::istringstream all(faults != nullptr ? faults : "");
  std::size_t fault = 0;
  for (std::string one; fault < k_most_faults && std::getline(all, one, ';'); ++fault) {
    std::istringstream words(one);
    std::string name, part;
    int number = 0, first = 0, last = 0;
    if (!(words >> name >> number >> first >> last >> part)) continue;
    if (name != call || path.find(part) == std::string::npos) continue;
    const int count = ++g_calls.at(fault);
    if (first <= count && count <= last) return number;
  }
  return 0;
}

bool fails(const char* call, const std::string& path) {
  const int before = errno;
  const int error = error_of(call, path);
  errno = error != 0 ? error : before;
  return error != 0;
}

std::string path_of(int fd) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if ((flags & O_CREAT) != 0 && fails("create", path)) return -1;
  static auto* const next = real<int(const char*, int, ...)>("open");
  return next(path, flags, mode);
}

extern "C" int mkdir(const char* path, mode_t mode) noexcept {
  if (fails("mkdir", path)) return -1;
  static auto* const next = real<int(const char*, mode_t)>("mkdir");
  return next(path, mode);
}

extern "C" int access(const char* path, int mode) noexcept {
  if (fails("access", path)) return -1;
  static auto* const next = real<int(const char*, int)>("access");
  return next(path, mode);
}

extern "C" DIR* opendir(const char* path) {
  if (fails("opendir", path)) return nullptr;
  static auto* const next = real<DIR*(const char*)>("opendir");
  return next(path);
}

extern "C" int ftruncate(int fd, off_t length) noexcept {
  if (fails("ftruncate", path_of(fd))) return -1;
  static auto* const next = real<int(int, off_t)>("ftruncate");
  return next(fd, length);
}

extern "C" int fsync(int fd) {
  if (fails("fsync", path_of(fd))) return -1;
  static auto* const next = real<int(int)>("fsync");
  return next(fd);
}
