// SPDX-License-Identifier: Apache-2.0
// The manual pages' text of the options of a job is that of core/spec's rows, and that of the rules
// of `dtsubmit lint` is that of core/lint's: between the lines `.\" PART: ...` and `.\" end` a page
// holds what is rendered here.
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/lint/rule.hpp"
#include "core/spec/option.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

namespace dts {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '-' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// ".BR \-N ", " \-\-nodes " \fIN\fR""
std::string tag(const spec::Option& option) {
  const std::string type = option.value.type;
  const std::string value = type.empty() ? "" : "\\fI" + escaped(type) + "\\fR";
  const auto names = split(option.names, ',');
  if (names.size() == 1)
    return ".B " + escaped(names[0]) + (value.empty() ? "" : " " + value) + "\n";
  return fmt::format(".BR {} \", \" {}{}\n",
                     escaped(names[0]),
                     escaped(names[1]),
                     value.empty() ? "" : " \" " + value + "\"");
}

// "account to charge" as a sentence.
std::string sentence(std::string help) {
  help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
  return escaped(help) + ".\n";
}

std::string entries(spec::Group group) {
  std::string text;
  for (const spec::Option& option : spec::options()) {
    if (option.group != group) continue;
    const std::string manual = option.manual;
    text += ".TP\n" + tag(option) + (manual.empty() ? sentence(option.help) : manual);
  }
  return text;
}

std::string releases_of(const lint::Rule& rule) {
  std::string text;
  if (rule.since != Release{}) text = " from " + to_string(rule.since) + " on";
  if (rule.until != Release{}) text += " before " + to_string(rule.until);
  return text.empty() ? "" : "For Slurm" + text + ".\n";
}

std::string rules() {
  std::string text;
  for (const lint::Rule& rule : lint::rules()) {
    text += fmt::format(
        ".TP\n.BR {} \" ({})\"\n", escaped(rule.id), escaped(lint::to_string(rule.severity)));
    text += sentence(rule.title) + escaped(rule.reason) + "\n" + releases_of(rule);
    text += fmt::format(
        "What to do: {}{}\n", escaped(rule.fix), rule.can_fix ? ".\n.B \\-\\-fix\ndoes it." : ".");
  }
  return text;
}

const std::map<std::string, std::string> k_parts = {
    {".\\\" options job:", entries(spec::Group::job)},
    {".\\\" options hosts:", entries(spec::Group::hosts)},
    {".\\\" options slurm:", entries(spec::Group::slurm)},
    {".\\\" rules:", rules()}};

// The page with every marked part rendered.
Result<std::string> render(const std::string& page) {
  constexpr std::string_view k_end = ".\\\" end\n";
  std::string result = page;
  bool has_any = false;
  for (const auto& [start, part] : k_parts) {
    const std::size_t at = result.find(start);
    if (at == std::string::npos) continue;
    const std::size_t line = result.find('\n', at);
    const std::size_t end = result.find(k_end, at);
    if (end == std::string::npos) return fail(Errc::invalid, "a marked part without an end");
    result.replace(line + 1, end - line - 1, part);
    has_any = true;
  }
  if (!has_any) return fail(Errc::invalid, "no marked part");
  return result;
}

int run(const std::string& folder, bool bless) {
  int wrong = 0;
  for (const char* name : {"dtsubmit-submit.1", "dtsubmit-run.1", "dtsubmit-lint.1"}) {
    const std::string path = folder + "/" + name;
    const auto page = read_file(path);
    const auto rendered = page ? render(*page) : page;
    if (!rendered) {
      fmt::print("{}: {}\n", path, rendered.error().message);
      return 1;
    }
    if (*rendered == *page) continue;
    if (!bless) fmt::print("{} differs from the rows: tests/tools/bless.sh\n", path);
    if (!bless || !write_file(path, *rendered)) wrong = 1;
  }
  return wrong;
}

}  // namespace
}  // namespace dts

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return dts::run(argv[1], argc > 2 && std::string(argv[2]) == "--bless");
}
