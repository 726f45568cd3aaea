// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: moves CLOCK_REALTIME, as an operator's `date -s` would, for the processes of one
// job. Namespaces cannot move that clock (time_namespaces(7)), and a test must not move the
// machine's.
//   DTS_MOVED_CLOCK   a file with a number of seconds; read at each call, so that it can change
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace {

time_t moved_by() {
  const int error = errno;
  const char* path = std::getenv("DTS_MOVED_CLOCK");
  char text[32] = {};
  const int file = path != nullptr ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file >= 0) {
    if (::read(file, text, sizeof text - 1) < 0) text[0] = '\0';
    ::close(file);
  }
  errno = error;
  return std::atol(text);
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long result = ::syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    time->tv_sec += moved_by();
  return static_cast<int>(result);
}

extern "C" int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

extern "C" time_t time(time_t* seconds) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != nullptr) *seconds = now.tv_sec;
  return now.tv_sec;
}
