// SPDX-License-Identifier: Apache-2.0
// The environment at submission as it may be stored on disk: without its secrets. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dts::provenance {

inline constexpr std::string_view k_redacted = "<redacted>";

// True if `name` indicates a secret: one of its words, separated by underscores, is TOKEN, KEY,
// PASSWORD or the like, in any case, or ends in one ("APIKEY").
[[nodiscard]] bool is_secret_name(std::string_view name);

// `value` without secrets recognisable by their form: the password of a URL (RFC 3986, 3.2.1),
// access tokens with a well-known prefix ("hf_", "ghp_", "eyJ"), private keys.
[[nodiscard]] std::string without_secrets(std::string_view value);

// "NAME=value" entries by name, with secrets replaced by k_redacted.
[[nodiscard]] std::map<std::string, std::string> recorded_environment(
    const std::vector<std::string>& entries);

}  // namespace dts::provenance
