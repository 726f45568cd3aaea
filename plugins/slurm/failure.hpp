// SPDX-License-Identifier: Apache-2.0
// Why an operation of the plug-in did not work, and how Slurm's errno becomes that.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include <string>

namespace slurm_plugin {

using nlohmann::json;

// The three texts of "error" in a reply; `code` is one of dtsubmit_plugin.h's.
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

// The failure that libslurm left in errno: slurm_strerror's words verbatim, with "WHAT: " before
// them unless `what` is empty.
[[nodiscard]] tl::unexpected<Failure> failed_slurm(const std::string& what = {});

// The same for an error number in hand.
[[nodiscard]] tl::unexpected<Failure> failed_slurm(int number, const std::string& what);

}  // namespace slurm_plugin
