// SPDX-License-Identifier: Apache-2.0
// A short script, its conversion, and what became of its lines.
#pragma once

#include "core/convert/convert.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace dts::convert {

struct Reduced {
  std::string text;
  Conversion made;

  explicit Reduced(const std::string& script, std::vector<std::string> arguments = {})
      : text(script), made(convert_script(text, {"job.sh", std::move(arguments), {}})) {}

  [[nodiscard]] bool job_has(const std::string& part) const {
    return made.job_file.find(part) != std::string::npos;
  }

  // Of the line's first byte.
  [[nodiscard]] Row row(const std::string& line) const {
    const std::size_t at = text.find(line);
    for (const Row& one : made.rows)
      for (const Span& span : one.spans)
        if (span.begin <= at && at < span.end) return one;
    FAIL(line << " is in no row");
    return {};
  }

  [[nodiscard]] Became became(const std::string& line) const { return row(line).became; }

  [[nodiscard]] bool says(const std::string& line, const std::string& part) const {
    return row(line).why.find(part) != std::string::npos;
  }
};

inline Reduced of_nodes(const std::string& body) {
  return Reduced(
      "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=4\n"
      "#SBATCH --cpus-per-task=8\n" +
      body);
}

inline Reduced of_one_node(const std::string& body) {
  return Reduced(
      "#!/bin/bash\n#SBATCH --nodes=1 --ntasks-per-node=1 --gpus-per-node=4 --cpus-per-task=8\n" +
      body);
}

}  // namespace dts::convert
