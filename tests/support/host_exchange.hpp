// SPDX-License-Identifier: Apache-2.0
// The exchange of the host device (host_device.hpp): messages between processes of one machine, or
// threads of one process, over sockets. As with NCCL, groups proceed on their own once they are
// enqueued, and errors show up later.
#pragma once

#include "core/train/accelerator/exchange/dttrain_exchange.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace host_device {

// One process's end of all links. HOST_DEVICE_EXCHANGE injects faults; its words name the rank that
// they affect:
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

  // Starts the messages of one group after the previous group. Their memory must stay valid until
  // the group has ended.
  void post(std::vector<dttrain_message> messages);

  // Waits until all groups have ended, or one has failed.
  void wait();

  // See dttrain_exchange. Returns an error message, or an empty text.
  std::string progress(dttrain_progress& now);

  void abort();

 private:
  void connect(const std::string& id);
  void carry(const std::vector<dttrain_message>& messages, std::uint64_t number);
  void fail(const std::string& what);
  [[nodiscard]] bool is_injected(const char* what, std::uint64_t number) const;
  void hang() const;

  int ranks_ = 0;
  int rank_ = 0;
  std::vector<int> peers_;  // a socket for each other rank
  std::vector<std::thread> threads_;
  std::uint64_t posts_ = 0;
  std::atomic<bool> is_joined_{false};
  std::atomic<bool> is_over_{false};  // aborted
  std::atomic<std::uint64_t> ended_{0};
  std::atomic<bool> is_wrong_{false};
  std::string wrong_;  // set before is_wrong_
};

// Whether HOST_DEVICE_EXCHANGE contains the word.
[[nodiscard]] bool has_fault(const std::string& word);

}  // namespace host_device
