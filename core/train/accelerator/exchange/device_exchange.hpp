// SPDX-License-Identifier: Apache-2.0
// Arrays in a device's memory that go directly to the devices of other ranks, over the link of a
// module (dttrain_exchange.h). The device adds up sums, along the same tree as hosts do.
//
// All ranks of a call agree on it over the group's transport before any device begins, so that no
// device waits for one that does something else. A device that waits in vain is detected before the
// host would wait for it: the link is then aborted, and the run ends with a message that names the
// call.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"
#include "core/train/arrays/array_exchange.hpp"
#include "core/train/update/chunk_grid.hpp"

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dts::train::accelerator {

// Identifies a link.
using LinkId = std::array<unsigned char, DTTRAIN_LINK_ID_BYTES>;

// The library that links devices here. Errc::invalid says what is missing or too old, and what to
// do.
[[nodiscard]] Result<dttrain_link_facts> find_link(const Queue& queue);

// Makes the id of a new link. One rank does so and sends it to the others.
[[nodiscard]] Result<LinkId> make_link_id(const Queue& queue);

class DeviceExchange : public ArrayExchange {
 public:
  struct Settings {
    bool shares_device = false;  // whether some ranks share a device
    // Time limit for linking, once all ranks have announced it; 0: the group's usual limit.
    std::chrono::milliseconds patience{};
    // DeviceSettings::failed.
    std::function<void(const std::string&)> failed = nullptr;
  };

  // Collective. Links the devices of all ranks. `kept` has the partials that gradients() returns.
  // The group, the queue (whose module must have an exchange) and `kept` must outlive this; arrays
  // of grow() must not.
  DeviceExchange(Group& all,
                 Queue& queue,
                 const Layout& layout,
                 const Partials& kept,
                 const LinkId& id,
                 Settings settings);
  ~DeviceExchange() override;

  [[nodiscard]] Partials gradients(const Partials& mine) override;
  void grow(Room& room, std::size_t floats) override;
  void checksums(const float* values, Span chunks, std::uint64_t* out) override;
  void sum(float* sums, Span node, const ConstPartials& all, std::size_t count) override;
  void flip(float* at) override;
  [[nodiscard]] const float* flipped(const float* came,
                                     std::size_t count,
                                     std::size_t element) override;
  void to_host(float* to, const float* from, std::size_t count) override;

  Ticket post_partials(Group& group,
                       std::vector<int> peers,
                       std::uint64_t total,
                       const std::vector<Group::Outgoing>& out,
                       Group::Scattered& to) override;
  [[nodiscard]] Ticket post_slices(Group& group,
                                   Call call,
                                   std::vector<int> peers,
                                   std::uint64_t total,
                                   const std::vector<Group::Outgoing>& out,
                                   const std::vector<Group::Incoming>& in) override;

  void give_back(Group& /*group*/, const Group::Scattered& /*read*/) override {}

  // Nothing to do: work that is enqueued later follows the transfer.
  void wait(Group& /*group*/, Ticket /*ticket*/) override {}

  [[nodiscard]] bool test(Group& /*group*/, Ticket /*ticket*/) override { return true; }

 private:
  // A group of messages that the device may not have finished.
  struct Posted {
    std::uint64_t number = 0;
    CallHeader call;
  };

  [[nodiscard]] const OwnChunk* table_of(Span chunks);
  [[nodiscard]] const float* sum_of(
      Span node, const ConstPartials& all, float* to, std::size_t count, std::size_t depth);
  void check(const CallHeader& call, const char* wrong) const;
  [[nodiscard]] dttrain_progress progress(const CallHeader& call) const;
  void await_idle(const CallHeader& call, std::chrono::milliseconds within = {}) const;
  void post(Group& group,
            const CallHeader& call,
            const std::vector<Group::Outgoing>& out,
            const std::vector<Group::Incoming>& in);
  void settle();
  void join(const LinkId& id);
  void abort();
  void leave();

  Group& all_;
  Queue& queue_;
  const dttrain_exchange& link_;
  ChunkGrid grid_;
  const Partials& kept_;
  Settings settings_;
  std::uint64_t posts_ = 0;
  std::deque<Posted> posted_;
  std::map<Span, OwnChunk*> tables_;  // by run of chunks, in device memory
  ChunkReport* reports_;              // one per chunk
  std::vector<Room> spare_;           // for sums of right children, by depth
};

}  // namespace dts::train::accelerator
