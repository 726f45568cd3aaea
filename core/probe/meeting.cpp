// SPDX-License-Identifier: Apache-2.0
#include "core/probe/meeting.hpp"

#include "core/base/net/net.hpp"
#include "core/base/os/wait.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <thread>
#include <utility>

namespace dts::probe {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using std::chrono::system_clock;

constexpr std::size_t k_longest_line = 4096;
constexpr unsigned k_exchanges = 16;
constexpr milliseconds k_answer_limit{2000};
constexpr milliseconds k_look{50};

std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

Result<UniqueFd> accept_one(unsigned port, milliseconds limit) {
  DTS_ASSIGN(const UniqueFd listener, listen_on(port));
  if (!wait_readable(listener.get(), steady_clock::now() + limit))
    return fail(Errc::timed_out,
                fmt::format("nobody came to port {} within {} s", port, limit.count() / 1000));
  UniqueFd fd = accept_from(listener.get());
  if (!fd.valid()) return fail_errno("cannot accept a connection");
  return fd;
}

// Retries for as long as the connection is refused: rank 0 may not listen yet.
Result<UniqueFd> connect_patiently(const std::string& host, unsigned port, milliseconds limit) {
  const auto until = steady_clock::now() + limit;
  while (true) {
    auto fd = connect_to(host, port, k_answer_limit);
    if (fd || steady_clock::now() > until) return fd;
    std::this_thread::sleep_for(k_look);
  }
}

}  // namespace

Meeting::Meeting(UniqueFd fd, std::string where)
    : connection_(std::move(fd), k_longest_line), where_(std::move(where)) {}

Result<Meeting> Meeting::hold(unsigned rank, const Lookup& lookup, milliseconds limit) {
  const std::string host = lookup("MASTER_ADDR").value_or("");
  const auto port = parse_number(lookup("MASTER_PORT").value_or(""));
  if (host.empty() || !port || *port > 65535)
    return fail(Errc::invalid, "MASTER_ADDR and MASTER_PORT name no place to meet");
  const auto number = static_cast<unsigned>(*port);
  DTS_ASSIGN(UniqueFd fd,
             rank == 0 ? accept_one(number, limit) : connect_patiently(host, number, limit));
  return Meeting(std::move(fd), fmt::format("{} port {}", host, number));
}

void Meeting::send(const std::string& line) {
  connection_.send(line);
  while (connection_.wants_to_write() && connection_.flush()) std::this_thread::sleep_for(k_look);
}

std::optional<std::string> Meeting::next(milliseconds limit) {
  const auto until = steady_clock::now() + limit;
  while (true) {
    if (auto line = connection_.next_line()) return line;
    if (!wait_readable(connection_.fd(), until)) return std::nullopt;
    if (!connection_.receive()) return connection_.next_line();
  }
}

std::optional<std::string> Meeting::exchange(const std::string& line, milliseconds limit) {
  send(line);
  return next(limit);
}

std::optional<Clocks> Meeting::compare_clocks() {
  std::optional<Clocks> best;
  for (unsigned i = 1; i <= k_exchanges; ++i) {
    const std::int64_t before = nanoseconds_now();
    const auto answer = exchange("clock", k_answer_limit);
    const std::int64_t after = nanoseconds_now();
    const auto theirs = answer ? parse_number(*answer) : std::nullopt;
    if (!theirs) break;
    const double trip = static_cast<double>(after - before) * 1e-9;
    const double offset =
        static_cast<double>(static_cast<std::int64_t>(*theirs) - before) * 1e-9 - trip / 2;
    if (!best || trip < best->round_trip) best = Clocks{offset, trip, i};
    best->exchanges = i;
  }
  send("thanks");
  return best;
}

void Meeting::answer_clock() {
  while (next(k_answer_limit) == "clock") send(std::to_string(nanoseconds_now()));
}

}  // namespace dts::probe
