// SPDX-License-Identifier: Apache-2.0
// A group of ranks that call the same functions in the same order. The results do not depend on the
// transport of the messages. Not thread-safe.
//
// Every call has a deadline, and detects a rank that makes a different call: each rank first sends
// the header of its call to every other one (flight_record.hpp) and compares the headers it
// receives. A missed deadline or a different call ends the run through Settings::lost.
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

// The result that all ranks agree on: 0, or the non-zero code of the lowest rank that has one.
struct Verdict {
  int code = 0;
  int rank = 0;  // whose code it is
};

class Group {
 public:
  using Ticket = std::uint64_t;

  struct Settings {
    std::chrono::milliseconds timeout{600000};  // how long a call waits for other ranks
    // Called with Errc::timed_out, with Errc::io if a message was lost, or with Errc::internal if
    // calls do not match. Must not return.
    std::function<void(const Error&)> lost;
    // If set, returns how long other ranks waited for a core since its last call. That time does
    // not count towards the timeout.
    std::function<std::chrono::nanoseconds()> starved = nullptr;
    // If set, is called after each call that waited for other ranks, with the begin and end of the
    // wait.
    std::function<void(Call, Transport::Deadline, Transport::Deadline)> waited = nullptr;
    // If set, is called before `lost`, to end communication that bypasses the transport.
    std::function<void()> ending = nullptr;
  };

  // `members` are the ranks as the transport numbers them; this rank is the `rank`-th of them.
  Group(std::shared_ptr<Transport> transport, std::vector<int> members, int rank, Settings settings)
      : Group(std::move(transport),
              std::move(members),
              rank,
              std::make_shared<Settings>(std::move(settings))) {}

