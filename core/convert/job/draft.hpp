// SPDX-License-Identifier: Apache-2.0
// The job file while it is built: options with the rows of the account that request them.
// Thread-compatible.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/convert/job/account.hpp"
#include "core/spec/file/layers.hpp"
#include "core/spec/option.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dts::convert {

// A row's place in Draft::rows.
using RowIndex = std::size_t;

inline constexpr RowIndex k_no_row = static_cast<RowIndex>(-1);

struct Asked {
  std::vector<std::string> texts;  // as typed; of a flag: none
  RowIndex row = k_no_row;         // k_no_row: follows from the way in which the program is started
};

// Options of a job or of one of its steps, by their long names without dashes.
using Settings = std::map<std::string, Asked>;

[[nodiscard]] const spec::Option* find_option(const std::string& name);

// "nodes = 4", as in the job file.
[[nodiscard]] std::string shown(const std::string& name, const std::vector<std::string>& texts);

// The problem with that value; nullopt if it is accepted by itself.
[[nodiscard]] std::optional<Diagnostic> problem_of(const std::string& name,
                                                   const std::vector<std::string>& texts);

// A problem as a clause of an account: "message; hint".
[[nodiscard]] std::string clause_of(const Diagnostic& problem);

// The number of an option, 4 of "4" or "a100:4"; nullopt: it is not set, or to something else.
[[nodiscard]] std::optional<std::uint64_t> number_in(const Settings& settings,
                                                     const std::string& name);

[[nodiscard]] spec::Layer layer_of(const Settings& settings);

// An option whose value the script leaves to the submitting user: a comment in the job file.
struct Blank {
  std::string option;
  std::vector<std::string> texts;
  std::string why;  // for people
};

// A program that runs after the previous one has ended, or as a role alongside the others.
struct Step {
  std::string name;
  RowIndex row = k_no_row;
  Settings settings;  // in addition to the job's
  std::vector<std::string> command;
  std::vector<Blank> blanks{};
  bool until_others_end = false;  // of a role
  std::string beside{};           // the role whose nodes it shares; empty: it has its own
  bool spares_others = false;     // a role whose failure does not end the others
};

struct Draft {
  std::vector<Row> rows;
  Settings settings;
  std::vector<Step> steps;  // one: the job's own command
  bool are_roles = false;   // all steps at once, each on nodes of its own
  std::vector<Blank> blanks;
  std::set<std::string> arguments;  // of the script, "$1", that it was converted without

  RowIndex add(Row row);
  // Adds a row of that kind for `span`.
  RowIndex add(Span span, Became became, std::string what, std::string why);
  // Withdraws the option; its row, if it has one, gives the reason.
  void take_back(const std::string& option, const std::string& why);
  // Marks the row as lost, once.
  void lose(RowIndex row, const std::string& why);
};

// The job file, TOML.
[[nodiscard]] std::string to_job_file(const Draft& draft);

}  // namespace dts::convert
