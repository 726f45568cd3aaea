// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/ledger.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/units.hpp"
#include "core/run/directory/file_lock.hpp"
#include "core/run/event/event_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace dts::run {

namespace {

// A crash during an append (a power failure, a lost node) leaves half a record. Appending to it
// would make an unreadable line, and so a run that never starts again.
Result<void> cut_half_record(int fd, const std::string& ledger) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  off_t whole = size;
  char block[4096];
  while (whole > 0) {
    const off_t from = std::max<off_t>(0, whole - static_cast<off_t>(sizeof block));
    const ssize_t got = ::pread(fd, block, static_cast<std::size_t>(whole - from), from);
    if (got != whole - from) return fail_errno("cannot read " + ledger);
    const auto newline = std::string_view(block, static_cast<std::size_t>(got)).rfind('\n');
    if (newline != std::string_view::npos) {
      whole = from + static_cast<off_t>(newline) + 1;
      break;
    }
    whole = from;
  }
  if (whole != size && ::ftruncate(fd, whole) != 0)
    return fail_errno("cannot cut half a record from " + ledger);
  return {};
}

}  // namespace

Result<void> append_event(const std::string& ledger, Event event) {
  const UniqueFd lock = lock_file(ledger);
  if (lock.valid()) DTS_TRY(cut_half_record(lock.get(), ledger));
  if (event.time.empty()) event.time = format_utc(std::chrono::system_clock::now());
  return append_line(ledger, to_line(event));
}

Ledger parse_ledger(std::string_view text) {
  Ledger ledger;
  unsigned number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string_view::npos) {
      // Half a record may still be being written. NULs are left by a crash of the system.
      if (text.find('\0', start) != std::string_view::npos) ledger.damaged.push_back(number + 1);
      break;
    }
    ++number;
    std::string_view line = text.substr(start, end - start);
    auto event = event_from(line);
    if (!event) {
      ledger.damaged.push_back(number);
      // A record that was appended to half of another is itself complete.
      const std::size_t last = line.rfind(k_event_beginning);
      if (last != std::string_view::npos && last > 0) event = event_from(line.substr(last));
    }
    if (event) ledger.events.push_back(*std::move(event));
    start = end + 1;
  }
  return ledger;
}

Result<Ledger> load_ledger(const std::string& ledger) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 34;
  auto text = read_own_file(ledger, k_most);
  if (text && !text->empty()) return parse_ledger(*text);
  if (text) return Ledger{{}, {}, true};
  if (text.error().code != Errc::not_found || !exists(ledger.substr(0, ledger.rfind('/'))))
    return tl::unexpected<Error>(std::move(text).error());
  return Ledger{{}, {}, true};
}

Result<std::vector<Event>> read_ledger(const std::string& ledger) {
  DTS_ASSIGN(Ledger read, load_ledger(ledger));
  return std::move(read.events);
}

std::string damage_words(const Ledger& read, const std::string& ledger) {
  if (read.absent) return fmt::format("{} is gone or empty, and its contents are lost", ledger);
  return damage_words(read.damaged, ledger);
}

std::string damage_words(const std::vector<unsigned>& lines, const std::string& file) {
  if (lines.empty()) return {};
  constexpr std::size_t k_shown = 100;
  const std::size_t more = lines.size() - std::min(k_shown, lines.size());
  const std::vector<unsigned> shown(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(more));
  return fmt::format("{}: line{} {}{} {} damaged and skipped",
                     file,
                     lines.size() == 1 ? "" : "s",
                     fold_numbers(shown),
                     more > 0 ? fmt::format(" and {} more", more) : "",
                     lines.size() == 1 ? "is" : "are");
}

std::string damage_words(std::string_view text,
                         const std::string& file,
                         const std::function<bool(std::string_view)>& is_whole) {
  std::vector<unsigned> damaged;
  unsigned number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0 && !is_whole(text.substr(0, end))) damaged.push_back(number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return damage_words(damaged, file);
}

}  // namespace dts::run
