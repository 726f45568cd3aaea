// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger.hpp"

#include "core/base/files.hpp"
#include "core/base/json_fields.hpp"
#include "core/base/units.hpp"
#include "core/run/file_lock.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <chrono>

namespace dts::run {

using json = nlohmann::ordered_json;

std::string to_line(const Event& event) {
  json j{{"time", event.time}, {"event", event.event}};
  if (event.attempt != 0) j["attempt"] = event.attempt;
  if (event.job != 0) j["job"] = event.job;
  if (!event.cause.empty()) j["cause"] = event.cause;
  if (event.exit_code >= 0) j["exit_code"] = event.exit_code;
  if (!event.decision.empty()) j["decision"] = event.decision;
  if (!event.detail.empty()) j["detail"] = event.detail;
  if (!event.nodes.empty()) j["nodes"] = event.nodes;
  if (!event.checkpoint.empty()) j["checkpoint"] = event.checkpoint;
  if (event.rank >= 0) j["rank"] = event.rank;
  if (!event.node.empty()) j["node"] = event.node;
  if (!event.phase.empty()) j["phase"] = event.phase;
  if (event.unsaved) j["unsaved"] = true;
  if (!event.seconds.empty()) j["seconds"] = event.seconds;
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

namespace {

// A crash in the middle of an append (a power cut, a lost node) leaves half a record. A new one
// behind it would make a line that nobody can read, and so a run that never starts again.
Result<void> cut_half_record(int fd, const std::string& ledger) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  off_t whole = size;
  for (char last = 0; whole > 0 && ::pread(fd, &last, 1, whole - 1) == 1 && last != '\n';) --whole;
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

namespace {

// 0: absent.
unsigned count_of(const json& j, const char* name) {
  return j.contains(name) ? count(j, name) : 0;
}

}  // namespace

Result<std::vector<Event>> parse_ledger(const std::string& text, const std::string& name) {
  std::vector<Event> events;
  std::size_t number = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string::npos) break;  // half a record
    ++number;
    try {
      const auto j = nlohmann::json::parse(text.substr(start, end - start));
      Event event;
      event.time = j.at("time").get<std::string>();
      event.event = j.at("event").get<std::string>();
      event.attempt = count_of(j, "attempt");
      event.job = count_of(j, "job");
      event.cause = j.value("cause", "");
      event.exit_code = j.value("exit_code", -1);
      event.decision = j.value("decision", "");
      event.detail = j.value("detail", "");
      event.nodes = j.value("nodes", std::vector<std::string>{});
      event.checkpoint = j.value("checkpoint", "");
      event.rank = j.value("rank", -1);
      event.node = j.value("node", "");
      event.phase = j.value("phase", "");
      event.unsaved = j.value("unsaved", false);
      event.seconds = j.value("seconds", std::map<std::string, double>{});
      events.push_back(std::move(event));
    } catch (const json::exception& error) {
      return fail(Errc::invalid,
                  fmt::format("{}:{}: not a ledger event: {}", name, number, error.what()));
    }
    start = end + 1;
  }
  return events;
}

Result<std::vector<Event>> read_ledger(const std::string& ledger) {
  DTS_ASSIGN(const std::string text, read_file(ledger));
  return parse_ledger(text, ledger);
}

}  // namespace dts::run
