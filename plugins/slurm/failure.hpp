// SPDX-License-Identifier: Apache-2.0
// Why an operation of the plug-in failed, and how Slurm's errno is translated.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include <string>

namespace slurm_plugin {

using nlohmann::json;

// The three texts of "error" in a reply; `code` is one of those in dtsubmit_plugin.h.
struct Failure {
  const char* code = "internal";
  std::string message;
  std::string hint;
};

template <class T>
using Outcome = tl::expected<T, Failure>;

[[nodiscard]] inline tl::unexpected<Failure> failed(const char* code,
                                                    std::string message,
                                                    std::string hint = {}) {
  return tl::unexpected<Failure>(Failure{code, std::move(message), std::move(hint)});
}

// The failure that libslurm left in errno: slurm_strerror's message verbatim, preceded by "WHAT: "
// unless `what` is empty.
[[nodiscard]] tl::unexpected<Failure> failed_slurm(const std::string& what = {});

// The same for a given error number.
[[nodiscard]] tl::unexpected<Failure> failed_slurm(int number, const std::string& what);

// The same for the output of one of Slurm's commands: recognised by slurm_strerror()'s text in it,
// otherwise "rejected".
[[nodiscard]] tl::unexpected<Failure> failed_command(const std::string& message);

}  // namespace slurm_plugin
