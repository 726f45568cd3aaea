// SPDX-License-Identifier: Apache-2.0
// The text of `scontrol show job|node|partition|reservation|config`. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slurm_plugin {

// Unix seconds, the form of SLURM_TIME_FORMAT=%s, or "2026-11-22T10:00:00" in the local zone; 0
// for Unknown, None and N/A.
[[nodiscard]] std::int64_t time_in(const std::string& text);

// The fields of one job, node, partition or reservation, in the order in which they were printed.
class Record {
 public:
  void add(std::string name, std::string value);
  // Appends a line to the last field, whose value had a line break.
  void append_line(std::string_view line);

  // The first value of that name, since a later one may be part of a user's text; empty if there is
  // none, and for "(null)".
  [[nodiscard]] std::string text(std::string_view name) const;
  // The number at the beginning of that text; 0 if there is none.
  [[nodiscard]] std::int64_t number(std::string_view name) const;

  // See time_in().
  [[nodiscard]] std::int64_t time(std::string_view name) const { return time_in(text(name)); }

  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& fields() const {
    return fields_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// Parses scontrol's multi-line output. --oneliner is not used, because only here a text that a user
// may choose (a job's name, command, folder, comment) ends its line, so that blanks and `=` in it
// cannot be mistaken for the next field.
[[nodiscard]] std::vector<Record> parse_records(std::string_view text);

// The lines "NAME = VALUE" of `scontrol show config`.
[[nodiscard]] Record parse_config(std::string_view text);

// "3-00:00:00", "1:30:00", "45:00" -> seconds; -1 for UNLIMITED and anything else.
[[nodiscard]] std::int64_t seconds_of(const std::string& limit);

}  // namespace slurm_plugin
