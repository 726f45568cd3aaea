// SPDX-License-Identifier: Apache-2.0
// What git says of a working tree, by the real git, and the copy of its tracked files.
#include "core/provenance/source_tree.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace dts::provenance {
namespace {

using tests::TemporaryFolder;

std::string git(const std::string& folder, std::vector<std::string> words) {
  Command command;
  command.argv = {"git",
                  "-c",
                  "user.name=t",
                  "-c",
                  "user.email=t@example.org",
                  "-c",
                  "protocol.file.allow=always",
                  "-C",
                  folder};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  const auto output = run_process(std::move(command), std::chrono::seconds(60));
  REQUIRE(output);
  REQUIRE_MESSAGE(output->exit_code == 0, output->err);
  return output->out;
}

// A tree with a commit of a program, a link and a file in src/.
struct Tree {
  TemporaryFolder folder;
  std::string top = folder.file("tree");

  Tree() {
    REQUIRE(make_folders(top + "/src"));
    git(top, {"init", "-q", "-b", "main"});
    write("train.py", "print(1)\n");
    write("src/a \"b\"\n.txt", "a\n");
    REQUIRE(::symlink("train.py", (top + "/link").c_str()) == 0);
    git(top, {"add", "."});
    git(top, {"commit", "-q", "-m", "first"});
  }

  void write(const std::string& path, const std::string& text) const {
    REQUIRE(write_file(top + "/" + path, text, 0755));
  }

  [[nodiscard]] SourceTree read(const std::string& below = "") const {
    auto tree = read_source_tree(top + "/" + below);
    REQUIRE_MESSAGE(tree, tree.error().message);
    REQUIRE(*tree);
    return **tree;
  }
};

TEST_CASE("a folder outside any tree has no source") {
  const TemporaryFolder folder;
  const auto tree = read_source_tree(folder.path);
  REQUIRE_MESSAGE(tree, tree.error().message);
  CHECK_FALSE(*tree);
}

TEST_CASE("the commit of a clean tree") {
  const Tree tree;
  const SourceTree source = tree.read("src");
  CHECK(source.top == tree.top);
  CHECK(source.prefix == "src/");
  CHECK(source.branch == "main");
  CHECK(source.commit + "\n" == git(tree.top, {"rev-parse", "HEAD"}));
  CHECK(source.remote.empty());
  CHECK(source.changed.empty());
  CHECK(source.untracked.empty());
  CHECK(source.diff.empty());
}

TEST_CASE("what has changed since, as a diff that makes the tree again") {
  const Tree tree;
  tree.write("train.py", "print(2)\n");
  tree.write("new.bin", std::string("\0\1\2", 3));
  tree.write("data.txt", "untracked\n");
  git(tree.top, {"add", "new.bin"});
  git(tree.top, {"mv", "src/a \"b\"\n.txt", "src/c.txt"});
  git(tree.top, {"remote", "add", "origin", "https://me:secret@example.org/x.git"});
  const SourceTree source = tree.read();
  CHECK(source.remote == "https://<redacted>@example.org/x.git");
  CHECK(source.untracked == std::vector<std::string>{"data.txt"});
  std::vector<std::string> changed = source.changed;
  std::sort(changed.begin(), changed.end());
  CHECK(changed == std::vector<std::string>{"new.bin", "src/c.txt", "train.py"});

  const std::string again = tree.folder.file("again");
  git(tree.folder.path, {"clone", "-q", tree.top, again});
  REQUIRE(write_file(tree.folder.file("diff"), source.diff));
  git(again, {"apply", tree.folder.file("diff")});
  CHECK(read_file(again + "/train.py").value() == "print(2)\n");
  CHECK(read_file(again + "/new.bin").value() == std::string("\0\1\2", 3));
  CHECK(read_file(again + "/src/c.txt").value() == "a\n");
  const auto facts = nlohmann::json::parse(to_json(source));
  CHECK(facts["commit"] == source.commit);
  CHECK(facts["untracked"][0] == "data.txt");
}

TEST_CASE("a tree without a commit") {
  const TemporaryFolder folder;
  git(folder.path, {"init", "-q"});
  REQUIRE(write_file(folder.file("x"), "x"));
  const auto tree = read_source_tree(folder.path);
  REQUIRE(tree);
  REQUIRE(*tree);
  CHECK((*tree)->commit.empty());
  CHECK((*tree)->untracked == std::vector<std::string>{"x"});
}

TEST_CASE("programs that the repository names are not run") {
  const Tree tree;
  const std::string trap = tree.folder.file("ran");
  git(tree.top, {"config", "core.fsmonitor", "touch " + trap});
  git(tree.top, {"config", "diff.external", "touch " + trap});
  tree.write("train.py", "print(2)\n");
  CHECK_FALSE(tree.read().diff.empty());
  CHECK_FALSE(exists(trap));
}

TEST_CASE("the copy has what is tracked, as it is now, submodules included") {
  const Tree library;
  const Tree tree;
  git(tree.top, {"submodule", "--quiet", "add", library.top, "lib"});
  tree.write("train.py", "print(2)\n");
  tree.write("untracked.py", "");
  REQUIRE(remove_all(tree.top + "/src"));
  const SourceTree source = tree.read();
  CHECK(tracked_files(source).value() == std::vector<std::string>{".gitmodules",
                                                                  "lib/link",
                                                                  "lib/src/a \"b\"\n.txt",
                                                                  "lib/train.py",
                                                                  "link",
                                                                  "src/a \"b\"\n.txt",
                                                                  "train.py"});

  const std::string into = tree.folder.file("copy");
  const auto copied = copy_tracked_files(source, into);
  REQUIRE_MESSAGE(copied, copied.error().message);
  CHECK(copied->files == 6);  // .gitmodules, link, train.py and the three of lib
  CHECK(read_file(into + "/train.py").value() == "print(2)\n");
  CHECK(read_file(into + "/lib/train.py").value() == "print(1)\n");
  CHECK(::access((into + "/train.py").c_str(), X_OK) == 0);
  CHECK(std::filesystem::read_symlink(into + "/link") == "train.py");
  CHECK_FALSE(exists(into + "/untracked.py"));
  CHECK_FALSE(exists(into + "/src"));
  CHECK_FALSE(exists(into + "/.git"));
}

}  // namespace
}  // namespace dts::provenance
