// SPDX-License-Identifier: Apache-2.0
// Arrays in a device's memory that go to other ranks' devices from there, over the link of a module
// (dttrain_exchange.h): no host sees them. Sums are added up by the device, along the same tree.
//
// All ranks of a call agree on it over the group's transport before any device begins with it, so
// that no device waits for one that does something else. A device that waits in vain is noticed
// before the host would wait for it: then the link is aborted, and the run ends with a message that
// names the call.
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

// What identifies a link.
using LinkId = std::array<unsigned char, DTTRAIN_LINK_ID_BYTES>;

// What links devices here. Errc::invalid says what is missing or too old, and what to do.
[[nodiscard]] Result<dttrain_link_facts> find_link(const Queue& queue);

// Of a new link: for one rank, which tells the others.
[[nodiscard]] Result<LinkId> make_link_id(const Queue& queue);

class DeviceExchange : public ArrayExchange {
 public:
  struct Settings {
    bool shares_device = false;  // some ranks have one
    // That linking may take, once all ranks have come for it; 0: as any wait of the group.
    std::chrono::milliseconds patience{};
    // As DeviceSettings has it.
    std::function<void(const std::string&)> failed = nullptr;
  };

  // Collective. Links the devices of all ranks; `kept` are the partials that gradients() returns.
  // The group, the queue, whose module has an exchange, and `kept` must outlive it, and arrays of
  // grow() must not.
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

  // What is enqueued afterwards follows.
  void wait(Group& /*group*/, Ticket /*ticket*/) override {}

  [[nodiscard]] bool test(Group& /*group*/, Ticket /*ticket*/) override { return true; }

 private:
  // A group of messages that the device has not ended with.
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
  std::map<Span, OwnChunk*> tables_;  // of runs of chunks, on the device
  ChunkReport* reports_;              // of all chunks
  std::vector<Room> spare_;           // for sums of right children, by depth
};

}  // namespace dts::train::accelerator
