// SPDX-License-Identifier: Apache-2.0
// Collectives built from MPI's non-blocking operations and one wait that sleeps.
#include "core/train/comm/comm.hpp"

#include "core/train/device/node_memory.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/prctl.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace dts::train {

struct Comm::Mpi {
  std::vector<SharedMemory> memory;
  std::vector<MPI_Request> requests;

  // Completes all requests. Polls briefly first (a peer on another core is about to answer), then
  // sleeps for 20 us to 1 ms: with 16 ranks on 2 cores, a spinning rank would keep working ranks
  // off their core.
  void wait() {
    constexpr int k_polls = 30;
    constexpr long k_longest_ns = 1000000;
    int polls = 0;
    timespec pause{0, 20000};
    for (int done = 0;; ++polls) {
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0) break;
      if (polls < k_polls) continue;
      nanosleep(&pause, nullptr);
      pause.tv_nsec = std::min(pause.tv_nsec * 5 / 4, k_longest_ns);
    }
    requests.clear();
  }

  // `mine` of every rank, indexed by rank.
  template <class T>
  std::vector<T> gather(const T& mine, int ranks) {
    std::vector<T> all(static_cast<std::size_t>(ranks));
    MPI_Iallgather(
        &mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD, next());
    wait();
    return all;
  }

  MPI_Request* next() { return &requests.emplace_back(MPI_REQUEST_NULL); }

  void send(const float* from, Span elements, int to, int tag) {
    if (elements.size() > 0)
      MPI_Isend(from + elements.lo, elements.size(), MPI_FLOAT, to, tag, MPI_COMM_WORLD, next());
  }

  void receive(float* at, int count, int from, int tag) {
    if (count > 0) MPI_Irecv(at, count, MPI_FLOAT, from, tag, MPI_COMM_WORLD, next());
  }
};

namespace {

constexpr int k_gather_tag = 30000;  // above any index of a partial

bool launched_by_mpi() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_FD"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

}  // namespace

Comm::Comm() : mpi_(std::make_unique<Mpi>()) {
  // Our waits sleep. Yielding as well (mpirun's default when ranks share cores) would do harm: on
  // Linux 6.18 a process that yields in a loop was seen to keep its core from all others for
  // minutes.
  setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
  // A single rank has no peers; without this, Open MPI starts its own daemon.
  if (!launched_by_mpi()) setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  // MPI_Init makes hwloc inspect the node, and hwloc's plugins query ten X displays and every
  // OpenCL driver for GPUs. This takes seconds per rank if "localhost" is looked up on a name
  // server that does not answer.
  setenv("HWLOC_PLUGINS_BLACKLIST", "hwloc_gl.so hwloc_opencl.so", 0);
  setenv("HWLOC_COMPONENTS", "-gl,-opencl", 0);     // if they are built in
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // otherwise sleeps of 20 us last 70 us
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  const auto keys = mpi_->gather(node_key(), size_);
  const auto mine = keys.begin() + rank_;
  node_root_ = static_cast<int>(std::find(keys.begin(), mine, *mine) - keys.begin());
  node_size_ = static_cast<int>(std::count(keys.begin(), keys.end(), *mine));
}

Comm::~Comm() {
  barrier();  // sleeping, to keep MPI_Finalize's own wait short
  MPI_Finalize();
}

Verdict Comm::agree(int code) {
  constexpr int k_codes = 256;
  const int lowest = least(code == 0 ? INT_MAX : rank_ * k_codes + code);
  if (lowest == INT_MAX) return {};
  return {lowest % k_codes, lowest / k_codes};
}

int Comm::least(int value) {
  int lowest = value;
  MPI_Iallreduce(&value, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, mpi_->next());
  mpi_->wait();
  return lowest;
}

std::int64_t Comm::sum(std::int64_t value) {
  std::int64_t total = 0;
  MPI_Iallreduce(&value, &total, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, mpi_->next());
  mpi_->wait();
  return total;
}

std::vector<std::uint64_t> Comm::gather(std::uint64_t value) {
  return mpi_->gather(value, size_);
}

void Comm::broadcast(void* data, std::size_t bytes) {
  constexpr std::size_t k_most = 1 << 30;
  for (auto* at = static_cast<char*>(data); bytes > 0;) {
    const std::size_t part = std::min(bytes, k_most);
    MPI_Ibcast(at, static_cast<int>(part), MPI_BYTE, 0, MPI_COMM_WORLD, mpi_->next());
    mpi_->wait();
    at += part;
    bytes -= part;
  }
}

