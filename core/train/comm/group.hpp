// SPDX-License-Identifier: Apache-2.0
// Ranks that call the same functions in the same order. What they compute does not depend on how
// their messages travel. Not thread-safe.
//
// No call waits without a deadline, and none on a rank that calls something else: before anything
// else each rank sends what it calls to every other one (flight_record.hpp), and compares. Either
// ends the run, by Settings::lost.
#pragma once

#include "core/base/result.hpp"
#include "core/train/comm/flight_record.hpp"
#include "core/train/comm/transport.hpp"
#include "core/train/comm/tree.hpp"
#include "core/train/comm/waiting.hpp"
#include "core/train/memory/room.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

namespace dts::train {

// The result all ranks agree on: 0, or the code of the lowest rank with a non-zero code.
struct Verdict {
  int code = 0;
  int rank = 0;  // whose code it is
};

class Group {
 public:
  using Ticket = std::uint64_t;

  struct Settings {
    std::chrono::milliseconds timeout{600000};  // that a call waits for others
    // Called with Errc::timed_out, Errc::io if a message was lost or, if calls do not match,
    // Errc::internal. Must not return.
    std::function<void(const Error&)> lost;
    // If set: how long others were kept waiting for a core since it was last called. That time does
    // not count.
    std::function<std::chrono::nanoseconds()> starved = nullptr;
    // If set, is told of each call that waited for others, from when to when.
    std::function<void(Call, Transport::Deadline, Transport::Deadline)> waited = nullptr;
    // If set, is called before `lost`: ends what travels beside the transport.
    std::function<void()> ending = nullptr;
  };

  // `members`, as the transport numbers them, of which this rank is the `rank`-th.
  Group(std::shared_ptr<Transport> transport, std::vector<int> members, int rank, Settings settings)
      : Group(std::move(transport),
              std::move(members),
              rank,
              std::make_shared<Settings>(std::move(settings))) {}

  [[nodiscard]] int rank() const { return rank_; }

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }

  // The other ranks, from the next one on, so that not all begin with rank 0.
  [[nodiscard]] std::vector<int> others() const;

  // Every function from here on but test() is collective.

  [[nodiscard]] Verdict agree(int code);
  [[nodiscard]] std::int64_t sum(std::int64_t value);
  [[nodiscard]] int least(int value);
  void broadcast(void* data, std::size_t bytes);  // from rank 0
  void barrier();

  // `value` of every rank, in the order of ranks.
  template <class T>
  [[nodiscard]] std::vector<T> gather(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(members_.size());
    wait(post_gather(&value, all.data(), sizeof value));
    return all;
  }

  // The ranks with the same `color`, in their order: a group of its own over the same transport,
  // with the same settings, also later ones.
  // Two ranks that are in both groups call them in the same order.
  [[nodiscard]] Group split(int color);

  // This rank and `peer` as split() makes it, but not collective: both make it, and nobody else
  // does anything.
  [[nodiscard]] Group with(int peer) const;

  // Posted now, done after wait() with the ticket or any later one, or the next function that
  // waits; `bytes` of each block. `in` and `all` have a block of every rank; of `out`, block r goes
  // to rank r. The memory must live that long.
  Ticket post_exchange(const void* out, void* in, std::size_t bytes);
  Ticket post_gather(const void* mine, void* all, std::size_t bytes);

  // From one rank to another, which both post: not collective.
  Ticket post_send(int to, const void* data, std::size_t bytes);
  Ticket post_receive(int from, void* data, std::size_t bytes);

  void wait(Ticket ticket);

  // Moves what can be moved now, and does not wait: not collective.
  void progress() { (void)transport_->progress(); }

  [[nodiscard]] bool test(Ticket ticket);

  // Waits until something can be completed by test() of one of these groups, each of which has
  // posted something: not collective. Ends the run if nothing can and one of them has been waited
  // for too long, also in earlier calls for the same message, and names that one.
  static void wait_any(const std::vector<Group*>& groups);

  // From now on a call of this group waits so many times the timeout. Where ranks wait for each
  // other in a chain, the one that is next to a missing rank should be the one that reports it.
  void set_patience(double times) { patience_ = times; }

  // One of several messages of a call. Between two ranks, both have as many in the same order, and
  // name the same number of bytes for each; none is sent of 0.
  struct Outgoing {
    int to = 0;
    const void* data = nullptr;
    std::size_t bytes = 0;
  };

  struct Incoming {
    int from = 0;
    void* data = nullptr;
    std::size_t bytes = 0;
  };

  // A call of this rank and `peers`, for each of which this rank is one, too; posted, as above.
  // `call` and `total` are the same on all ranks.
  Ticket post_slices(Call call,
                     std::vector<int> peers,
                     std::uint64_t total,
                     const std::vector<Outgoing>& out,
                     const std::vector<Incoming>& in);

