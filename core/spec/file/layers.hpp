// SPDX-License-Identifier: Apache-2.0
// Settings of a job from several sources; for each key, a later source overrides an earlier one.
// Pure, thread-safe.
#pragma once

#include "core/spec/file/document.hpp"
#include "core/spec/file/read_keys.hpp"
#include "core/spec/option.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace dts::spec {

// A key as set by one source.
struct Setting {
  std::string key;  // by the option's name: `mem` even if written as memory_mib
  std::shared_ptr<const nlohmann::json> value;
  std::string origin;   // "job.toml:3:9", "DTSUBMIT_NODES", "--nodes"
  std::string pointer;  // of the value, for `reading`
  Reading reading;
};

using Layer = std::vector<Setting>;  // one source, each key once

// The setting of a key, by the option's name; nullptr if there is none.
[[nodiscard]] const Setting* setting_of_key(const Layer& settings, const std::string& key);

// The keys of a file. An unknown, duplicate or unreadable key becomes a problem and is omitted; of
// steps and roles, only the key within them. All mistakes in a file are found in this way,
// including those that a later source would override.
[[nodiscard]] Layer layer_of(const Document& document, Diagnostics& problems);

// An option with its typed values; none for a flag.
[[nodiscard]] Setting setting_of(const Option& option,
                                 const std::vector<std::string>& texts,
                                 const std::string& origin);

// A flag that an environment variable turns on or off.
[[nodiscard]] Setting setting_of_flag(const Option& option, bool on, const std::string& origin);

// Parses "1", "yes", "true", "on" or their opposites, as used in environment variables.
[[nodiscard]] Result<bool> parse_switch(const std::string& text);

// The program and its arguments.
[[nodiscard]] Setting setting_of_command(const std::vector<std::string>& command);

// Merges layers, the weakest first: each key once, in the order in which to apply them. A key also
// hides its alternatives in weaker layers (`mem` and `mem_per_gpu`).
[[nodiscard]] Layer settle(const std::vector<Layer>& layers);

// Drops the options of other groups.
[[nodiscard]] Layer only_groups(Layer layer, const std::set<Group>& groups);

void apply(const Layer& settings, JobSpec& spec, Diagnostics& problems);

}  // namespace dts::spec
