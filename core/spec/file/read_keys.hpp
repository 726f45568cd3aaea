// SPDX-License-Identifier: Apache-2.0
// Keys of a job, from a parsed file into a JobSpec. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/spec/job_spec.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>
#include <vector>

namespace dts::spec {

class Document;

// What keys and values mean.
enum class Spelling {
  stored,  // as to_json() writes them: spec.json
  // Every option by its name, --ntasks-per-node as `ntasks_per_node`, or as spec.json calls it. A
  // string or number is what the option takes on the command line ("2:00:00", "32gb", "a100:4",
  // 8), an empty string is the built-in value; true and false are for flags. Lists and objects are
  // as spec.json has them; an option that can be given several times takes a list of strings.
  typed,
};

// How the values of one source are read, and how their problems name their places.
struct Reading {
  // Of the value at a JSON pointer, or of the key of it.
  std::function<Diagnostic(const std::string& pointer, Error error)> at_value;
  std::function<Diagnostic(const std::string& pointer, Error error)> at_key;
  Spelling spelling = Spelling::stored;
};

// `document` must outlive it.
[[nodiscard]] Reading reading_of(const Document& document, Spelling spelling);

// All keys that are known, sorted.
[[nodiscard]] std::vector<std::string> known_keys(Spelling spelling);

// For keys that say something of the file, not of the job: `schema`.
[[nodiscard]] bool is_remark(const std::string& key);

// One key with its value, which is at `pointer`, into `spec`. What cannot be read is a problem and
// leaves the default.
void read_key(const std::string& key,
              const nlohmann::json& value,
              const std::string& pointer,
              const Reading& reading,
              JobSpec& spec,
              Diagnostics& problems);

// All members of the object at `pointer`: those of spec.json's top, or of a part that has the same
// keys.
void read_keys(const nlohmann::json& object,
               const std::string& pointer,
               const Reading& reading,
               JobSpec& spec,
               Diagnostics& problems);

}  // namespace dts::spec