  // What a rank receives of post_partials(), of which the caller names sender, owner, node and
  // size. It must stay where it is until the ticket is done.
  struct Scattered {
    struct Partial {
      int from = 0;
      int owner = 0;  // whose slice it is of
      Span node;
      std::size_t floats = 0;
      const void* sums = nullptr;
      Transport::Ticket loan = 0;  // 0: none
    };

    Ticket ticket = 0;
    std::vector<Partial> theirs;
    Room room;
  };

  // As post_slices(), of slices of partial sums. Once the ticket is done, each of `to.theirs` says
  // where its sums are: where they came, or in another rank's memory, until give_back(). What goes
  // `out` must stay as it is until a function that waits has returned which every other rank calls
  // after its give_back(): others may still read it.
  Ticket post_partials(std::vector<int> peers,
                       std::uint64_t total,
                       const std::vector<Outgoing>& out,
                       Scattered& to);

  // Sends to each rank its slice of the partials in `mine`, the sums of this rank's run of `shards`
  // (the first half of a reduce-scatter), as post_partials() does. Once the ticket is done,
  // partials() has those of all shards for this rank's own slice, from which combine_to() makes
  // their sum.
  Ticket post_scatter(int shards,
                      const std::vector<Range>& slices,
                      const Partials& mine,
                      Scattered& to);
  [[nodiscard]] static ConstPartials partials(const Scattered& of, Range own, const Partials& mine);
  void give_back(const Scattered& read);

  // Each rank's slice of `array` to all others, in place; posted, as above.
  Ticket post_gather_slices(float* array, const std::vector<Range>& slices);

  // A call of this rank and `peers`, as post_slices(), whose content goes another way than the
  // transport. Returns once all of them have said that they make it: only then may it begin.
  [[nodiscard]] CallHeader announce(Call call, std::vector<int> peers, std::uint64_t total);

  // Until `look` says that what a call has begun is done: not collective. Ends the run as a wait
  // does, naming the call, unless that is so `within` some time, by default that of any wait; so
  // does break_off(), with Errc::io and what went wrong.
  using Look = std::function<Waited()>;
  void await(const CallHeader& call,
             const Look& look,
             std::optional<std::chrono::milliseconds> within = std::nullopt) const;
  [[noreturn]] void break_off(const CallHeader& call, const std::string& why) const;

  // How the transport numbers a rank.
  [[nodiscard]] int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

  // Settings::ending, of all groups that are split from this one or that this one is split from.
  void before_end(std::function<void()> ending) { settings_->ending = std::move(ending); }

 protected:
  // Nothing may be under way.
  void use(std::shared_ptr<Transport> transport) { transport_ = std::move(transport); }

  [[nodiscard]] Transport& transport() { return *transport_; }

  [[nodiscard]] Settings& settings() { return *settings_; }

 private:
  Group(std::shared_ptr<Transport> transport,
        std::vector<int> members,
        int rank,
        std::shared_ptr<Settings> settings);

  struct Part {
    int peer;
    Transport::Ticket ticket;
    bool lends = false;  // sent, and may be read where it is
  };

  struct Posted {
    CallHeader mine;
    std::vector<int> peers;
    std::vector<CallHeader> theirs;  // of these
    std::vector<Part> headers;       // that come, one of each
    std::vector<Part> content;
    Ticket ticket = 0;
    std::optional<Transport::Deadline> deadline;  // once wait_any() has waited for it
  };

  Posted& begin(const CallHeader& mine, std::vector<int> peers);
  Posted& begin(Call call, std::uint64_t bytes, std::vector<int> peers);
  Posted& begin(Call call, std::uint64_t bytes);  // with all others
  void send(Posted& call, int to, const void* data, std::size_t bytes, bool lends = false);
  void receive(Posted& call, int from, void* data, std::size_t bytes);
  void meet(const Posted& call, Transport::Deadline& deadline);
  void complete(const Posted& call);
  void tell_wait(const Posted& call, Transport::Deadline begin) const;
  template <class Comes>
  [[nodiscard]] bool comes_in_time(const Comes& comes, Transport::Deadline& deadline) const;
  [[nodiscard]] bool arrives(const Part& part, Transport::Deadline& deadline) const;
  [[nodiscard]] std::chrono::milliseconds limit() const;
  void check_whole(const Posted& call) const;
  void compare(const Posted& call, std::size_t peer) const;
  void lose(const Posted& call) const;
  [[nodiscard]] bool is_over(const Part& part) const;
  [[nodiscard]] bool is_complete(const Posted& call) const;
  [[noreturn]] void end(Errc code, const std::string& message) const;

  std::shared_ptr<Transport> transport_;
  std::vector<int> members_;
  int rank_;
  std::shared_ptr<Settings> settings_;  // with groups split from this one
  double patience_ = 1;
  FlightRecord record_;
  std::vector<std::uint64_t> sent_, received_messages_;  // messages to and from each rank
  std::deque<Posted> posted_;
  Ticket tickets_ = 0;
};

}  // namespace dts::train
