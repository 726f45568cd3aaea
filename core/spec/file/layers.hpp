// SPDX-License-Identifier: Apache-2.0
// Settings of a job from several sources, of which the later ones override the earlier ones by key.
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

// A key as one source gives it.
struct Setting {
  std::string key;  // by the option's name: `mem` also where it was written as memory_mib
  std::shared_ptr<const nlohmann::json> value;
  std::string origin;   // "job.toml:3:9", "DTSUBMIT_NODES", "--nodes"
  std::string pointer;  // to the value, for `reading`
  Reading reading;
};

using Layer = std::vector<Setting>;  // one source, each key once

// The keys of a file. What is no key, is given in two spellings or cannot be read is a problem and
// left out, so that all mistakes of a file are found, also those that a later source would hide.
[[nodiscard]] Layer layer_of(const Document& document, Diagnostics& problems);

// What an option was given: its texts, or none for a flag.
[[nodiscard]] Setting setting_of(const Option& option,
                                 const std::vector<std::string>& texts,
                                 const std::string& origin);

// A flag that a variable turns on or off.
[[nodiscard]] Setting setting_of_flag(const Option& option, bool on, const std::string& origin);

// "1", "yes", "true", "on" or their opposites, as such a variable holds them.
[[nodiscard]] Result<bool> parse_switch(const std::string& text);

// The program and its arguments.
[[nodiscard]] Setting setting_of_command(const std::vector<std::string>& command);

// What holds of several layers, the first of them the weakest: each key once, in the order in which
// they are to be applied. A key also hides the other words for the same in weaker layers (`mem` and
// `mem_per_gpu`).
[[nodiscard]] Layer settle(const std::vector<Layer>& layers);

// Without the options of other groups.
[[nodiscard]] Layer only_groups(Layer layer, const std::set<Group>& groups);

void apply(const Layer& settings, JobSpec& spec, Diagnostics& problems);

// Problems of options and of the command, as validate() and plan::make_plan() name them, where they
// were written: "--nodes" becomes "job.toml:3:9" if it came from there.
void locate(const Layer& settings, Diagnostics& problems);

}  // namespace dts::spec
