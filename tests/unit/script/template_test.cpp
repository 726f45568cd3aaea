// SPDX-License-Identifier: Apache-2.0
// The template engine: tags, sections, partials, what takes its line with it, mistakes with their
// place. DTS_MUSTACHE_SPEC names a folder of the public specification's cases (*.json), which then
// run as well.
#include "core/script/template/parse.hpp"
#include "core/script/template/render.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace dts::script {
namespace {

using dts::tests::contains;
using nlohmann::json;
using Texts = std::map<std::string, std::string>;

Result<std::string> html(const std::string& text,
                         const json& data,
                         const Texts& partials = {},
                         Unknown unknown = Unknown::is_empty) {
  const Partials by_name = [&](const std::string& name) -> Result<std::optional<Template>> {
    const auto found = partials.find(name);
    if (found == partials.end()) return std::nullopt;
    return Template{name, found->second};
  };
  HtmlOutput output;
  DTS_TRY(render_template({"t", text}, data, by_name, unknown, output));
  return output.text();
}

std::string strict_complaint(const std::string& text, const Texts& partials = {}) {
  const json data{{"name", "train"}, {"list", {1, 2}}, {"object", {{"inner", "x"}}}};
  const auto result = html(text, data, partials, Unknown::is_error);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::invalid);
  return result.error().message;
}

}  // namespace

TEST_CASE("values, sections and partials") {
  const json data{{"a", "<x & \"y\">"},
                  {"n", 85},
                  {"d", 1.25},
                  {"yes", true},
                  {"no", false},
                  {"none", nullptr},
                  {"empty", json::array()},
                  {"list", {{{"i", 1}}, {{"i", 2}, {"a", "own"}}}},
                  {"words", {"one", "two"}},
                  {"o", {{"p", {{"q", "deep"}}}}}};

  const struct {
    const char* text;
    const char* wanted;
  } table[] = {{"", ""},
               {"no tags } {", "no tags } {"},
               {"{{a}} {{{a}}} {{&a}}", "&lt;x &amp; &quot;y&quot;&gt; <x & \"y\"> <x & \"y\">"},
               {"{{ n }}|{{\tn\n}}|{{d}}|{{yes}}|{{none}}|{{unknown}}", "85|85|1.25|true||"},
               {"{{o.p.q}}{{o.x.q}}{{#o}}{{p.q}}{{/o}}", "deepdeep"},
               {"{{#list}}{{i}}{{n}}{{/list}}", "185285"},
               {"{{#list}}({{a}}){{/list}}", "(&lt;x &amp; &quot;y&quot;&gt;)(own)"},
               {"{{#words}}{{.}},{{/words}}", "one,two,"},
               {"{{#yes}}1{{/yes}}{{#no}}2{{/no}}{{#none}}3{{/none}}{{#empty}}4{{/"
                "empty}}{{#unknown}}5{{/unknown}}",
                "1"},
               {"{{^yes}}1{{/yes}}{{^no}}2{{/no}}{{^none}}3{{/none}}{{^empty}}4{{/"
                "empty}}{{^unknown}}5{{/unknown}}",
                "2345"},
               {"{{! a\n comment }}x", "x"},
               {"{{=<% %>=}}<%n%>{{n}}<%={{ }}=%>{{n}}", "85{{n}}85"},
               {"{{=| |=}}|&a|", "<x & \"y\">"}};

  for (const auto& row : table) {
    const auto result = html(row.text, data);
    REQUIRE_MESSAGE(result, row.text);
    CHECK_MESSAGE(*result == row.wanted, row.text);
  }
}

TEST_CASE("a tag alone on its line takes the line with it") {
  const json data{{"yes", true}, {"v", "x"}, {"lines", "1\n2"}};

  const struct {
    const char* text;
    const char* wanted;
  } table[] = {{"a\n{{#yes}}\nb\n{{/yes}}\nc\n", "a\nb\nc\n"},
               {"a\r\n  {{#yes}} \t\r\nb\r\n{{/yes}}", "a\r\nb\r\n"},
               {"{{! c }}\nx", "x"},
               {" {{! c }} y\n", "  y\n"},
               {"{{#yes}}{{/yes}}\n", "\n"},
               {"{{=| |=}}\n|v|", "x"},
               {"{{v}}\n", "x\n"},
               {"a\n  {{>p}}\nb", "a\n  1\n  x\nb"},
               {"a {{>p}}\nb", "a 1\nx\n\nb"},
               {"  {{>l}}\n", "  1\n2\n"}};

  for (const auto& row : table) {
    const auto result = html(row.text, data, {{"p", "1\n{{v}}\n"}, {"l", "{{lines}}\n"}});
    REQUIRE_MESSAGE(result, row.text);
    CHECK_MESSAGE(*result == row.wanted, row.text);
  }
}

