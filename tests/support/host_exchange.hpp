// SPDX-License-Identifier: Apache-2.0
// The exchange of the host's device (host_device.hpp): messages between processes of one machine,
// or threads of one process, over sockets. As NCCL's, groups go on by themselves once they are
// enqueued, and what goes wrong is known later.
#pragma once

#include "core/train/accelerator/exchange/dttrain_exchange.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace host_device {

// One process's end of all links. Faults on purpose are those of HOST_DEVICE_EXCHANGE, words with
// the rank that they befall:
//   missing, old      the library is not there, or too old
//   alone             no two ranks may have one device
//   hang-init:RANK    never links
//   leave:RANK:N      drops its links in group N, from 1, as a process that has died
//   hang:RANK:N       does nothing in group N
//   error:RANK:N      says that its own device has failed in group N
class HostLink {
 public:
  HostLink() = default;
  HostLink(const HostLink&) = delete;
  HostLink& operator=(const HostLink&) = delete;

  ~HostLink() { abort(); }

  void join(const std::string& id, int ranks, int rank);

  // Messages of one group, of memory that is the caller's until it has ended. Begins after the
  // group before.
  void post(std::vector<dttrain_message> messages);

  // Until all groups have ended, or one has gone wrong.
  void wait();

  // As dttrain_exchange has it; empty, or what went wrong.
  std::string progress(dttrain_progress& now);

  void abort();

 private:
  void connect(const std::string& id);
  void carry(const std::vector<dttrain_message>& messages, std::uint64_t number);
  void fail(const std::string& what);
  [[nodiscard]] bool is_injected(const char* what, std::uint64_t number) const;
  void stay_away() const;

  int ranks_ = 0;
  int rank_ = 0;
  std::vector<int> peers_;  // a socket to each other rank
  std::vector<std::thread> threads_;
  std::uint64_t posts_ = 0;
  std::atomic<bool> is_joined_{false};
  std::atomic<bool> is_over_{false};  // aborted
  std::atomic<std::uint64_t> ended_{0};
  std::atomic<bool> is_wrong_{false};
  std::string wrong_;  // once is_wrong_ is set
};

// Whether HOST_DEVICE_EXCHANGE has the word.
[[nodiscard]] bool has_fault(const std::string& word);

}  // namespace host_device
