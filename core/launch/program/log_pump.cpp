// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/log_pump.hpp"

#include "core/base/os/log.hpp"
#include "core/base/os/wait.hpp"
#include "core/base/text/units.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int k_pipe_bytes = 1 << 20;  // the size that pipe(7) allows every user
constexpr std::chrono::seconds k_patience{2};

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void raise(const UniqueFd& event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event.get(), &one, sizeof one);
}

}  // namespace

std::string line_time(std::chrono::system_clock::time_point time) {
  std::string text = format_utc(time);  // "...:29Z"
  const auto part = std::chrono::floor<std::chrono::milliseconds>(time) -
                    std::chrono::floor<std::chrono::seconds>(time);
  text.replace(text.size() - 1, 1, fmt::format(".{:03}Z ", part.count()));
  return text;
}

void LineStamper::add(std::string_view piece, std::string_view time, std::string& out) {
  while (!piece.empty()) {
    if (!in_line_) out += time;
    const std::size_t end = piece.find('\n');
    in_line_ = end == std::string_view::npos;
    const std::size_t length = in_line_ ? piece.size() : end + 1;
    out += piece.substr(0, length);
    piece.remove_prefix(length);
  }
}

LogPump::LogPump(UniqueFd pipe, UniqueFd log)
    : pipe_(std::move(pipe)),
      log_(std::move(log)),
      give_up_(::eventfd(0, EFD_CLOEXEC)),
      ended_(::eventfd(0, EFD_CLOEXEC)) {
  ::fcntl(pipe_.get(), F_SETPIPE_SZ, k_pipe_bytes);
  thread_ = std::thread([this] { run(); });
}

LogPump::~LogPump() {
  [[maybe_unused]] const bool ended = wait_readable(ended_.get(), Clock::now() + k_patience);
  raise(give_up_);
  thread_.join();
}

void LogPump::run() const {
  LineStamper stamper;
  std::vector<char> block(std::size_t{256} << 10);
  std::string text;
  bool failed = false;
  while (true) {
    std::array<pollfd, 2> fds{{{pipe_.get(), POLLIN, 0}, {give_up_.get(), POLLIN, 0}}};
    if (!wait_for_any(fds, Clock::time_point::max())) break;
    if (fds[0].revents == 0 && fds[1].revents != 0) break;
    if (fds[0].revents == 0) continue;
    const ssize_t n = ::read(pipe_.get(), block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.clear();
    stamper.add({block.data(), static_cast<std::size_t>(n)},
                line_time(std::chrono::system_clock::now()),
                text);
    // The program must not stop because the disk is full: its output is lost, which is reported
    // once.
    if (!write_all(log_.get(), text) && !failed) {
      failed = true;
      log("cannot write the log: {}", std::strerror(errno));
    }
  }
  raise(ended_);
}

}  // namespace dts::launch