  [[nodiscard]] int rank() const { return rank_; }

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }

  // The other ranks, beginning after this one, so that not all ranks begin with rank 0.
  [[nodiscard]] std::vector<int> others() const;

  // All functions from here on are collective, except test() and those that say otherwise.

  [[nodiscard]] Verdict agree(int code);
  [[nodiscard]] std::int64_t sum(std::int64_t value);
  [[nodiscard]] int least(int value);
  void broadcast(void* data, std::size_t bytes);  // from rank 0
  void barrier();

  // The `value` of every rank, by rank.
  template <class T>
  [[nodiscard]] std::vector<T> gather(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(members_.size());
    wait(post_gather(&value, all.data(), sizeof value));
    return all;
  }

  // Makes a group of the ranks with the same `color`, in the order of their ranks, over the same
  // transport. The groups share their settings, also if they change later. Two ranks that belong to
  // both groups must order their calls of the two groups in the same way.
  [[nodiscard]] Group split(int color);

  // Makes the same group of this rank and `peer` as split() would, but only these two take
  // part.
  [[nodiscard]] Group with(int peer) const;

  // These functions start a transfer of blocks of `bytes` each. It is complete after wait() with
  // its ticket or a later one, or after the next function that waits; until then the memory must
  // stay valid. `in` and `all` hold a block of every rank, by rank; block r of `out` goes to rank
  // r.
  Ticket post_exchange(const void* out, void* in, std::size_t bytes);
  Ticket post_gather(const void* mine, void* all, std::size_t bytes);

  // One message between two ranks, each of which posts its side. Not collective.
  Ticket post_send(int to, const void* data, std::size_t bytes);
  Ticket post_receive(int from, void* data, std::size_t bytes);

  void wait(Ticket ticket);

  // Moves what can be moved now without waiting. Not collective.
  void progress() { (void)transport_->progress(); }

  [[nodiscard]] bool test(Ticket ticket);

  // Waits until test() would complete something for one of these groups, each of which has posted
  // something. Not collective. A message's deadline runs over all calls that wait for it; the first
  // one to pass ends the run, with an error that names its group's call.
  static void wait_any(const std::vector<Group*>& groups);

  // Multiplies the timeout of this group's later calls. If ranks wait for each other in a chain,
  // the rank next to the missing one should time out, and report, first.
  void set_patience(double times) { patience_ = times; }

  // One of several messages of a call. Sender and receiver list their common messages in the same
  // order and with the same sizes; a message of 0 bytes is not sent.
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

  // A call of this rank with `peers`; each of them must name this rank as a peer. Posted like
  // post_exchange(). `call` and `total` must be equal on all ranks.
  Ticket post_slices(Call call,
                     std::vector<int> peers,
                     std::uint64_t total,
                     const std::vector<Outgoing>& out,
                     const std::vector<Incoming>& in);

  // What a rank receives by post_partials(). The caller sets from, owner, node and floats of each
  // partial. The object must not move or end before the ticket is done.
  struct Scattered {
    struct Partial {
      int from = 0;
      int owner = 0;  // the rank that owns the slice
      Span node;
      std::size_t floats = 0;
      const void* sums = nullptr;
      Transport::Ticket loan = 0;  // 0: none
    };

    Ticket ticket = 0;
    std::vector<Partial> theirs;
    Room room;
  };

  // Like post_slices(), for slices of partial sums. Once the ticket is done, each `sums` of
  // `to.theirs` points to received data, or into the sender's memory until give_back(). Other ranks
  // may read the memory of `out` directly, so it must not change until this rank returns from a
  // waiting call that every other rank makes after its give_back().
  Ticket post_partials(std::vector<int> peers,
                       std::uint64_t total,
                       const std::vector<Outgoing>& out,
                       Scattered& to);

  // The first half of a reduce-scatter: sends to each rank its slice of the partials in `mine`, the
  // sums of this rank's run of `shards`, like post_partials(). Once the ticket is done, partials()
  // returns those of all shards for this rank's own slice, from which combine_to() computes the
  // sum.
  Ticket post_scatter(int shards,
                      const std::vector<Range>& slices,
                      const Partials& mine,
                      Scattered& to);
  [[nodiscard]] static ConstPartials partials(const Scattered& of, Range own, const Partials& mine);
  void give_back(const Scattered& read);

  // Sends each rank's slice of `array` to all others, in place. Posted like post_exchange().
  Ticket post_gather_slices(float* array, const std::vector<Range>& slices);

  // Begins a call of this rank with `peers`, like post_slices(), whose data bypasses the transport.
  // Returns once all of them have announced it; only then may data move.
  [[nodiscard]] CallHeader announce(Call call, std::vector<int> peers, std::uint64_t total);

  // Waits until `look` returns Waited::done for an announced call. Not collective. If that takes
  // longer than `within` (by default, than any other wait), the run ends as after any timeout, with
  // the name of the call. break_off() also ends the run, with Errc::io and the reason `why`.
  using Poll = std::function<Waited()>;
  void await(const CallHeader& call,
             const Poll& look,
             std::optional<std::chrono::milliseconds> within = std::nullopt) const;
  [[noreturn]] void break_off(const CallHeader& call, const std::string& why) const;

  // The number of a rank in the transport.
  [[nodiscard]] int member(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

  // Sets Settings::ending, which all groups that were split from each other share.
  void before_end(std::function<void()> ending) { settings_->ending = std::move(ending); }

 protected:
  // Nothing may be in flight.
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
    bool lends = false;  // a sent message that the receiver may read in place
  };

  struct Posted {
    CallHeader mine;
    std::vector<int> peers;
    std::vector<CallHeader> theirs;  // by peer
    std::vector<Part> headers;       // incoming, one per peer
    std::vector<Part> content;
    Ticket ticket = 0;
    std::optional<Transport::Deadline> deadline;  // set once wait_any() has waited for it
  };

  Posted& begin(const CallHeader& mine, std::vector<int> peers);
  Posted& begin(Call call, std::uint64_t bytes, std::vector<int> peers);
  Posted& begin(Call call, std::uint64_t bytes);  // with all others
  void send(Posted& call, int to, const void* data, std::size_t bytes, bool lends = false);
  void receive(Posted& call, int from, void* data, std::size_t bytes);
  void meet(const Posted& call, Transport::Deadline& deadline);
  void complete(const Posted& call);
  void report_wait(const Posted& call, Transport::Deadline begin) const;
  template <class Comes>
  [[nodiscard]] bool completes_in_time(const Comes& comes, Transport::Deadline& deadline) const;
  [[nodiscard]] bool arrives(const Part& part, Transport::Deadline& deadline) const;
  [[nodiscard]] std::chrono::milliseconds limit() const;
  void check_transport(const Posted& call) const;
  void compare(const Posted& call, std::size_t peer) const;
  void lose(const Posted& call) const;
  [[nodiscard]] bool is_over(const Part& part) const;
  [[nodiscard]] bool is_complete(const Posted& call) const;
  [[noreturn]] void end(Errc code, const std::string& message) const;

  std::shared_ptr<Transport> transport_;
  std::vector<int> members_;
  int rank_;
  std::shared_ptr<Settings> settings_;  // shared with the groups split from this one
  double patience_ = 1;
  FlightRecord record_;
  std::vector<std::uint64_t> sent_, received_messages_;  // messages to and from each rank
  std::deque<Posted> posted_;
  Ticket tickets_ = 0;
};

}  // namespace dts::train
