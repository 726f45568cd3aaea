// SPDX-License-Identifier: Apache-2.0
// Renders Mustache templates. The output decides how values are escaped, for shell or for HTML.
// Pure.
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dts::script {

// Receives a rendered template.
class TemplateOutput {
 public:
  virtual ~TemplateOutput() = default;

  // Errors only describe the problem; the renderer adds the position of the tag.
  [[nodiscard]] virtual Result<void> literal(std::string_view text) = 0;  // the template's own text
  [[nodiscard]] virtual Result<void> value(std::string_view text) = 0;    // {{name}}
  [[nodiscard]] virtual Result<void> raw(std::string_view text) = 0;      // {{{name}}} with text
  [[nodiscard]] virtual Result<void> finished(
      std::string_view text) = 0;  // {{{name}}} with finished_text()

  [[nodiscard]] const std::string& text() const { return text_; }

 protected:
  std::string text_;
};

// A value that is already text in the output's language, such as lines of a script. Only {{{name}}}
// inserts it unchanged.
[[nodiscard]] nlohmann::json finished_text(std::string_view text);

struct Template {
  std::string name;  // for messages
  std::string text;
};

// Finds the template for {{>name}}; nullopt if there is none.
using Partials = std::function<Result<std::optional<Template>>(const std::string& name)>;

enum class Unknown {
  is_empty,  // as the specification says
  is_error,  // a name without a value, or a partial without a template
};

// Renders `main` with the values of `data`, an object. Errc::invalid with the position of the tag,
// also for a result of more than 16 MiB and for a template that does not terminate: more than a
// million tags, or partials nested deeper than 64.
[[nodiscard]] Result<void> render_template(const Template& main,
                                           const nlohmann::json& data,
                                           const Partials& partials,
                                           Unknown unknown,
                                           TemplateOutput& output);

// Escapes values for HTML (& < > "), as in the specification.
class HtmlOutput : public TemplateOutput {
 public:
  [[nodiscard]] Result<void> literal(std::string_view text) override;
  [[nodiscard]] Result<void> value(std::string_view text) override;
  [[nodiscard]] Result<void> raw(std::string_view text) override;
  [[nodiscard]] Result<void> finished(std::string_view text) override;
};

}  // namespace dts::script
