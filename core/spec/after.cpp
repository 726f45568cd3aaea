// SPDX-License-Identifier: Apache-2.0
#include "core/spec/after.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dts::spec {
namespace {

struct WhenWord {
  const char* word;
  After::When when;
};

constexpr std::array k_when_words{WhenWord{"ok", After::When::ok},
                                  WhenWord{"any", After::When::any},
                                  WhenWord{"fail", After::When::fail}};

}  // namespace

Result<After> parse_after(const std::string& text) {
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  const std::string word = colon < text.size() ? text.substr(colon + 1) : "ok";
  After after{text.substr(0, colon)};
  const auto* const row = std::ranges::find(
      k_when_words, word, [](const WhenWord& one) { return std::string_view(one.word); });
  if (row != k_when_words.end()) after.when = row->when;
  // A path may contain a colon, too.
  else if (word.find('/') != std::string::npos)
    after.run = text;
  else
    return fail(Errc::invalid,
                fmt::format("`{}` is not a way in which a run ends", printable(word, 60)),
                "RUN:ok, RUN:any or RUN:fail");
  if (after.run.empty() || !is_utf8(after.run) || !is_printable(after.run))
    return fail(Errc::invalid, "names no run", "a run directory, a name or a job id, e.g. 4711:ok");
  return after;
}

std::string to_text(const After& after) {
  for (const WhenWord& row : k_when_words)
    if (row.when == after.when) return after.run + ":" + row.word;
  return after.run;
}

}  // namespace dts::spec
