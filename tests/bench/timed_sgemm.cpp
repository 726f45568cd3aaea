// SPDX-License-Identifier: Apache-2.0
// Preloaded (LD_PRELOAD), times each dnnl_sgemm(), which oneDNN itself does not report
// (DNNL_VERBOSE), and writes a line for each shape to stdout at exit:
// sgemm,M,N,K,calls,median of their milliseconds.
#include "core/base/median.hpp"

#include <dlfcn.h>
#include <dnnl.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Shape = std::array<dnnl_dim_t, 3>;

using Milliseconds = std::chrono::duration<float, std::milli>;

std::mutex mutex;

std::map<Shape, std::vector<Milliseconds>>& calls() {
  // Threads may still call while it exits.
  static auto* const all = new std::map<Shape, std::vector<Milliseconds>>;
  return *all;
}

void report() {
  const std::lock_guard lock(mutex);
  for (const auto& [shape, each] : calls())
    std::printf("sgemm,%ld,%ld,%ld,%zu,%.6f\n",
                shape[0],
                shape[1],
                shape[2],
                each.size(),
                static_cast<double>(dts::median(each).count()));
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
  const Milliseconds took = Clock::now() - start;
  const std::lock_guard lock(mutex);
  calls()[{m, n, k}].push_back(took);
  return status;
}
