// SPDX-License-Identifier: Apache-2.0
// Values in templates of shell: one word each, as bash itself reads them, or refused.
#include "core/script/template/shell_output.hpp"

#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <random>

namespace dts::script {
namespace {

using dts::tests::contains;
using nlohmann::json;

Result<std::string> shell(const std::string& text, const json& data) {
  ShellOutput output;
  DTS_TRY(render_template({"t", text}, data, {}, Unknown::is_error, output));
  return output.text();
}

std::string refusal(const std::string& text) {
  const auto result = shell(text, {{"v", "x"}, {"f", finished_text("a\nb")}});
  REQUIRE_MESSAGE(!result, text);
  return result.error().message;
}

// What bash prints, all arguments of `say` with a NUL behind each.
std::vector<std::string> said(const std::string& script) {
  Command command;
  command.argv = {"bash", "-c", "say() { printf '%s\\0' \"$@\"; }\n" + script};
  const auto output = run_process(std::move(command), std::chrono::seconds(60));
  REQUIRE(output);
  REQUIRE_MESSAGE(output->err.empty(), output->err);
  std::vector<std::string> words = split(output->out, '\0');
  if (!words.empty()) words.pop_back();
  return words;
}

std::string hostile(std::mt19937& random) {
  static const std::vector<std::string> k_pieces = {
      "'", "\"", "\\",    "$",   "`",  "$(echo no)", "${HOME}", "#",    "!", "*",  "?",
      "[", "]",  "{a,b}", "~",   "&",  ";",          "|",       "<",    ">", "(",  ")",
      "=", " ",  "-",     "EOF", "}}", "{{v}}",      "é",       "\xff", "a", "&&", "$'"};
  std::string text;
  const auto length = random() % 8;
  for (unsigned i = 0; i < length; ++i) text += k_pieces[random() % k_pieces.size()];
  return text;
}

}  // namespace

TEST_CASE("property: wherever a value may stand, bash reads it as one word") {
  // A template, and the words that it says, with @ for the value.
  const std::pair<const char*, std::vector<std::string>> table[] = {
      {"say {{v}}\n", {"@"}},
      {"say a{{v}}b 'x'{{v}}\"y\"\n", {"a@b", "x@y"}},
      {"x={{v}}\nsay \"$x\"\n", {"@"}},
      {"# it's {{v}} \"here\n say {{v}} # {{v}}\n", {"@"}},
      {"cat <<'EOF' >/dev/null\nit's $(no)\nEOF\nsay {{v}}\n", {"@"}},
      {"case {{v}} in {{v}}) say {{v}};; esac\n", {"@"}},
      {"[[ {{v}} == {{v}} ]] && say {{v}}\n", {"@"}},
      {"f() { say {{v}}; }; f\n", {"@"}},
      {"say ${x:-y} $((1+2)) {{v}}\n", {"y", "3", "@"}},
      {"say \\\"{{v}}\n", {"\"@"}}};
  std::mt19937 random(9);
  for (const auto& row : table) {
    const auto& [text, words] = row;
    std::string script = "unset x\n";
    std::vector<std::string> expected;
    for (int round = 0; round < 300; ++round) {
      const std::string value = hostile(random);
      const auto filled = shell(text, {{"v", value}});
      REQUIRE_MESSAGE(filled, filled.error().message);
      script += *filled;
      for (std::string word : words) {
        if (const std::size_t at = word.find('@'); at != std::string::npos)
          word.replace(at, 1, value);
        expected.push_back(std::move(word));
      }
    }
    CHECK_MESSAGE(said(script) == expected, row.first);
  }
}

TEST_CASE("a value where a quoted word would not be one is refused, with what to do") {
  const struct {
    const char* text;
    const char* where;
  } table[] = {{"echo \"{{v}}\"", "inside quotes"},
               {"echo '{{v}}'", "inside quotes"},
               {"echo $'{{v}}'", "inside quotes"},
               {"echo \"$(cat {{v}})\"", "inside quotes"},
               {"echo `cat {{v}}`", "inside backticks"},
               {"cat <<EOF\n{{v}}\nEOF\n", "in a here-document"},
               {"cat <<-'E O F'\n\t{{v}}\n", "in a here-document"},
               {"cat <<\\X >a\nY\n{{v}}\nX\n", "in a here-document"},
               {"echo ${a:-{{v}}}", "inside ${...}"},
               {"echo $(({{v}}+1))", "in arithmetic"},
               {"((a={{v}}))", "in arithmetic"},
               {"a[{{v}}]=1", "in a subscript"},
               {"echo ${{v}}", "behind a `$`"},
               {"echo \\{{v}}", "behind a backslash"},
               {"echo \"{{{f}}}\"", "inside quotes"},
               {"# {{{f}}}", "in a comment"}};

  for (const auto& row : table) {
    const std::string message = refusal(row.text);
    CHECK_MESSAGE(contains(message, row.where), message);
    CHECK_MESSAGE(contains(message, "t:"), message);
  }
  CHECK(contains(refusal("echo {{{v}}}"), "would be inserted without quotes"));
  CHECK(contains(refusal("#SBATCH --mem=1\n"), "an #SBATCH line of a template"));
  CHECK(contains(shell("# {{v}}", {{"v", "a\nb"}}).error().message,
                 "v: the value contains a control byte"));
  CHECK_FALSE(shell("{{v}}", {{"v", std::string("a\0b", 3)}}));
}

TEST_CASE("a place is left again") {
  for (const char* text : {"echo 'a' \"b\" $'c\\'' `d \\` e` {{v}}",
                           "cat <<EOF\n'\nEOF\n{{v}}",
                           "cat <<-EOF\n\t'\n\tEOF\n{{v}}",
                           "cat <<<'x' {{v}}",
                           "# don't\n{{v}}",
                           "echo ${#a} $# a#b ${a#'x'} {{v}}",
                           "echo $((1 + (2))) {{v}}",
                           "(cd a; (cd b)) {{v}}",
                           "a[1]=2 [ {{v}} ]",
                           "echo \\' {{v}}"})
    CHECK_MESSAGE(shell(text, {{"v", "x"}}), text);
}

TEST_CASE("finished lines are inserted as they are, and followed") {
  CHECK(
      shell("{{{f}}}\n{{v}}", {{"f", finished_text("#SBATCH --mem=\"1\"\necho 'a'")}, {"v", "b c"}})
          .value() == "#SBATCH --mem=\"1\"\necho 'a'\n'b c'");
  CHECK_FALSE(shell("{{{f}}}{{v}}", {{"f", finished_text("echo 'a")}, {"v", "b"}}));
}

}  // namespace dts::script
