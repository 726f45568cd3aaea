// SPDX-License-Identifier: Apache-2.0
// dtsubmit render: a user's templates, and those of an explicit file, complete and partial.
// Templates of other users are refused.
#include "core/base/files/files.hpp"
#include "tests/cli/session.hpp"

#include <sys/stat.h>

using namespace dts;
using namespace dts::tests;

namespace {

struct WithTemplates : Session {
  WithTemplates() {
    environment["DTSUBMIT_SITE_FOLDER"] = file("site");
    REQUIRE(make_folders(file("site/templates")));
    REQUIRE(make_folders(file(".config/dtsubmit/templates")));
  }

  void write(const std::string& name, const std::string& text) const {
    REQUIRE(write_file(file(name), text));
  }

  [[nodiscard]] Output render(Words more = {}) const {
    Words words{"render", "--nodes", "2", "--job-name", "it's"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "true"});
    return dtsubmit(words);
  }
};

}  // namespace

TEST_CASE("the script is the one that submit would send") {
  const WithTemplates session;
  const Output rendered = session.render();
  CHECK(rendered.exit_code == 0);
  CHECK(contains(rendered.out, "#SBATCH --job-name=\"it's\"\n"));
  CHECK(contains(rendered.out, " agent --run "));
  CHECK_FALSE(exists(session.file("runs")));
}

TEST_CASE("the script of a snapshot is that of its tree") {
  const WithTemplates session;
  CHECK(contains(session.render({"--snapshot"}).err, "is in no working tree of git"));
  REQUIRE(session.shell("git init -q .").exit_code == 0);
  CHECK(session.render({"--snapshot"}).exit_code == 0);
}

TEST_CASE("a user's part comes before the site's, and both before ours") {
  const WithTemplates session;
  session.write("site/templates/prologue.mustache", "site={{job_name}}\n");
  CHECK(contains(session.render().out, "\nsite='it'\\''s'\nexec "));
  session.write(".config/dtsubmit/templates/prologue.mustache", "user=1\n");
  const std::string script = session.render().out;
  CHECK(contains(script, "\nuser=1\nexec "));
  CHECK_FALSE(contains(script, "site="));
  const Output list = session.dtsubmit({"render", "--list"});
  CHECK(contains(list.out,
                 "prologue     " + session.file(".config/dtsubmit/templates/prologue.mustache")));
  CHECK(contains(list.out, "agent        built in\n"));
}

TEST_CASE("a template is named, or its file is, and has its parts beside it") {
  const WithTemplates session;
  session.write("site/templates/big.mustache", "#!/bin/bash\n{{>options}}\n# big\n{{>agent}}\n");
  CHECK(contains(session.render({"--template", "big"}).out, "# big\nexec "));
  session.write("own.mustache", "#!/bin/bash\n{{>options}}\n{{>lines}}\n{{>agent}}\n");
  session.write("lines.mustache", "# of mine\n");
  CHECK(contains(session.render({"--template", "own.mustache"}).out, "# of mine\nexec "));
  CHECK(contains(session.render({"--template", "bigg"}).err, "there is no template `bigg`"));
  CHECK(session.render({"--template", "./none"}).exit_code != 0);
}

TEST_CASE("mistakes are named with their place; what others may write is refused") {
  const WithTemplates session;
  session.write("t.mustache", "#!/bin/bash\n{{>options}}\necho \"{{job_name}}\"\n{{>agent}}\n");
  const Output quotes = session.render({"--template", "t.mustache"});
  CHECK(quotes.exit_code == 3);
  CHECK(contains(quotes.err, "t.mustache:3:7: job_name: a value cannot stand inside quotes"));
  const std::string part = session.file("site/templates/prologue.mustache");
  session.write("site/templates/prologue.mustache", "true\n");
  REQUIRE(::chmod(part.c_str(), 0666) == 0);
  const Output open = session.render();
  CHECK(open.exit_code != 0);
  CHECK(contains(open.err, part));
  REQUIRE(remove_all(part));
  REQUIRE(::mkfifo(part.c_str(), 0600) == 0);
  CHECK(session.render().exit_code != 0);
}

TEST_CASE("hostile templates are refused with a message") {
  const WithTemplates session;
  const std::pair<std::string, const char*> table[] = {
      {"#!/bin/bash\n{{>t}}\n", "deeper than 64"},
      {std::string("#!/bin/bash\n\0{{>agent}}\n", 24), "NUL"},
      {"#!/bin/bash\n{{#command}}\n", "has no end"},
      {std::string(2 << 20, 'x'), "1048576"},
      {"", "does not begin with #!"}};
  for (const auto& row : table) {
    session.write("t.mustache", row.first);
    const Output output = session.render({"--template", "t.mustache"});
    CHECK_MESSAGE(output.exit_code != 0, row.second);
    CHECK_MESSAGE(contains(output.err, row.second), output.err);
  }
}

TEST_CASE("any template can be filled in with the values of a file") {
  const WithTemplates session;
  session.write("t.mustache", "{{#list}}<{{.}}>{{/list}}{{none}}{{>p}}\n");
  session.write("p.mustache", "({{a}})");
  session.write("data.json", R"({"list": ["1", "a b"], "a": "&"})");
  const Words words{"render", "--template", "t.mustache", "--data", "data.json"};
  CHECK(session.dtsubmit(words).out == "<1><'a b'>''('&')\n");
  Words html = words;
  html.insert(html.end(), {"--escape", "html"});
  CHECK(session.dtsubmit(html).out == "<1><a b>(&amp;)\n");
  session.write("data.json", "{\n\"a\": }");
  CHECK(contains(session.dtsubmit(words).err, "data.json:2:6"));
}
