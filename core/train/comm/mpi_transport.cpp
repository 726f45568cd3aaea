// SPDX-License-Identifier: Apache-2.0
#include "core/train/comm/mpi_transport.hpp"

#include <mpi.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace dts::train {
namespace {

constexpr int k_tag = 30000;
constexpr std::size_t k_longest_message = 1 << 30;  // bytes: MPI's counts are ints

}  // namespace

struct MpiTransport::Requests {
  std::vector<MPI_Request> open;
  std::vector<Ticket> tickets;  // of these
  std::vector<int> done;        // scratch
  std::vector<MPI_Status> statuses;
};

MpiTransport::MpiTransport() : requests_(std::make_unique<Requests>()) {
  // If ranks make different calls, a message may be too long; the headers reveal that.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

MpiTransport::~MpiTransport() = default;

template <class Post>
Transport::Ticket MpiTransport::post(std::size_t bytes, const Post& one) {
  const auto parts = static_cast<int>(
      std::max<std::size_t>((bytes + k_longest_message - 1) / k_longest_message, 1));
  const Ticket ticket = tickets_.add(parts);
  for (std::size_t at = 0; at == 0 || at < bytes; at += k_longest_message) {
    one(at,
        static_cast<int>(std::min(bytes - at, k_longest_message)),
        &requests_->open.emplace_back(MPI_REQUEST_NULL));
    requests_->tickets.push_back(ticket);
  }
  return ticket;
}

Transport::Ticket MpiTransport::send(int to, const void* data, std::size_t bytes) {
  return post(bytes, [&](std::size_t at, int count, MPI_Request* request) {
    MPI_Isend(
        static_cast<const char*>(data) + at, count, MPI_BYTE, to, k_tag, MPI_COMM_WORLD, request);
  });
}

Transport::Ticket MpiTransport::receive(int from, void* data, std::size_t bytes) {
  return post(bytes, [&](std::size_t at, int count, MPI_Request* request) {
    MPI_Irecv(static_cast<char*>(data) + at, count, MPI_BYTE, from, k_tag, MPI_COMM_WORLD, request);
  });
}

bool MpiTransport::progress() {
  auto& [open, tickets, done, statuses] = *requests_;
  done.resize(open.size());
  statuses.resize(open.size());
  int count = 0;
  if (open.empty()) return false;
  const int result = MPI_Testsome(
      static_cast<int>(open.size()), open.data(), &count, done.data(), statuses.data());
  broken_ = broken_ || result != MPI_SUCCESS;
  for (int i = 0; i < count; ++i) tickets_.finish(tickets[static_cast<std::size_t>(done[i])]);
  if (count > 0) {  // the remaining requests keep their order
    std::size_t kept = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i] == MPI_REQUEST_NULL) continue;
      open[kept] = open[i];
      tickets[kept++] = tickets[i];
    }
    open.resize(kept);
    tickets.resize(kept);
  }
  return count > 0;
}

void MpiTransport::abort() {
  *requests_ = {};  // never freed, because MPI still uses them
  tickets_ = {};
}

void MpiTransport::sleep_briefly(Clock::duration limit) {
  std::this_thread::sleep_for(std::min<Clock::duration>(limit, std::chrono::milliseconds(1)));
}

}  // namespace dts::train
