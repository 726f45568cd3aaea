// SPDX-License-Identifier: Apache-2.0
// The peer of `dttrain bench`: MPI_Allreduce as any program calls it, in the way of OSU's and
// nccl-tests' loops. Prints a line "BYTES SECONDS" for each size that is an argument: the mean of a
// series, of five series the best, on the slowest rank.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc; ++i) {
    const long bytes = std::atol(argv[i]);
    const int count = static_cast<int>(bytes / static_cast<long>(sizeof(float)));
    const int calls = bytes < 1 << 20 ? 10 : 2;
    std::vector<float> out(static_cast<std::size_t>(count)), in(out.size());
    MPI_Allreduce(out.data(), in.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    double best = 1e9;
    for (int series = 0; series < 5; ++series) {
      const double start = MPI_Wtime();
      for (int call = 0; call < calls; ++call)
        MPI_Allreduce(out.data(), in.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      best = std::min(best, (MPI_Wtime() - start) / calls);
    }
    double slowest = 0;
    MPI_Reduce(&best, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%ld %.9f\n", bytes, slowest);
  }
  MPI_Finalize();
  return 0;
}
