// SPDX-License-Identifier: Apache-2.0
// Preloaded (LD_PRELOAD), times each dnnl_sgemm(), which oneDNN itself does not report
// (DNNL_VERBOSE), and writes a line for each shape to stdout at exit:
// sgemm,M,N,K,calls,milliseconds of a thread.
#include <dlfcn.h>
#include <dnnl.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

namespace {

using Clock = std::chrono::steady_clock;
using Shape = std::array<dnnl_dim_t, 3>;

struct Calls {
  long count = 0;
  Clock::duration time{};
};

std::mutex mutex;

std::map<Shape, Calls>& calls() {
  static auto* const all = new std::map<Shape, Calls>;  // threads may still call while it exits
  return *all;
}

void report() {
  const std::lock_guard lock(mutex);
  for (const auto& [shape, one] : calls())
    std::printf("sgemm,%ld,%ld,%ld,%ld,%.6f\n",
                shape[0],
                shape[1],
                shape[2],
                one.count,
                std::chrono::duration<double, std::milli>(one.time).count());
}

}  // namespace

// NOLINTNEXTLINE: as dnnl.h declares it
extern "C" __attribute__((visibility("default"))) dnnl_status_t dnnl_sgemm(char transa,
                                                                           char transb,
                                                                           dnnl_dim_t m,
                                                                           dnnl_dim_t n,
                                                                           dnnl_dim_t k,
                                                                           float alpha,
                                                                           const float* a,
                                                                           dnnl_dim_t lda,
                                                                           const float* b,
                                                                           dnnl_dim_t ldb,
                                                                           float beta,
                                                                           float* c,
                                                                           dnnl_dim_t ldc) {
  static const auto real = reinterpret_cast<decltype(&dnnl_sgemm)>(dlsym(RTLD_NEXT, "dnnl_sgemm"));
  static const int registered = std::atexit(report);
  (void)registered;
  const Clock::time_point start = Clock::now();
  const dnnl_status_t status = real(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  const Clock::duration took = Clock::now() - start;
  const std::lock_guard lock(mutex);
  Calls& made = calls()[{m, n, k}];
  ++made.count;
  made.time += took;
  return status;
}
