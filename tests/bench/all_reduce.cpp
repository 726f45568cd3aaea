// SPDX-License-Identifier: Apache-2.0
// The trainer's all-reduce and MPI_Allreduce, in turn on the same ranks and the same numbers.
// all_reduce TRANSPORT CALLS BYTES...: prints "BYTES OURS MPI" for each size, seconds of each call
// on its slowest rank, of all calls the median.
#include "core/train/comm/comm.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using namespace dts::train;

// As the trainer does it: sums of a slice to its owner along the tree, then all slices to all.
void reduce(Comm& comm, const std::vector<Range>& slices, Buffer& in, Buffer& out) {
  const Range own = slices[static_cast<std::size_t>(comm.rank())];
  const Partials mine{{{comm.rank(), comm.rank() + 1}, in.data()}};
  static Group::Scattered scattered;  // its memory is used again
  comm.wait(comm.post_scatter(comm.size(), slices, mine, scattered));
  combine_to(
      out.data() + own.begin, {0, comm.size()}, Group::partials(scattered, own, mine), own.size());
  comm.give_back(scattered);
  comm.wait(comm.post_gather_slices(out.data(), slices));
}

// Of all calls, the best and the median of the slowest rank's time.
std::pair<double, double> summary(Comm& comm, const std::vector<double>& times) {
  std::vector<double> slowest;
  for (const double time : times) {
    const std::vector<double> all = comm.gather(time);
    slowest.push_back(*std::max_element(all.begin(), all.end()));
  }
  std::sort(slowest.begin(), slowest.end());
  return {slowest.front(), slowest[slowest.size() / 2]};
}

template <class Work>
double timed(Comm& comm, const Work& work) {
  comm.barrier();
  const double start = MPI_Wtime();
  work();
  return MPI_Wtime() - start;
}

}  // namespace

int main(int argc, char** argv) {
  Comm comm;
  const bool shm = argc > 3 && std::strcmp(argv[1], "shm") == 0;
  if (argc < 4 || !comm.travel_by(shm ? TransportKind::shm : TransportKind::mpi)) return 2;
  const int calls = std::atoi(argv[2]);
  for (int i = 3; i < argc; ++i) {
    const long bytes = std::atol(argv[i]);
    const auto count = static_cast<int>(bytes / static_cast<long>(sizeof(float)));
    const auto size = static_cast<std::size_t>(count);
    Buffer in = Buffer::shared(size), ours = Buffer::shared(size), theirs(size);
    for (int at = 0; at < count; ++at)
      in.data()[at] = static_cast<float>(at % 1000 * (comm.rank() + 1));  // exact in any order
    std::vector<Range> slices;
    for (int rank = 0; rank < comm.size(); ++rank)
      slices.push_back(Range{0, size}.part(comm.size(), rank));
    std::vector<double> us, them;
    for (int call = -1; call < calls; ++call) {  // the first warms up
      const double one = timed(comm, [&] { reduce(comm, slices, in, ours); });
      const double other = timed(comm, [&] {
        MPI_Allreduce(in.data(), theirs.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      });
      if (call < 0) continue;
      us.push_back(one);
      them.push_back(other);
    }
    if (std::memcmp(ours.data(), theirs.data(), in.size() * sizeof(float)) != 0) return 1;
    const auto mine = summary(comm, us);
    const auto mpi = summary(comm, them);
    if (comm.rank() == 0)
      std::printf(
          "%ld %.9f %.9f %.9f %.9f\n", bytes, mine.second, mpi.second, mine.first, mpi.first);
  }
  return 0;
}
