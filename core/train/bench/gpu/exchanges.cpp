// SPDX-License-Identifier: Apache-2.0
// How fast the GPUs of a node exchange arrays with NCCL, as trainings do: all at once, each sends
// to the next and receives from the previous one.
#include "core/train/accelerator/exchange/device_exchange.hpp"
#include "core/train/bench/gpu/gpu.hpp"
#include "core/train/bench/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <new>
#include <thread>

namespace dts::train::bench {
namespace {

using accelerator::DeviceError;
using accelerator::LinkId;
using accelerator::Queue;

struct Message {
  const char* name;
  std::size_t bytes;
};

// From sizes that are dominated by latency to sizes that are not.
constexpr Message k_messages[] = {{"64 KiB", std::size_t{64} << 10},
                                  {"1 MiB", k_mib},
                                  {"16 MiB", 16 * k_mib},
                                  {"64 MiB", 64 * k_mib}};
constexpr int k_rounds = 7;
constexpr std::chrono::seconds k_round_patience{5};  // per round
// Until all GPUs have been opened and linked: one process does this for all of a node.
constexpr std::chrono::seconds k_join_patience{20};

// State that the GPUs of a ring share. Thread-safe.
struct Ring {
  int ranks = 0;
  std::promise<LinkId> made;
  std::shared_future<LinkId> id{made.get_future()};
  std::atomic<bool> is_broken{false};  // set by the first that fails: the others stop waiting
  std::string cause;                   // the first error; read after all have ended

  void break_off(const std::string& what) {
    if (!is_broken.exchange(true)) cause = what;
  }
};

// One GPU of a ring. Every function may throw DeviceError.
class RingRank {
 public:
  RingRank(Queue& queue, Ring& ring, int rank)
      : queue_(queue), ring_(ring), rank_(rank), link_(*queue.table().exchange) {
    for (float*& array : arrays_) array = queue.allocate(largest() / sizeof(float));
    queue_.wait();
    if (rank_ == 0) make_id();
    const auto end = Clock::now() + patience_;
    while (ring_.id.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready)
      give_up_after(end);
    check(link_.join(queue_.context(), ring_.id.get().data(), ring_.ranks, rank_, 0));
    is_joined_ = true;
    await([](const dttrain_progress& now) { return now.is_idle != 0; });
    patience_ = k_round_patience;
  }

  RingRank(const RingRank&) = delete;
  RingRank& operator=(const RingRank&) = delete;

  // Does not wait for anything in flight.
  ~RingRank() {
    if (!is_joined_) return;
    dttrain_progress now{};
    const char* const wrong = link_.progress(queue_.context(), &now);
    const bool is_under_way = now.is_idle == 0 || now.ended < posts_;
    try {
      if (wrong != nullptr || is_under_way || ring_.is_broken) throw DeviceError("it is broken");
      check(link_.leave(queue_.context()));
      await([](const dttrain_progress& left) { return left.is_idle != 0; });
    } catch (const DeviceError&) {
      link_.abort(queue_.context());
    }
  }

  // The median, by the GPU's own clock.
  [[nodiscard]] double seconds(std::size_t bytes) {
    std::vector<double> rounds;
    (void)round(bytes);
    for (int i = 0; i < k_rounds; ++i) rounds.push_back(round(bytes));
    return median(std::move(rounds));
  }

 private:
  static std::size_t largest() { return std::rbegin(k_messages)->bytes; }

  [[noreturn]] void fail(const std::string& what) const {
    ring_.break_off(what);
    throw DeviceError(what);
  }

  void check(const char* wrong) const {
    if (wrong != nullptr) fail(wrong);
  }

  void make_id() {
    dttrain_link_facts facts{};
    check(link_.find(queue_.context(), &facts));
    const auto id = accelerator::make_link_id(queue_);
    if (!id) fail(id.error().message);
    ring_.made.set_value(*id);
  }

  void give_up_after(Clock::time_point end) const {
    if (ring_.is_broken) throw DeviceError("another GPU has failed");
    if (Clock::now() > end) fail(fmt::format("it takes longer than {} s", patience_.count()));
  }

  template <class Condition>
  void await(const Condition& condition) {
    const auto end = Clock::now() + patience_;
    for (dttrain_progress now{};;) {
      check(link_.progress(queue_.context(), &now));
      if (condition(now)) return;
      give_up_after(end);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  double round(std::size_t bytes) {
    const int next = (rank_ + 1) % ring_.ranks;
    const int before = (rank_ + ring_.ranks - 1) % ring_.ranks;
    const dttrain_message both[] = {{arrays_[0], bytes, before, 0}, {arrays_[1], bytes, next, 1}};
    return queue_.seconds_of([&] {
      check(link_.post(queue_.context(), both, std::size(both)));
      ++posts_;
      await([&](const dttrain_progress& now) { return now.is_idle != 0 && now.ended >= posts_; });
    });
  }

  Queue& queue_;
  Ring& ring_;
  int rank_;
  const dttrain_exchange& link_;
  std::array<float*, 2> arrays_{};
  std::uint64_t posts_ = 0;
  bool is_joined_ = false;
  std::chrono::seconds patience_ = k_join_patience;
};

// The seconds of each message; fewer if something failed.
std::vector<double> sweep_on(int device, int rank, Ring& ring) {
  std::vector<double> all;
  auto opened = accelerator::open_device("cuda", device);
  if (!opened) ring.break_off(opened.error().message);
  if (!opened) return all;
  try {
    RingRank one(*opened->queue, ring, rank);
    for (const Message& message : k_messages) all.push_back(one.seconds(message.bytes));
  } catch (const std::exception& e) {  // DeviceError, also of the queue, std::bad_alloc
    ring.break_off(e.what());
  }
  return all;
}

}  // namespace

Result<std::vector<Measure>> exchange_rates(const std::vector<int>& devices) {
  Ring ring;
  ring.ranks = static_cast<int>(devices.size());
  std::vector<std::vector<double>> found(devices.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < devices.size(); ++i)
    threads.emplace_back([&, i] { found[i] = sweep_on(devices[i], static_cast<int>(i), ring); });
  for (std::thread& thread : threads) thread.join();
  if (ring.is_broken) return fail(Errc::io, ring.cause);
  std::vector<Measure> rates;
  for (std::size_t i = 0; i < std::size(k_messages); ++i) {
    double slowest = 0;
    for (const auto& one : found) slowest = std::max(slowest, one[i]);
    Measure rate{"nccl", per_second(static_cast<double>(k_messages[i].bytes), slowest), "B/s"};
    rate.what = k_messages[i].name;
    rates.push_back(std::move(rate));
  }
  return rates;
}

}  // namespace dts::train::bench
