// SPDX-License-Identifier: Apache-2.0
#include "core/topo/error_text.hpp"

#include "core/base/text/text.hpp"

namespace dts::topo {
namespace {

constexpr std::string_view k_hint_mark = "\nhint: ";

}  // namespace

std::string to_text(const Error& error) {
  std::string text = error.message;
  if (!error.hint.empty()) text.append(k_hint_mark).append(error.hint);
  return text;
}

Error error_from(Errc code, std::string_view text) {
  Error error{code, std::string(trim(text)), {}};
  if (const std::size_t at = error.message.rfind(k_hint_mark); at != std::string::npos) {
    error.hint = error.message.substr(at + k_hint_mark.size());
    error.message.resize(at);
  }
  return error;
}

}  // namespace dts::topo
