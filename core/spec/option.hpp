// SPDX-License-Identifier: Apache-2.0
// The options of a job, each written once: a row says how the option is typed, what spec.json calls
// it, what is checked, and what --help and the manual pages say. A new option is one row of an
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
};

// What an option gets whose value is optional and was omitted, "--exclusive".
inline constexpr const char* k_bare = "yes";

// How the value of an option is typed, stored and checked; see core/spec/values/values.hpp.
struct Value {
  const char* type = "";  // as --help shows it, "N"; empty: a flag
  bool repeats = false;   // can be given several times; parse() then takes them one after another
  // What was typed, never empty except for a flag. Errc::invalid leaves the spec as it was.
  std::function<Result<void>(const std::string& text, JobSpec& spec)> parse;
  // What spec.json holds. Errc::invalid says what was expected.
  std::function<Result<void>(const nlohmann::json& value, JobSpec& spec)> read;
  // What is written to spec.json; null: nothing is.
  std::function<nlohmann::ordered_json(const JobSpec& spec)> write;
  bool may_be_bare = false;             // typed without a value it gets k_bare
  std::vector<std::string> words = {};  // the only texts that there are; empty: others, too
  // What is wrong with the value in itself; empty: nothing can be.
  std::function<void(const JobSpec& spec, const std::string& option, Diagnostics& problems)> check;
};

struct Option {
  const char* names;  // "-N,--nodes"
  Value value;
  const char* help;         // one line of --help, with the default in brackets
  const char* manual = "";  // the manual's text, man(7); empty: `help`
  const char* key = "";     // in spec.json; empty: the long name with underscores
  // sbatch's environment variable for the option, or one of ours besides own_variables().
  const char* variable = "";
  Group group = Group::job;
  bool is_rare = false;  // listed by --help-all and the manual pages only
  // Asked of the first job of a run, not of those that continue it: a dependency was met then.
  bool is_for_first_job = false;
  // Asked of nodes: each role of a heterogeneous job says it for its own.
  bool is_of_nodes = false;

  [[nodiscard]] std::string long_name() const;  // "--nodes"
  [[nodiscard]] std::string json_key() const;   // "nodes", "memory_mib"
  [[nodiscard]] std::string file_key() const;   // the same by the option's name: "nodes", "mem"
  // Environment variables that stand in for the option: DTSUBMIT_NODES. The first that is set
  // counts.
  [[nodiscard]] std::vector<std::string> own_variables() const;
};

// In the order of --help, the manual pages and spec.json.
[[nodiscard]] const std::vector<Option>& options();

// The parts of options(), one file each.
[[nodiscard]] std::vector<Option> layout_options();
[[nodiscard]] std::vector<Option> running_options();
[[nodiscard]] std::vector<Option> binding_options();
[[nodiscard]] std::vector<Option> container_options();
[[nodiscard]] std::vector<Option> setup_options();
[[nodiscard]] std::vector<Option> sweep_options();
[[nodiscard]] std::vector<Option> host_options();
[[nodiscard]] std::vector<Option> size_options();
[[nodiscard]] std::vector<Option> slurm_options();
[[nodiscard]] std::vector<Option> slurm_node_options();
[[nodiscard]] std::vector<Option> slurm_core_options();
[[nodiscard]] std::vector<Option> slurm_notice_options();

}  // namespace dts::spec