void Comm::barrier() {
  MPI_Ibarrier(MPI_COMM_WORLD, mpi_->next());
  mpi_->wait();
}

Result<std::byte*> Comm::node_memory(std::size_t bytes) {
  Result<void> mapped;
  const auto keep = [&](Result<SharedMemory> memory) {
    if (memory)
      mpi_->memory.push_back(*std::move(memory));
    else
      mapped = tl::unexpected(std::move(memory).error());
  };
  if (first_on_node()) keep(SharedMemory::create(bytes));
  const auto names = mpi_->gather(
      first_on_node() && mapped ? mpi_->memory.back().name() : SharedMemoryName{}, size_);
  const SharedMemoryName name = names[static_cast<std::size_t>(node_root_)];
  if (!first_on_node() && name.pid != 0) keep(SharedMemory::open(name, bytes));
  DTS_TRY(mapped);
  // The rank that creates the memory reports the error.
  if (name.pid == 0)
    return fail(Errc::io,
                fmt::format("rank {} could not make the node's shared memory", node_root_));
  return mpi_->memory.back().data();
}

void Comm::post_exchange(const void* out, void* in, std::size_t bytes) {
  const int block = static_cast<int>(bytes);
  MPI_Ialltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, MPI_COMM_WORLD, mpi_->next());
}

void Comm::post_gather(const void* mine, void* all, std::size_t bytes) {
  const int block = static_cast<int>(bytes);
  MPI_Iallgather(mine, block, MPI_BYTE, all, block, MPI_BYTE, MPI_COMM_WORLD, mpi_->next());
}

const Partials& Comm::scatter_partials(int shards,
                                       const std::vector<Span>& slices,
                                       const Partials& mine) {
  const Span own = slices[static_cast<std::size_t>(rank_)];
  const auto width = static_cast<std::size_t>(own.size());
  std::vector<std::vector<Span>> nodes;
  std::size_t arrays = 0;
  for (int peer = 0; peer < size_; ++peer)
    arrays += nodes.emplace_back(maximal_nodes(shards, part_of({0, shards}, size_, peer))).size();
  if (received_.size() <= arrays * width) received_ = Buffer(arrays * width + 1);
  partials_.clear();
  float* at = received_.data();
  for (int peer = 0; peer < size_; ++peer) {
    int tag = 0;
    for (const Span node : nodes[static_cast<std::size_t>(peer)]) {
      if (peer == rank_)
        std::memcpy(at, mine.at(node) + own.lo, width * sizeof(float));
      else
        mpi_->receive(at, own.size(), peer, tag++);
      partials_[node] = at;
      at += width;
    }
  }
  for (int step = 1; step < size_; ++step) {  // start with the next rank: not all at rank 0
    const int peer = (rank_ + step) % size_;
    int tag = 0;
    for (const auto& [node, sums] : mine)
      mpi_->send(sums, slices[static_cast<std::size_t>(peer)], peer, tag++);
  }
  mpi_->wait();
  return partials_;
}

void Comm::gather_slices(float* array, const std::vector<Span>& slices) {
  for (int step = 1; step < size_; ++step) {
    const int from = (rank_ + size_ - step) % size_;
    const Span part = slices[static_cast<std::size_t>(from)];
    mpi_->receive(array + part.lo, part.size(), from, k_gather_tag);
  }
  for (int step = 1; step < size_; ++step)
    mpi_->send(
        array, slices[static_cast<std::size_t>(rank_)], (rank_ + step) % size_, k_gather_tag);
  mpi_->wait();
}

void Comm::hand_out_slices(const float* whole, float* own, const std::vector<Span>& slices) {
  const Span mine = slices[static_cast<std::size_t>(rank_)];
  if (rank_ != 0) {
    mpi_->receive(own, mine.size(), 0, k_gather_tag);
  } else {
    std::copy_n(whole + mine.lo, mine.size(), own);
    for (int peer = 1; peer < size_; ++peer)
      mpi_->send(whole, slices[static_cast<std::size_t>(peer)], peer, k_gather_tag);
  }
  mpi_->wait();
}

}  // namespace dts::train
