// SPDX-License-Identifier: Apache-2.0
// The variables that set the cores of each OpenMP runtime's threads. Pure, thread-safe.
#pragma once

#include "core/plan/plan.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace dts::plan {

// The known runtimes by file name without ".so": GNU's, Intel's, LLVM's.
inline constexpr std::array k_openmp_runtimes{"libgomp", "libiomp5", "libomp"};

// If the user has set one of these, the user has placed OpenMP threads, and we leave them alone. A
// runtime that finds two of them ignores one with a warning.
inline constexpr std::array k_thread_places{
    "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_PLACES", "OMP_PROC_BIND"};

// --bind-threads gnu and intel: every thread, including the main one, gets its own of `first_cpus`,
// the first PU of each core of a rank. Empty for any other `runtime`.
[[nodiscard]] Environment threads_on_cores(std::string_view runtime,
                                           const std::vector<unsigned>& first_cpus);

// --bind-threads auto: the main thread gets all `cpus` of the rank, each other thread its own of
// `first_cpus`. Processes and threads that the main thread starts inherit its mask, so data loaders
// and non-OpenMP threads are not crowded on one core, and a second runtime in the process sees all
// cores. `linked`: those of k_openmp_runtimes that the program is linked with; if none, it may
// still load any of them later.
//
//   libgomp             OMP_PLACES: GOMP_CPU_AFFINITY cannot express this (libgomp manual)
//   libiomp5, libomp    KMP_AFFINITY: OMP_PLACES terminates forked children of LLVM 13 to 15
//   any other set       both, naming the same cores; KMP_WARNINGS=0, because Intel's and LLVM's
//                       otherwise always report which of the two they read
[[nodiscard]] Environment places_of_threads(const std::vector<std::string>& linked,
                                            const std::vector<unsigned>& cpus,
                                            const std::vector<unsigned>& first_cpus);

}  // namespace dts::plan
