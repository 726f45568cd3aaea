// SPDX-License-Identifier: Apache-2.0
#include "core/lint/tokens.hpp"

#include "core/base/text/text.hpp"
#include "core/shell/syntax.hpp"

#include <algorithm>
#include <set>

namespace dts::lint {
namespace {

struct Service {
  const char* prefix;
  std::size_t length;  // minimum length of the rest
  const char* what;
};

constexpr Service k_services[] = {
    {"hf_", 30, "a token of Hugging Face"},
    {"ghp_", 36, "a token of GitHub"},
    {"github_pat_", 40, "a token of GitHub"},
    {"glpat-", 20, "a token of GitLab"},
    {"sk-ant-", 30, "a token of Anthropic"},
    {"sk-proj-", 30, "a token of OpenAI"},
    {"AKIA", 16, "a token of AWS"},
    {"nvapi-", 40, "a token of NVIDIA"},
};

std::size_t token_length(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (shell::is_name_char(text[end]) || text[end] == '-')) ++end;
  return end - at;
}

bool is_random(std::string_view text) {
  const std::set<char> characters(text.begin(), text.end());
  return characters.size() >= 10;
}

void find_of(const Service& service, std::string_view text, std::vector<Token>& found) {
  const std::string_view prefix = service.prefix;
  for (std::size_t at = text.find(prefix); at != std::string_view::npos;
       at = text.find(prefix, at + 1)) {
    if (at > 0 && shell::is_name_char(text[at - 1])) continue;
    const std::size_t length = token_length(text, at + prefix.size());
    if (length >= service.length && is_random(text.substr(at + prefix.size(), length)))
      found.push_back({at, at + prefix.size() + length, service.what});
  }
}

// 40 hexadecimal digits are a key if the words before them say so.
void find_hexadecimal(std::string_view text, std::vector<Token>& found) {
  const std::string plain = in_lower_case(text);
  for (const std::string_view word : {"wandb_api_key=", "wandb login "})
    for (std::size_t at = plain.find(word); at != std::string::npos;
         at = plain.find(word, at + 1)) {
      std::size_t begin = at + word.size();
      while (begin < plain.size() &&
             std::string_view("\"' ").find(plain[begin]) != std::string_view::npos)
        ++begin;
      const std::string_view key =
          std::string_view(plain).substr(begin, token_length(plain, begin));
      if (key.size() == 40 && key.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
          is_random(key))
        found.push_back({begin, begin + 40, "a key of Weights & Biases"});
    }
}

}  // namespace

std::vector<Token> find_tokens(std::string_view text) {
  std::vector<Token> found;
  for (const Service& service : k_services) find_of(service, text, found);
  find_hexadecimal(text, found);
  std::sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  return found;
}

std::string hide_tokens(std::string_view text) {
  std::string hidden;
  std::size_t at = 0;
  for (const Token& token : find_tokens(text)) {
    if (token.begin < at) continue;
    hidden.append(text.substr(at, token.begin - at)).append("***");
    at = token.end;
  }
  return hidden.append(text.substr(at));
}

}  // namespace dts::lint
