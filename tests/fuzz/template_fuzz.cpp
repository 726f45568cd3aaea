// SPDX-License-Identifier: Apache-2.0
// The template engine: any template is filled in or refused with a place; values are never
// expanded.
#include "core/script/template/shell_output.hpp"
#include "tests/support/fuzz.hpp"

#include <nlohmann/json.hpp>

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  static const nlohmann::json values{{"a", "{{b}}'"},
                                     {"b", "x"},
                                     {"l", {"1", "2"}},
                                     {"o", {{"a", ""}}},
                                     {"f", dts::script::finished_text("y\n")}};
  const dts::script::Template text{"t", std::string(input)};
  const auto self =
      [&](const std::string& name) -> dts::Result<std::optional<dts::script::Template>> {
    if (name != "p") return std::nullopt;
    return text;
  };
  for (const auto unknown : {dts::script::Unknown::is_empty, dts::script::Unknown::is_error}) {
    dts::script::ShellOutput shell;
    const auto filled = dts::script::render_template(text, values, self, unknown, shell);
    if (!filled) must(filled.error().message.rfind("t:", 0) == 0);
    // Without tags it is the template itself.
    if (filled && input.find("{{") == std::string_view::npos) must(shell.text() == input);
    dts::script::HtmlOutput html;
    const auto as_html = dts::script::render_template(text, values, self, unknown, html);
    if (!as_html) must(as_html.error().message.rfind("t:", 0) == 0);
  }
}
