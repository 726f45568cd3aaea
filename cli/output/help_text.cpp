// SPDX-License-Identifier: Apache-2.0
#include "cli/output/help_text.hpp"

#include "cli/output/terminal.hpp"
#include "cli/output/wrapped.hpp"
#include "core/base/text/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace dts::cli {
namespace {

// The explanation begins in this column, on the next line if the name is too long.
constexpr std::size_t k_column = 30;
constexpr std::size_t k_verb_column = 14;  // of verbs, whose names are short
constexpr std::size_t k_narrowest = 30;    // of an explanation, even if the terminal is narrow

std::string row(const std::string& name,
                const std::string& explanation,
                std::size_t column = k_column) {
  std::string text = "  " + name;
  if (explanation.empty()) return text + "\n";
  if (text.size() >= column)
    text += "\n" + std::string(column, ' ');
  else
    text.resize(column, ' ');
  const std::size_t columns = std::max<std::size_t>(terminal_columns(), column + k_narrowest);
  bool is_first = true;
  for (const std::string& line : wrapped(explanation, columns - column)) {
    if (!is_first) text += std::string(column, ' ');
    text += line + "\n";
    is_first = false;
  }
  return text;
}

// Each line of `text` in lines that fit the terminal.
std::string paragraphs(const std::string& text) {
  std::string result;
  for (const std::string& paragraph : split(text, '\n'))
    for (const std::string& line : wrapped(paragraph, terminal_columns())) result += line + "\n";
  return result;
}

std::string row(const CLI::Option& option, bool is_positional) {
  std::string name = option.get_name(is_positional, !is_positional);
  if (option.get_type_size() != 0) {
    if (const std::string type = option.get_type_name(); !type.empty()) name += " " + type;
    if (!option.get_default_str().empty()) name += "=" + option.get_default_str();
    if (option.get_expected_max() == CLI::detail::expected_max_vector_size) name += " ...";
    if (option.get_required()) name += " REQUIRED";
  }
  if (!option.get_envname().empty()) name += " (Env:" + option.get_envname() + ")";
  return row(name, option.get_description());
}

std::string section(const std::string& heading, const std::vector<const CLI::Option*>& options) {
  std::string text = "\n" + heading + ":\n";
  for (const CLI::Option* option : options) text += row(*option, !option->nonpositional());
  return text;
}

std::string usage_of(const CLI::Option& option) {
  std::string text = option.get_name(true);
  if (option.get_expected_max() >= CLI::detail::expected_max_vector_size) text += "...";
  return option.get_required() ? text : "[" + text + "]";
}

class HelpLayout : public CLI::FormatterBase {
 public:
  explicit HelpLayout(Positionals positionals) : positionals_(positionals) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::string text;
    if (!app->get_description().empty()) text += paragraphs(app->get_description());
    text += usage(*app, name) + positionals(*app) + options(*app) + subcommands(*app) + "\n";
    if (!app->get_footer().empty()) text += paragraphs(app->get_footer());
    return text;
  }

 private:
  static std::string usage(const CLI::App& app, const std::string& name) {
    std::string text = "Usage: " + name;
    if (!app.get_options([](const CLI::Option* one) { return one->nonpositional(); }).empty())
      text += " [OPTIONS]";
    for (const CLI::Option* one :
         app.get_options([](const CLI::Option* option) { return option->get_positional(); }))
      text += " " + usage_of(*one);
    if (!app.get_subcommands([](const CLI::App*) { return true; }).empty())
      text += app.get_require_subcommand_min() == 0 ? " [SUBCOMMAND]" : " SUBCOMMAND";
    return text + "\n";
  }

  [[nodiscard]] std::string positionals(const CLI::App& app) const {
    if (positionals_ == Positionals::in_usage_only) return "";
    const auto found = app.get_options([](const CLI::Option* option) {
      return option->get_positional() && !option->get_group().empty();
    });
    return found.empty() ? "" : section("Positionals", found);
  }

  static std::string options(const CLI::App& app) {
    std::string text;
    for (const std::string& group : app.get_groups()) {
      const auto found = app.get_options([&](const CLI::Option* option) {
        return option->get_group() == group && option->nonpositional();
      });
      if (group == k_hidden || found.empty()) continue;
      text += section(heading(group), found);
    }
    return text;
  }

  // CLI11 2.6 writes the name of its default group in capitals.
  static std::string heading(const std::string& group) {
    return group == "OPTIONS" ? "Options" : group;
  }

  static std::string subcommands(const CLI::App& app) {
    std::string text;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
      if (!verb->get_group().empty())
        text += row(verb->get_name(), verb->get_description(), k_verb_column);
    return text.empty() ? text : "\nSubcommands:\n" + text;
  }

  Positionals positionals_;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_layout(Positionals positionals) {
  return std::make_shared<HelpLayout>(positionals);
}

}  // namespace dts::cli
