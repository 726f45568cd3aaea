// SPDX-License-Identifier: Apache-2.0
// The environment of a submission as it may be kept on disk: without its secrets. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dts::provenance {

inline constexpr std::string_view k_redacted = "<redacted>";

// True where `name` says that its value is a secret: a word of it, between underscores, is TOKEN,
// KEY, PASSWORD and the like, in any case, or ends in one ("APIKEY").
[[nodiscard]] bool is_secret_name(std::string_view name);

// `value` without the secrets that can be recognised by their form: the password of a URL (RFC
// 3986, 3.2.1), access tokens with a well-known beginning ("hf_", "ghp_", "eyJ"), private keys.
[[nodiscard]] std::string without_secrets(std::string_view value);

// "NAME=value" entries by name, with k_redacted in place of secrets.
[[nodiscard]] std::map<std::string, std::string> recorded_environment(
    const std::vector<std::string>& entries);

}  // namespace dts::provenance
