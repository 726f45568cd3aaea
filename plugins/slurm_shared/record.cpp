// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/record.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>

namespace slurm_plugin {
namespace {

// Fields whose value extends to the end of the line, whatever it contains.
constexpr std::array<std::string_view, 12> k_whole_lines{"JobName",
                                                         "Command",
                                                         "WorkDir",
                                                         "Comment",
                                                         "AdminComment",
                                                         "SystemComment",
                                                         "Extra",
                                                         "SubmitLine",
                                                         "StdErr",
                                                         "StdIn",
                                                         "StdOut",
                                                         "OS"};

// The beginnings of a record's first line.
constexpr std::array<std::string_view, 4> k_beginnings{
    "JobId=", "NodeName=", "PartitionName=", "ReservationName="};

bool is_name(std::string_view name) {
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == ':' || c == '/';
         });
}

// The length of the name at the beginning of `text` that a '=' follows; 0 if there is none.
std::size_t name_at(std::string_view text) {
  const std::size_t equals = text.find('=');
  const bool good = equals != std::string_view::npos && is_name(text.substr(0, equals));
  return good ? equals : 0;
}

// The end of the value at the beginning of `text`: before the next word that is a field.
std::size_t end_of_value(std::string_view text) {
  for (std::size_t blank = text.find(' '); blank != std::string_view::npos;
       blank = text.find(' ', blank + 1))
    if (name_at(text.substr(blank + 1)) > 0) return blank;
  return text.size();
}

// Parses "A=1 B=two words C=3". A line that does not begin with a field continues the previous one.
void add_line(Record& record, std::string_view line) {
  std::string_view rest = dts::trim(line);
  std::size_t length = name_at(rest);
  if (length == 0) return record.append_line(line);
  while (length > 0) {
    const std::string_view name = rest.substr(0, length);
    rest.remove_prefix(length + 1);
    const bool whole = std::ranges::find(k_whole_lines, name) != k_whole_lines.end();
    const std::size_t end = whole ? rest.size() : end_of_value(rest);
    record.add(std::string(name), std::string(dts::trim(rest.substr(0, end))));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    length = name_at(rest);
  }
}

bool begins_record(std::string_view line) {
  return std::ranges::any_of(
      k_beginnings, [&](std::string_view beginning) { return line.starts_with(beginning); });
}

}  // namespace

void Record::add(std::string name, std::string value) {
  fields_.emplace_back(std::move(name), std::move(value));
}

void Record::append_line(std::string_view line) {
  if (!fields_.empty()) fields_.back().second.append("\n").append(line);
}

std::string Record::text(std::string_view name) const {
  const auto found =
      std::ranges::find_if(fields_, [&](const auto& field) { return field.first == name; });
  return found == fields_.end() || found->second == "(null)" ? std::string() : found->second;
}

std::int64_t Record::number(std::string_view name) const {
  const std::string value = text(name);
  const auto end =
      std::ranges::find_if(value, [](unsigned char c) { return std::isdigit(c) == 0; });
  return static_cast<std::int64_t>(
      dts::parse_number({value.data(), static_cast<std::size_t>(end - value.begin())}).value_or(0));
}

std::int64_t time_in(const std::string& text) {
  if (const auto seconds = dts::parse_number(text)) return static_cast<std::int64_t>(*seconds);
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr || *end != '\0') return 0;
  parts.tm_isdst = -1;
  return ::mktime(&parts);
}

std::vector<Record> parse_records(std::string_view text) {
  std::vector<Record> records;
  for (const std::string& line : dts::split(text, '\n')) {
    if (begins_record(line)) records.emplace_back();
    if (!records.empty() && !dts::trim(line).empty()) add_line(records.back(), line);
  }
  return records;
}

Record parse_config(std::string_view text) {
  Record config;
  for (const std::string& line : dts::split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view whole = line;
    config.add(std::string(dts::trim(whole.substr(0, equals))),
               std::string(dts::trim(whole.substr(equals + 1))));
  }
  return config;
}

std::int64_t seconds_of(const std::string& limit) {
  const auto seconds = dts::parse_time_limit(limit);
  const bool bounded = seconds && *seconds != std::chrono::seconds::max();
  return bounded ? seconds->count() : -1;
}

}  // namespace slurm_plugin
