// SPDX-License-Identifier: Apache-2.0
// Reads the keys of a job from a parsed file into a JobSpec. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/spec/job_spec.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

namespace dts::spec {

class Document;

// How keys and values are spelled.
enum class Spelling {
  stored,  // as to_json() writes them: spec.json
  // Every option by its name (--ntasks-per-node is `ntasks_per_node`) or by its key in spec.json. A
  // string or number is what the option takes on the command line ("2:00:00", "32gb", "a100:4", 8),
  // an empty string means the built-in value, and true and false are for flags. Lists and objects
  // are as in spec.json; a repeatable option takes a list of strings.
  typed,
};

// How to read the values of one source, and how its problems name their places.
struct Reading {
  // A problem with the value at a JSON pointer, or with its key.
  std::function<Diagnostic(const std::string& pointer, Error error)> at_value;
  std::function<Diagnostic(const std::string& pointer, Error error)> at_key;
  Spelling spelling = Spelling::stored;
};

// `document` must outlive it.
[[nodiscard]] Reading reading_of(const Document& document, Spelling spelling);

// All known keys, sorted.
[[nodiscard]] std::vector<std::string> known_keys(Spelling spelling);

// True for keys that describe the file and not the job: `schema`.
[[nodiscard]] bool is_remark(const std::string& key);

// Reads one key, whose value is at `pointer`, into `spec`. An unreadable value is a problem and
// leaves the default.
void read_key(const std::string& key,
              const nlohmann::json& value,
              const std::string& pointer,
              const Reading& reading,
              JobSpec& spec,
              Diagnostics& problems);

// Reads all members of the object at `pointer`: the top level of spec.json, or a part, which has
// the same keys.
void read_keys(const nlohmann::json& object,
               const std::string& pointer,
               const Reading& reading,
               JobSpec& spec,
               Diagnostics& problems);

}  // namespace dts::spec
