// SPDX-License-Identifier: Apache-2.0
// Two ranks and the connection between them, which carries one line at a time.
#pragma once

#include "core/base/net/line_connection.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/result.hpp"
#include "core/probe/facts.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace dts::probe {

class Meeting {
 public:
  // Rank 0 listens at MASTER_PORT, and the other rank connects to MASTER_ADDR, as programs do.
  // Errc::timed_out after `limit`; Errc::invalid if these variables are missing.
  [[nodiscard]] static Result<Meeting> hold(unsigned rank,
                                            const Lookup& lookup,
                                            std::chrono::milliseconds limit);

  // "10.0.0.7 port 29500".
  [[nodiscard]] const std::string& where() const { return where_; }

  void send(const std::string& line);
  // The other rank's next line; nullopt: none arrived in time, or the other rank is gone.
  [[nodiscard]] std::optional<std::string> next(std::chrono::milliseconds limit);

  // Sends our line and returns the other rank's; both ranks must call it.
  [[nodiscard]] std::optional<std::string> exchange(const std::string& line,
                                                    std::chrono::milliseconds limit);

  // Measures the other rank's clock relative to ours by the method of NTP (RFC 5905, section 8),
  // using the exchange with the shortest round trip. The other rank must call answer_clock().
  [[nodiscard]] std::optional<Clocks> compare_clocks();
  void answer_clock();

 private:
  Meeting(UniqueFd fd, std::string where);

  LineConnection connection_;
  std::string where_;
};

}  // namespace dts::probe
