// SPDX-License-Identifier: Apache-2.0
// The manual pages' text of the options of a job is that of core/spec's rows: between the lines
// `.\" options GROUP: ...` and `.\" end` a page holds what is rendered here.
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "core/spec/option.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

namespace dts {
namespace {

const std::map<std::string, spec::Group> k_groups = {
    {"job", spec::Group::job}, {"hosts", spec::Group::hosts}, {"slurm", spec::Group::slurm}};

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

// The page with every marked part rendered.
Result<std::string> render(const std::string& page) {
  constexpr std::string_view k_start = ".\\\" options ";
  constexpr std::string_view k_end = ".\\\" end\n";
  std::string result = page;
  for (std::size_t at = result.find(k_start); at != std::string::npos;
       at = result.find(k_start, at + 1)) {
    const std::size_t name = at + k_start.size();
    const std::size_t line = result.find('\n', at);
    const std::size_t end = result.find(k_end, at);
    const auto group = k_groups.find(result.substr(name, result.find(':', name) - name));
    if (end == std::string::npos || group == k_groups.end())
      return fail(Errc::invalid, "a marked part without an end, or of no group");
    result.replace(line + 1, end - line - 1, entries(group->second));
  }
  return result;
}

int run(const std::string& folder, bool bless) {
  int wrong = 0;
  for (const char* name : {"dtsubmit-submit.1", "dtsubmit-run.1"}) {
    const std::string path = folder + "/" + name;
    const auto page = read_file(path);
    const auto rendered = page ? render(*page) : page;
    if (!rendered || rendered->find(".\\\" options ") == std::string::npos) {
      fmt::print("{}: {}\n", path, rendered ? "no marked part" : rendered.error().message);
      return 1;
    }
    if (*rendered == *page) continue;
    if (!bless) fmt::print("{} differs from the options' rows: tests/tools/bless.sh\n", path);
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
