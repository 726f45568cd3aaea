// SPDX-License-Identifier: Apache-2.0
#include "core/provenance/recorded_environment.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace dts::provenance {
namespace {

constexpr std::string_view k_secret_words[] = {"TOKEN",
                                               "TOKENS",
                                               "KEY",
                                               "KEYS",
                                               "SECRET",
                                               "SECRETS",
                                               "PASSWORD",
                                               "PASSWD",
                                               "PASSPHRASE",
                                               "PASS",
                                               "PWD",
                                               "CREDENTIAL",
                                               "CREDENTIALS",
                                               "CREDS",
                                               "AUTH",
                                               "AUTHORIZATION",
                                               "COOKIE",
                                               "DSN",
                                               "PAT"};

// Suffixes that need no underscore before them: "APIKEY", "PGPASSWORD".
constexpr std::string_view k_secret_endings[] = {
    "TOKEN", "APIKEY", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS"};

// Prefixes of access tokens of Hugging Face, GitHub, GitLab, OpenAI, Slack and AWS, of JSON Web
// Tokens, and of PEM private keys.
constexpr std::string_view k_secret_beginnings[] = {"hf_",
                                                    "ghp_",
                                                    "gho_",
                                                    "ghs_",
                                                    "github_pat_",
                                                    "glpat-",
                                                    "sk-",
                                                    "xoxb-",
                                                    "xoxp-",
                                                    "AKIA",
                                                    "ASIA",
                                                    "eyJ",
                                                    "-----BEGIN"};

constexpr std::size_t k_shortest_token = 16;  // shorter texts with such a prefix are plain words

// The shell's own folders, which the table above would match.
constexpr std::string_view k_folders[] = {"PWD", "OLDPWD"};

template <class Words>
bool contains(const Words& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

// Removes "user:password" before the @ of each URL in `text`.
std::string without_url_passwords(std::string text) {
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at)) {
    at += 3;
    const std::size_t end = std::min(text.find_first_of("/?# \t\n\"'", at), text.size());
    const std::size_t host = text.substr(0, end).rfind('@');
    if (host == std::string::npos || host < at) continue;
    text.replace(at, host - at, k_redacted);
  }
  return text;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  if (contains(k_folders, name)) return false;
  for (const std::string& word : split(upper(name), '_')) {
    if (contains(k_secret_words, word)) return true;
    for (const std::string_view ending : k_secret_endings)
      if (word.ends_with(ending)) return true;
  }
  return false;
}

std::string without_secrets(std::string_view value) {
  if (value.size() >= k_shortest_token)
    for (const std::string_view beginning : k_secret_beginnings)
      if (value.starts_with(beginning)) return std::string(k_redacted);
  return without_url_passwords(std::string(value));
}

std::map<std::string, std::string> recorded_environment(const std::vector<std::string>& entries) {
  std::map<std::string, std::string> recorded;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string name = entry.substr(0, equals);
    const std::string value = entry.substr(equals + 1);
    recorded[name] =
        is_secret_name(name) && !value.empty() ? std::string(k_redacted) : without_secrets(value);
  }
  return recorded;
}

}  // namespace dts::provenance
