// SPDX-License-Identifier: Apache-2.0
// The MPI that a program is linked with. The launcher must belong to the same MPI; otherwise each
// rank becomes a world of one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// MPIs, distinguished by what starts their ranks. `mpich` includes Intel MPI, MVAPICH and Cray
// MPICH, which share MPICH's ABI and Hydra.
enum class Mpi { unknown, open_mpi, mpich };

[[nodiscard]] const char* to_string(Mpi mpi);  // "Open MPI", "MPICH"

struct ProgramMpi {
  Mpi mpi = Mpi::unknown;  // unknown: none, or not visible, as in scripts, mpi4py, static programs
  std::string library{};   // "libmpich.so.12"
  // How its ranks can find each other. If the MPI is unknown, it may support both.
  bool knows_pmix = true;  // in MPICH only if it was built with PMIx
  bool knows_pmi2 = true;  // in Open MPI only up to release 4, the last with its own run-time layer
};

// `text`: what the loader reports for a program (see linked_files()). libmpi.so.12 belongs to
// MPICH, unless Open MPI's own libraries are listed, too: Open MPI 1.10 used that number as well.
// Pure.
[[nodiscard]] ProgramMpi mpi_in(std::string_view text);

// The MPI of the program in `command`, behind wrappers such as env and numactl; a library that the
// loader cannot find counts as well. Runs the loader for at most 5 s.
[[nodiscard]] ProgramMpi mpi_of(const std::vector<std::string>& command);

}  // namespace dts::launch
