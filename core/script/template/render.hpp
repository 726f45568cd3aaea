// SPDX-License-Identifier: Apache-2.0
// Mustache templates filled in. What a value becomes is the output's: a word of shell, HTML. Pure.
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dts::script {

// Where a rendered template goes.
class TemplateOutput {
 public:
  virtual ~TemplateOutput() = default;

  // Errors of these are given the place of the tag, and say what is wrong there.
  [[nodiscard]] virtual Result<void> literal(std::string_view text) = 0;  // of the template
  [[nodiscard]] virtual Result<void> value(std::string_view text) = 0;    // {{name}}
  [[nodiscard]] virtual Result<void> raw(std::string_view text) = 0;      // {{{name}}} of a text
  [[nodiscard]] virtual Result<void> finished(
      std::string_view text) = 0;  // {{{name}}}, finished_text()

  [[nodiscard]] const std::string& text() const { return text_; }

 protected:
  std::string text_;
};

// A value that is text of the output's language already, such as lines of a script; only {{{name}}}
// inserts it as it is.
[[nodiscard]] nlohmann::json finished_text(std::string_view text);

struct Template {
  std::string name;  // for messages
  std::string text;
};

// The template that {{>name}} means; nullopt: there is none.
using Partials = std::function<Result<std::optional<Template>>(const std::string& name)>;

enum class Unknown {
  is_empty,  // as the specification has it
  is_error,  // a name that no value and a partial that no template has
};

// Renders `main` with the values of `data`, an object. Errc::invalid with the place of the tag, and
// for a result of more than 16 MiB or a template that does not come to an end: a million tags,
// partials in each other deeper than 64.
[[nodiscard]] Result<void> render_template(const Template& main,
                                           const nlohmann::json& data,
                                           const Partials& partials,
                                           Unknown unknown,
                                           TemplateOutput& output);

// Values as HTML has them (& < > " escaped), the escaping of the specification.
class HtmlOutput : public TemplateOutput {
 public:
  [[nodiscard]] Result<void> literal(std::string_view text) override;
  [[nodiscard]] Result<void> value(std::string_view text) override;
  [[nodiscard]] Result<void> raw(std::string_view text) override;
  [[nodiscard]] Result<void> finished(std::string_view text) override;
};

}  // namespace dts::script
