// SPDX-License-Identifier: Apache-2.0
// Included first in every file of a portable build (DTSUBMIT_PORTABLE): what newer releases of glibc would be needed for, in
// terms of glibc 2.28's.
#pragma once

#include <pthread.h>
#include <time.h>

// exp and log of 2.29 differ from the first ones in how errors are reported only.
#if defined(__x86_64__)
__asm__(".symver exp,exp@GLIBC_2.2.5");
__asm__(".symver log,log@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver exp,exp@GLIBC_2.17");
__asm__(".symver log,log@GLIBC_2.17");
#endif

// Of 2.30, for std::condition_variable. Callers wait in a loop: at worst, a clock that is set makes one wait of theirs longer or
// shorter.
static inline int dts_cond_clockwait(pthread_cond_t* condition,
                                     pthread_mutex_t* mutex,
                                     clockid_t clock,
                                     const struct timespec* until) {
  struct timespec now, end;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &end);
  long long nanoseconds = end.tv_nsec + (until->tv_nsec - now.tv_nsec);
  end.tv_sec += until->tv_sec - now.tv_sec;
  for (; nanoseconds < 0; nanoseconds += 1000000000) --end.tv_sec;
  for (; nanoseconds >= 1000000000; nanoseconds -= 1000000000) ++end.tv_sec;
  end.tv_nsec = static_cast<long>(nanoseconds);
  if (end.tv_sec < 0) end.tv_sec = 0;
  return pthread_cond_timedwait(condition, mutex, &end);
}

#define pthread_cond_clockwait dts_cond_clockwait
