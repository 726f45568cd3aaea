// SPDX-License-Identifier: Apache-2.0
// The MPI that a program is linked with, which must be that of its launcher: under another one's,
// each rank is a world of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// By what starts their ranks. `mpich` includes Intel MPI, MVAPICH and Cray MPICH, which share
// MPICH's ABI and Hydra.
enum class Mpi { unknown, open_mpi, mpich };

[[nodiscard]] const char* to_string(Mpi mpi);  // "Open MPI", "MPICH"

struct ProgramMpi {
  Mpi mpi = Mpi::unknown;  // none, or none that can be seen: a script, mpi4py, a static program
  std::string library{};   // "libmpich.so.12"
  // What its ranks can find each other by. One that cannot be seen may know both.
  bool knows_pmix = true;  // an MPICH only if it was built for it
  bool knows_pmi2 = true;  // an Open MPI up to release 4, which still has its own run-time layer
};

// `text`: what a program's loader says of it (see linked_files()). libmpi.so.12 is MPICH's, unless
// Open MPI's own libraries are with it: release 1.10 had that number too. Pure.
[[nodiscard]] ProgramMpi mpi_in(std::string_view text);

// That of the program in `command`, behind wrappers such as env and numactl, or as the loader says
// that it misses it. Starts the loader, for 5 s at most.
[[nodiscard]] ProgramMpi mpi_of(const std::vector<std::string>& command);

}  // namespace dts::launch
