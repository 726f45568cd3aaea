// SPDX-License-Identifier: Apache-2.0
// DeviceExchange: creates the link between devices, monitors and ends it.
#include "core/train/accelerator/exchange/device_exchange.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace dts::train::accelerator {
namespace {

// For calls of a library that may hang after a failure.
constexpr std::chrono::seconds k_patience(5);

}  // namespace

Result<dttrain_link_facts> find_link(const Queue& queue) {
  if (queue.table().exchange == nullptr)
    return fail(Errc::invalid,
                "the module was built without NCCL's header, nccl.h",
                "build it where NCCL's header is (NVIDIA's package libnccl-dev), or use "
                "--device-exchange staged");
  dttrain_link_facts facts{};
  if (const char* const wrong = queue.table().exchange->find(queue.context(), &facts))
    return fail(Errc::invalid,
                std::string("NCCL cannot be used: ") + wrong,
                "install NCCL (NVIDIA's package libnccl2, or nvidia-nccl of PyPI) where the linker "
                "finds libnccl.so.2, which looks in LD_LIBRARY_PATH too, or use --device-exchange "
                "staged");
  return facts;
}

Result<LinkId> make_link_id(const Queue& queue) {
  LinkId id{};
  if (const char* const wrong = queue.table().exchange->make_id(queue.context(), id.data()))
    return fail(Errc::invalid,
                std::string("NCCL cannot begin: ") + wrong,
                "look at what NCCL_DEBUG=INFO prints, or use --device-exchange staged");
  return id;
}

DeviceExchange::DeviceExchange(Group& all,
                               Queue& queue,
                               const Layout& layout,
                               const Partials& kept,
                               const LinkId& id,
                               Settings settings)
    : all_(all),
      queue_(queue),
      link_(*queue.table().exchange),
      grid_(layout),
      kept_(kept),
      settings_(std::move(settings)),
      reports_(queue.allocate<ChunkReport>(static_cast<std::size_t>(grid_.count()))) {
  all_.before_end([this] { abort(); });
  try {
    join(id);
  } catch (...) {  // where the end of a run is an exception
    all_.before_end(nullptr);
    throw;
  }
  queue_.before_wait([this] { settle(); });
}

void DeviceExchange::join(const LinkId& id) {
  const CallHeader call =
      all_.announce(Call::connect, all_.others(), static_cast<std::uint64_t>(all_.size()));
  const int shares = settings_.shares_device ? 1 : 0;
  check(call, link_.join(queue_.context(), id.data(), all_.size(), all_.rank(), shares));
  await_idle(call, settings_.patience);
}

DeviceExchange::~DeviceExchange() {
  queue_.before_wait(nullptr);
  all_.before_end(nullptr);
  leave();
  try {
    queue_.release(reports_);
    for (const auto& [chunks, table] : tables_) queue_.release(table);
  } catch (const DeviceError&) {  // NOLINT(bugprone-empty-catch): nobody computes with it any more
  }
}

void DeviceExchange::check(const CallHeader& call, const char* wrong) const {
  if (wrong != nullptr) all_.break_off(call, wrong);
}

dttrain_progress DeviceExchange::progress(const CallHeader& call) const {
  dttrain_progress now{};
  check(call, link_.progress(queue_.context(), &now));
  return now;
}

void DeviceExchange::await_idle(const CallHeader& call, std::chrono::milliseconds within) const {
  const auto check_idle = [&] {
    return progress(call).is_idle != 0 ? Waited::done : Waited::nothing;
  };
  all_.await(call, check_idle, within.count() > 0 ? std::optional(within) : std::nullopt);
}

void DeviceExchange::post(Group& group,
                          const CallHeader& call,
                          const std::vector<Group::Outgoing>& out,
                          const std::vector<Group::Incoming>& in) {
  std::vector<dttrain_message> messages;
  for (const Group::Incoming& one : in)
    if (one.bytes > 0) messages.push_back({one.data, one.bytes, group.member(one.from), 0});
  for (const Group::Outgoing& one : out)
    if (one.bytes > 0)
      messages.push_back({const_cast<void*>(one.data), one.bytes, group.member(one.to), 1});
  if (messages.empty()) return;
  queue_.begin_piece();
  check(call, link_.post(queue_.context(), messages.data(), messages.size()));
  posted_.push_back({++posts_, call});
  await_idle(call);
}

DeviceExchange::Ticket DeviceExchange::post_partials(Group& group,
                                                     std::vector<int> peers,
                                                     std::uint64_t total,
                                                     const std::vector<Group::Outgoing>& out,
                                                     Group::Scattered& to) {
  std::size_t floats = 0;
  for (const Group::Scattered::Partial& one : to.theirs) floats += one.floats;
  grow(to.room, floats);
  std::vector<Group::Incoming> in;
  float* at = to.room.data();
  for (Group::Scattered::Partial& one : to.theirs) {
    one.sums = at;
    one.loan = 0;
    in.push_back({one.from, at, one.floats * sizeof(float)});
    at += one.floats;
  }
  post(group, group.announce(Call::scatter_partials, std::move(peers), total), out, in);
  return to.ticket = 0;
}

DeviceExchange::Ticket DeviceExchange::post_slices(Group& group,
                                                   Call call,
                                                   std::vector<int> peers,
                                                   std::uint64_t total,
                                                   const std::vector<Group::Outgoing>& out,
                                                   const std::vector<Group::Incoming>& in) {
  post(group, group.announce(call, std::move(peers), total), out, in);
  return 0;
}

// Called before the host waits for the device, which has no time limit.
void DeviceExchange::settle() {
  for (; !posted_.empty(); posted_.pop_front()) {
    const Posted& first = posted_.front();
    all_.await(first.call, [&] {
      return progress(first.call).ended >= first.number ? Waited::done : Waited::nothing;
    });
  }
}

// Uses a detached thread, because the library may hang; the process is about to end anyway.
void DeviceExchange::abort() {
  posted_.clear();
  auto ended = std::make_shared<std::promise<void>>();
  auto end = ended->get_future();
  std::thread([ended, link = &link_, context = queue_.context()] {
    link->abort(context);
    ended->set_value();
  }).detach();
  (void)end.wait_for(k_patience);
}

void DeviceExchange::leave() {
  dttrain_progress now{};
  const auto until = std::chrono::steady_clock::now() + k_patience;
  const char* wrong = link_.leave(queue_.context());
  while (wrong == nullptr && now.is_idle == 0 && std::chrono::steady_clock::now() < until) {
    wrong = link_.progress(queue_.context(), &now);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  if (wrong != nullptr || now.is_idle == 0) abort();
}

}  // namespace dts::train::accelerator
