// SPDX-License-Identifier: Apache-2.0
#include "core/stage/meter.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/duration.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <array>

namespace dts::stage {

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> k_units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < k_units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, k_units.at(unit));
}

std::string format_progress(const Progress& progress,
                            std::uint64_t first,
                            std::chrono::duration<double> since) {
  std::string words =
      fmt::format("{} of {}", format_bytes(progress.done), format_bytes(progress.total));
  if (since.count() <= 0 || progress.done <= first) return words;
  const double rate = static_cast<double>(progress.done - first) / since.count();
  words += fmt::format(", {}/s", format_bytes(static_cast<std::uint64_t>(rate)));
  if (progress.total > progress.done)
    words += fmt::format(
        ", {} left",
        format_duration(Seconds(static_cast<double>(progress.total - progress.done) / rate)));
  return words;
}

std::optional<Progress> parse_progress(std::string_view text) {
  const std::vector<std::string> words = split(trim(text), ' ');
  if (words.size() != 2) return std::nullopt;
  const auto done = parse_number(words[0]);
  const auto total = parse_number(words[1]);
  if (!done || !total) return std::nullopt;
  return Progress{*done, *total};
}

std::optional<Progress> read_progress(const std::string& folder) {
  const auto text = read_file(folder + "/progress", 64);
  return text ? parse_progress(*text) : std::nullopt;
}

void Meter::report(const Progress& now) const {
  // Best effort: the copying threads notice a full disk themselves.
  (void)write_file(folder_ + "/progress",
                   fmt::format("{} {}\n", now.done, now.total),
                   0600,
                   Durability::deferred);
}

void Meter::begin(std::uint64_t total) {
  total_ = total;
  began_ = std::chrono::steady_clock::now();
  report(progress());
  reporter_ = std::thread([this, first = done_.load(), told = progress()]() mutable {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, every_, [this] { return over_; })) {
      const Progress now = progress();
      if (now == told) continue;
      report(told = now);
      say_("staging: " + format_progress(now, first, std::chrono::steady_clock::now() - began_));
    }
  });
}

Meter::~Meter() {
  if (!reporter_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  reporter_.join();
  report(progress());
}

}  // namespace dts::stage