TEST_CASE("a partial sees the values around it, and may stand in itself") {
  const json tree{{"v", "1"}, {"sub", {{{"v", "2"}, {"sub", json::array()}}}}};
  CHECK(html("{{>n}}", tree, {{"n", "<{{v}}{{#sub}}{{>n}}{{/sub}}>"}}).value() == "<1<2>>");
}

TEST_CASE("mistakes are named by template, line and column") {
  CHECK(contains(strict_complaint("ok\n  {{nam}}\n"), "t:2:3: unknown name `nam`"));
  CHECK(contains(strict_complaint("{{nam}}"), "did you mean `name`?"));
  CHECK(contains(strict_complaint("{{#object}}{{innr}}{{/object}}"), "did you mean `inner`?"));
  CHECK(contains(strict_complaint("{{#nam}}{{/nam}}"), "unknown name `nam`"));
  CHECK(contains(strict_complaint("x {{name"), "t:1:3: `{{` without `}}`"));
  CHECK(contains(strict_complaint("{{{name}}"), "`{{` without `}}}`"));
  CHECK(contains(strict_complaint("{{ }}"), "a tag without a name"));
  CHECK(contains(strict_complaint("{{#name}}"), "the section `name` has no end"));
  CHECK(contains(strict_complaint("\n{{/name}}"), "t:2:1: no section `name` is open here"));
  CHECK(contains(strict_complaint("{{#name}}{{^list}}{{/name}}{{/list}}"),
                 "this ends `name`, but the section is `list`"));
  CHECK(contains(strict_complaint("{{=x=}}"), "new delimiters are two words"));
  CHECK(contains(strict_complaint("{{=a b c=}}"), "delimiters are two words"));
  CHECK(contains(strict_complaint("{{list}}"), "list: is a list or an object"));
  CHECK(contains(strict_complaint("{{>none}}"), "there is no template `none`"));
  CHECK(contains(strict_complaint("{{>p}}", {{"p", "\n{{nam}}"}}), "p:2:1: unknown name"));
}

TEST_CASE("a template that does not come to an end is refused") {
  CHECK(contains(strict_complaint("{{>p}}", {{"p", "x{{>p}}"}}),
                 "partials in each other deeper than 64"));
  std::string deep;
  for (int i = 0; i < 65; ++i) deep += "{{#name}}";
  CHECK(contains(strict_complaint(deep), "sections nested deeper than 64"));
  json list = json::array();
  for (int i = 0; i < 100; ++i) list.push_back(i);
  const auto many = html("{{#l}}{{#l}}{{#l}}{{#l}}x{{/l}}{{/l}}{{/l}}{{/l}}", {{"l", list}});
  REQUIRE_FALSE(many);
  CHECK(contains(many.error().message, "does not come to an end"));
}

TEST_CASE("the specification's own cases") {
  const char* folder = std::getenv("DTS_MUSTACHE_SPEC");
  if (folder == nullptr) {
    MESSAGE("skipped: DTS_MUSTACHE_SPEC names no folder of the specification's cases");
    return;
  }
  unsigned cases = 0;
  for (const char* module :
       {"comments", "delimiters", "interpolation", "inverted", "partials", "sections"}) {
    std::ifstream file(std::filesystem::path(folder) / (std::string(module) + ".json"));
    const json document = json::parse(file);
    for (const json& one : document.at("tests")) {
      const auto partials = one.contains("partials") ? one["partials"].get<Texts>() : Texts();
      const auto result = html(one["template"], one["data"], partials);
      const std::string name = std::string(module) + ": " + one["name"].get<std::string>();
      REQUIRE_MESSAGE(result, name);
      CHECK_MESSAGE(*result == one["expected"].get<std::string>(), name);
      ++cases;
    }
  }
  CHECK(cases > 100);
}

}  // namespace dts::script
