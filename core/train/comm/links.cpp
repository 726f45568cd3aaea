// SPDX-License-Identifier: Apache-2.0
#include "core/train/comm/links.hpp"

#include "core/train/comm/waiting.hpp"

#include <mpi.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace dts::train {

struct Links::Mpi {
  std::vector<MPI_Request> requests;

  MPI_Request* next() { return &requests.emplace_back(MPI_REQUEST_NULL); }
};

namespace {

// Above the tags of MpiTransport.
constexpr int k_message_tag = 31000;
constexpr int k_ping_tag = 31001;

}  // namespace

Links::Links(const Comm& comm)
    : mpi_(std::make_unique<Mpi>()), rank_(comm.rank()), size_(comm.size()) {}

Links::~Links() = default;

template <class Test>
bool Links::wait_for(Deadline deadline, Deadline::duration longest_nap, const Test& test) {
  using std::chrono::milliseconds;
  const auto look = [&] { return test() ? Waited::done : Waited::nothing; };
  const milliseconds spin(waits_ == Waits::spinning ? 20 : 0);
  const auto sleep_briefly = [&](auto limit) {  // no message of MPI wakes a rank
    std::this_thread::sleep_for(std::min<Deadline::duration>(limit, longest_nap));
  };
  if (wait_until(deadline, spin, look, sleep_briefly)) return true;
  broken_ = true;
  return false;
}

bool Links::wait(Deadline deadline) {
  std::vector<MPI_Request>& requests = mpi_->requests;
  const bool done = wait_for(deadline, std::chrono::milliseconds(1), [&] {
    int all = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
    return all != 0;
  });
  requests.clear();  // late requests are never freed, because MPI still uses them
  return done;
}

bool Links::send_bytes(int to, std::string_view bytes, Deadline deadline) {
  messages_.emplace_back(bytes);
  MPI_Isend(messages_.back().data(),
            static_cast<int>(bytes.size()),
            MPI_BYTE,
            to,
            k_message_tag,
            MPI_COMM_WORLD,
            mpi_->next());
  if (!wait(deadline)) return false;
  messages_.pop_back();
  return true;
}

std::optional<std::string> Links::receive_bytes(int from, Deadline deadline) {
  // Probe first: a late probe, unlike a late receive, leaves nothing behind.
  MPI_Status status;
  // A rank that waits for its turn must not take the processor of the rank that it waits for.
  if (!wait_for(deadline, std::chrono::milliseconds(10), [&] {
        int there = 0;
        MPI_Iprobe(from, k_message_tag, MPI_COMM_WORLD, &there, &status);
        return there != 0;
      }))
    return std::nullopt;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  messages_.emplace_back(static_cast<std::size_t>(count), '\0');
  MPI_Irecv(
      messages_.back().data(), count, MPI_BYTE, from, k_message_tag, MPI_COMM_WORLD, mpi_->next());
  if (!wait(deadline)) return std::nullopt;
  std::string bytes = std::move(messages_.back());
  messages_.pop_back();
  return bytes;
}

std::byte* Links::memory(std::size_t index, std::size_t bytes) {
  std::vector<std::byte>& memory = memory_[index];
  // Once broken, the memory must not move, because MPI may still write to it.
  if (memory.size() < bytes && !broken_) memory.assign(bytes, std::byte{0});
  return memory.data();
}

bool Links::ping_pong(int peer, std::size_t bytes, bool first, Deadline deadline) {
  if (broken_ && (memory_[0].size() < bytes || memory_[1].size() < bytes)) return false;
  const auto count = static_cast<int>(bytes);
  std::byte* const out = memory(0, bytes);
  std::byte* const in = memory(1, bytes);
  for (const bool sends : {first, !first}) {
    if (sends)
      MPI_Isend(out, count, MPI_BYTE, peer, k_ping_tag, MPI_COMM_WORLD, mpi_->next());
    else
      MPI_Irecv(in, count, MPI_BYTE, peer, k_ping_tag, MPI_COMM_WORLD, mpi_->next());
    if (!wait(deadline)) return false;
  }
  return true;
}

std::optional<std::vector<double>> Links::gather(double value, Deadline deadline) {
  // On the heap, because it is leaked if the deadline passes.
  auto all = std::make_unique<std::vector<double>>(static_cast<std::size_t>(size_) + 1, value);
  MPI_Iallgather(
      &all->back(), 1, MPI_DOUBLE, all->data(), 1, MPI_DOUBLE, MPI_COMM_WORLD, mpi_->next());
  if (!wait(deadline)) {
    (void)all.release();  // NOLINT: MPI may still write to it
    return std::nullopt;
  }
  all->pop_back();
  return std::move(*all);
}

bool Links::run(Operation operation, std::size_t bytes, Deadline deadline) {
  if (broken_) return false;
  const auto floats = static_cast<int>(bytes / sizeof(float));
  std::byte* const out = memory(0, bytes);
  std::byte* const in = memory(1, bytes);
  switch (operation) {
    case Operation::all_reduce:
      MPI_Iallreduce(out, in, floats, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, mpi_->next());
      break;
    case Operation::all_gather:
      MPI_Iallgather(out,
                     floats / size_,
                     MPI_FLOAT,
                     in,
                     floats / size_,
                     MPI_FLOAT,
                     MPI_COMM_WORLD,
                     mpi_->next());
      break;
    case Operation::broadcast:
      MPI_Ibcast(out, floats, MPI_FLOAT, 0, MPI_COMM_WORLD, mpi_->next());
      break;
  }
  return wait(deadline);
}

}  // namespace dts::train
