// SPDX-License-Identifier: Apache-2.0
// The template engine: values are data, mistakes are named with their place.
#include "core/script/template.hpp"

#include "tests/support/contains.hpp"

#include <doctest/doctest.h>

namespace dts::script {
namespace {

const Values k_values{
    {{"name", "train"}, {"path", "/a b/$(reboot)/'x'"}, {"nested", "{{sh name}}"}, {"bad", "a\nb"}},
    {{"two", {"first {{sh name}}", "second"}}, {"none", {}}}};

std::string filled(const std::string& text) {
  const auto result = fill_template(text, "t.in", k_values);
  if (!result) FAIL(result.error().message);
  return *result;
}

std::string complaint(const std::string& text) {
  const auto result = fill_template(text, "t.in", k_values);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == Errc::invalid);
  return result.error().message;
}

using dts::tests::contains;

}  // namespace

TEST_CASE("a value is quoted for the language its placeholder names") {
  CHECK(filled("cd {{sh path}}\n") == "cd '/a b/$(reboot)/'\\''x'\\'''\n");
  CHECK(filled("#SBATCH --x={{sbatch path}}") == "#SBATCH --x=\"/a b/$(reboot)/'x'\"\n");
  CHECK(filled("# {{comment name}}, {{comment name}}.\n") == "# train, train.\n");
  CHECK(filled("a { b } ${x}\n\n") == "a { b } ${x}\n\n");
  CHECK(filled("").empty());
}

TEST_CASE("values are never expanded again") {
  CHECK(filled("{{sh nested}}\n") == "'{{sh name}}'\n");
  CHECK(filled("{{lines two}}\n") == "first {{sh name}}\nsecond\n");
}

TEST_CASE("no lines leave no line behind") {
  CHECK(filled("a\n{{lines none}}\nb\n") == "a\nb\n");
}

TEST_CASE("mistakes are named by template, line and column") {
  CHECK(contains(complaint("ok\n  {{sh nam}}\n"), "t.in:2:3: unknown name `nam`"));
  CHECK(contains(complaint("{{sh nam}}"), "did you mean `name`?"));
  CHECK(contains(complaint("{{hs name}}"), "unknown kind of quoting `hs`"));
  CHECK(contains(complaint("{{name}}"), "a placeholder has two words"));
  CHECK(contains(complaint("{{sh  name}}"), "a placeholder has two words"));
  CHECK(contains(complaint("x {{sh name"), "t.in:1:3: `{{` without `}}`"));
  CHECK(contains(complaint("x}} {{sh name}}"), "t.in:1:2: `}}` without `{{`"));
  CHECK(contains(complaint("{{sh {{sh name}} }}"), "t.in:1:1"));
  CHECK(contains(complaint("x {{lines two}}"), "must stand alone"));
  CHECK(contains(complaint("{{lines tow}}"), "unknown name `tow`"));
  CHECK(contains(complaint("{{lines name}}"), "unknown name `name`"));
  CHECK(contains(complaint("{{sh two}}"), "unknown name `two`"));
}

TEST_CASE("a control byte is refused in every language, naming the value") {
  for (const char* kind : {"sh", "sbatch", "comment"})
    CHECK(contains(complaint(std::string("{{") + kind + " bad}}"), "bad: "));
}

TEST_CASE("sbatch_quote escapes what sbatch reads, and only that") {
  CHECK(*sbatch_quote("") == "\"\"");
  CHECK(*sbatch_quote(R"(a"b\c'd#e $f `g` :)") == R"("a\"b\\c'd#e $f `g` :")");
  CHECK(sbatch_quote(std::string(1024, 'x')));
  CHECK_FALSE(sbatch_quote(std::string(1025, 'x')));
  CHECK_FALSE(sbatch_quote("a\nb"));
  CHECK_FALSE(sbatch_quote(std::string_view("a\0b", 3)));
}

}  // namespace dts::script
