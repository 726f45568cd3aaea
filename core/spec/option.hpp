// SPDX-License-Identifier: Apache-2.0
// The options of a job, each defined once. A row holds the option's names, its key in spec.json,
// its checks, and the texts of --help and the manual pages. A new option is one row in an
// options/options_*.cpp. Pure; the table is constant and thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/result.hpp"
#include "core/spec/job_spec.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

namespace dts::spec {

// Where --help and the manual pages list an option, and which commands have it.
enum class Group {
  job,    // with and without a scheduler
  hosts,  // for machines without a scheduler
  slurm,  // for a scheduler
  check,  // only `dtsubmit check` has it
};

// Value of an option whose optional value was omitted, "--exclusive".
inline constexpr const char* k_bare = "yes";

// How the value of an option is typed, stored and checked; see core/spec/values/values.hpp.
struct Value {
  const char* type = "";  // as --help shows it, "N"; empty: a flag
  bool repeats = false;   // can be given several times; parse() is then called for each in turn
  // Parses what was typed: never empty except for a flag. Errc::invalid leaves the spec unchanged.
  std::function<Result<void>(const std::string& text, JobSpec& spec)> parse;
  // Reads the value from spec.json. Errc::invalid says what was expected.
  std::function<Result<void>(const nlohmann::json& value, JobSpec& spec)> read;
  // Writes the value to spec.json; null: nothing is written.
  std::function<nlohmann::ordered_json(const JobSpec& spec)> write;
  bool may_be_bare = false;             // gets k_bare if typed without a value
  std::vector<std::string> words = {};  // the only accepted texts; empty: any text
  // Checks the value on its own; empty: nothing to check.
  std::function<void(const JobSpec& spec, const std::string& option, Diagnostics& problems)> check;
};

struct Option {
  const char* names;  // "-N,--nodes"
  Value value;
  const char* help;         // one line of --help, with the default in brackets
  const char* manual = "";  // the manual's text, man(7); empty: `help`
  const char* key = "";     // in spec.json; empty: the long name with underscores
  // sbatch's environment variable for the option, or one of ours in addition to own_variables().
  const char* variable = "";
  Group group = Group::job;
  bool is_rare = false;  // only listed by --help-all and the manual pages
  // Applies to the first job of a run only: its successors must not wait for a dependency again.
  bool is_for_first_job = false;
  // A request for nodes: each role of a heterogeneous job makes its own.
  bool is_of_nodes = false;

  [[nodiscard]] std::string long_name() const;  // "--nodes"
  [[nodiscard]] std::string json_key() const;   // "nodes", "memory_mib"
  [[nodiscard]] std::string file_key() const;   // the option's name in job files: "nodes", "mem"
  // Environment variables that stand in for the option, such as DTSUBMIT_NODES. The first one set
  // counts.
  [[nodiscard]] std::vector<std::string> own_variables() const;
};

// All options, in the order of --help, the manual pages and spec.json.
[[nodiscard]] const std::vector<Option>& options();

// The option with a long name, "--nodes"; nullptr if there is none.
[[nodiscard]] const Option* option_named(std::string_view long_name);

// The option with a key of a job file or of spec.json; nullptr if there is none.
[[nodiscard]] const Option* option_of_key(std::string_view key);

// The parts of options(), one file each.
[[nodiscard]] std::vector<Option> layout_options();
[[nodiscard]] std::vector<Option> running_options();
[[nodiscard]] std::vector<Option> binding_options();
[[nodiscard]] std::vector<Option> container_options();
[[nodiscard]] std::vector<Option> setup_options();
[[nodiscard]] std::vector<Option> sweep_options();
[[nodiscard]] std::vector<Option> host_options();
[[nodiscard]] std::vector<Option> check_options();
[[nodiscard]] std::vector<Option> size_options();
[[nodiscard]] std::vector<Option> slurm_options();
[[nodiscard]] std::vector<Option> slurm_node_options();
[[nodiscard]] std::vector<Option> slurm_core_options();
[[nodiscard]] std::vector<Option> slurm_notice_options();

}  // namespace dts::spec
