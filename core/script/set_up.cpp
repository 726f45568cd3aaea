// SPDX-License-Identifier: Apache-2.0
#include "core/script/set_up.hpp"

#include "core/base/text/text.hpp"

#include "set_up_fragments.inc"

namespace dts::script {
namespace {

std::string begin_of_step(const std::string& step, const std::string& value) {
  return "dts_step=" + shell_quote(step) + "\ndts_value=" + shell_quote(value) + "\n";
}

class SetUpText {
 public:
  explicit SetUpText(const SetUpFragment& site) : site_(site) {}

  void add(const std::string& name, const char* ours, const std::string& value) {
    const auto theirs = site_ ? site_(name) : std::nullopt;
    text_ += begin_of_step("--" + name + " " + value, value) + theirs.value_or(ours) + "\n";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const SetUpFragment& site_;
  std::string text_;
};

}  // namespace

std::string set_up_script(const spec::JobSpec& spec, const SetUpFragment& site) {
  SetUpText steps(site);
  if (!spec.stage.empty()) steps.add("stage", k_set_up_stage, join(spec.stage, " "));
  for (const std::string& module : spec.modules) steps.add("module", k_set_up_module, module);
  if (!spec.conda.empty()) steps.add("conda", k_set_up_conda, spec.conda);
  if (!spec.venv.empty()) steps.add("venv", k_set_up_venv, spec.venv);
  std::string lines;
  for (const std::string& line : spec.setup)
    lines += begin_of_step("--setup " + line, line) + k_set_up_line;
  if (steps.text().empty() && lines.empty()) return {};
  const std::string container = "dts_container=" + shell_quote(spec.container.image) + "\n";
  return std::string(k_set_up_begin) + container + k_set_up_modules + steps.text() + lines +
         k_set_up_end;
}

// Runs each step even if an earlier one failed.
std::string tear_down_script(const spec::JobSpec& spec) {
  std::string text = spec.teardown.empty() ? "" : k_set_up_modules;
  for (const std::string& line : spec.teardown)
    text += begin_of_step("--teardown " + line, line) + "(\n" + k_set_up_line +
            ") || echo \"$dts_step exited $?\" >&2\n";
  return text;
}

}  // namespace dts::script
