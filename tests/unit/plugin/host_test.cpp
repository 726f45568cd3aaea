// SPDX-License-Identifier: Apache-2.0
// Which plug-in files are loaded, which are refused and how, and what replies become.
#include "core/plugin/host.hpp"

#include "core/base/files/files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

using dts::Errc;
using dts::plugin::check_plugin_file;
using dts::plugin::load_plugin;
using dts::plugin::load_plugin_file;

namespace {

std::string fixture(const std::string& name) {
  return std::string(FIXTURE_FOLDER) + "/dtsubmit-" + name + ".so";
}

auto load(const std::string& name) {
  return load_plugin_file(fixture(name), name);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

// A private folder below /tmp, removed at the end.
class Folder {
 public:
  Folder() : path_(mkdtemp(name_)) {}

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  ~Folder() { (void)dts::remove_all(path_); }

  [[nodiscard]] std::string at(const std::string& name) const { return path_ + "/" + name; }

  // A file of that mode, whatever the umask.
  [[nodiscard]] std::string file(const std::string& name, mode_t mode) const {
    REQUIRE(dts::write_file(at(name), "text", 0600).has_value());
    REQUIRE(chmod(at(name).c_str(), mode) == 0);
    return at(name);
  }

 private:
  char name_[32] = "/tmp/dts-plugin-test-XXXXXX";
  std::string path_;
};

constexpr int k_no_namespace = 99;

bool put(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return ::close(fd) == 0 && written;
}

// The exit code of `body` as a user without privileges in a user namespace that maps nobody else,
// as on a node of a plain user's private cluster; k_no_namespace where the kernel makes none.
int in_namespace_of(uid_t user, const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(user, user, user) != 0) ::_exit(98);
    ::prctl(PR_SET_DUMPABLE, 1);  // or /proc/self is root's
    if (::unshare(CLONE_NEWUSER) != 0) ::_exit(k_no_namespace);
    const std::string id = std::to_string(user);
    ::_exit(put("/proc/self/uid_map", id + " " + id + " 1") ? body() : 97);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a good plug-in is loaded and its table read") {
  const auto plugin = load("fixture");
  REQUIRE(plugin.has_value());
  CHECK((*plugin)->name() == std::string("fixture"));
  CHECK((*plugin)->version() == std::string("1"));
  CHECK(has((*plugin)->path(), "dtsubmit-fixture.so"));
}

TEST_CASE("a plug-in of another ABI version is refused with both versions") {
  const auto plugin = load("otherabi");
  REQUIRE_FALSE(plugin.has_value());
  CHECK(plugin.error().code == Errc::invalid);
  CHECK(has(plugin.error().message, "ABI version 99, this program speaks 3"));
}

TEST_CASE("a plug-in whose table is too short is refused with both sizes") {
  const auto plugin = load("shorttable");
  REQUIRE_FALSE(plugin.has_value());
  CHECK(has(plugin.error().message, "a table of 16 bytes"));
}

TEST_CASE("a plug-in of another name or kind, or with no symbol, is refused") {
  CHECK(has(load("othername").error().message, "calls itself"));
  CHECK(has(load("nosymbol").error().message, "no dtsubmit_plugin_v1"));
  CHECK(has(load("otherkind").error().message, "is of kind 2, not a scheduler"));
}

TEST_CASE("a file that is no shared object is refused with the loader's words") {
  const Folder folder;
  const auto plugin = load_plugin_file(folder.file("x.so", 0644), "x");
  REQUIRE_FALSE(plugin.has_value());
  CHECK(plugin.error().code == Errc::invalid);
  CHECK(has(plugin.error().message, "cannot load the plug-in"));
}

TEST_CASE("a missing library is named, and for Slurm's the package is") {
  const auto needy = load("needy");
  REQUIRE_FALSE(needy.has_value());
  CHECK(needy.error().code == Errc::unreachable);
  CHECK(has(needy.error().message, "libabsent.so.99"));
  const auto slurm = load("needslurm");
  REQUIRE_FALSE(slurm.has_value());
  CHECK(slurm.error().code == Errc::unreachable);
  CHECK(slurm.error().message.find("libslurm.so.99 is not here") == 0);
  CHECK(has(slurm.error().hint, "libslurm38"));
}

TEST_CASE("a file that others can write is refused, one they can read is not") {
  const Folder folder;
  CHECK(check_plugin_file(folder.file("good.so", 0755)).has_value());
  for (const mode_t mode : {0775, 0757}) {
    const auto checked = check_plugin_file(folder.file("bad.so", mode));
    REQUIRE_FALSE(checked.has_value());
    CHECK(checked.error().code == Errc::invalid);
    CHECK(has(checked.error().message, "can be written by others"));
    CHECK(has(checked.error().hint, "chmod go-w"));
  }
}

TEST_CASE("a folder above the file that others can write is refused, unless it is sticky") {
  const Folder folder;
  REQUIRE(dts::make_folders(folder.at("open/inner"), 0755).has_value());
  const std::string file = folder.file("open/inner/p.so", 0755);
  CHECK(check_plugin_file(file).has_value());
  REQUIRE(chmod(folder.at("open").c_str(), 0777) == 0);
  CHECK(has(check_plugin_file(file).error().message, folder.at("open") + " can be written"));
  REQUIRE(chmod(folder.at("open").c_str(), 01777) == 0);
  CHECK(check_plugin_file(file).has_value());
}

TEST_CASE("a symbolic link is followed before anything is checked") {
  const Folder folder;
  const std::string file = folder.file("real.so", 0775);
  REQUIRE(symlink(file.c_str(), folder.at("link.so").c_str()) == 0);
  const auto checked = check_plugin_file(folder.at("link.so"));
  REQUIRE_FALSE(checked.has_value());
  CHECK(has(checked.error().message, "real.so"));
}

TEST_CASE("a file that belongs to another user is refused") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can give a file away");
    return;
  }
  const Folder folder;
  const std::string file = folder.file("p.so", 0755);
  REQUIRE(chown(file.c_str(), 12345, 0) == 0);
  CHECK(has(check_plugin_file(file).error().message, "belongs to user 12345"));
}

TEST_CASE(
    "on a plain user's private cluster root's folders are believed, where only root can put them") {
  constexpr uid_t user = 12345, other = 23456;
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can give files to several users");
    return;
  }
  const Folder home;  // in /tmp, which is root's and open to all
  const std::string ours = home.file("ours.so", 0755);
  const std::string theirs = home.file("theirs.so", 0755);
  REQUIRE(chown(ours.c_str(), user, 0) == 0);
  REQUIRE(chown(theirs.c_str(), other, 0) == 0);
  REQUIRE(chown(home.at("").c_str(), user, 0) == 0);
  const Folder foreign;  // made by somebody else, in /tmp as well
  const std::string planted = foreign.file("planted.so", 0755);
  REQUIRE(chown(planted.c_str(), other, 0) == 0);
  REQUIRE(chown(foreign.at("").c_str(), other, 0) == 0);
  REQUIRE(chmod(foreign.at("").c_str(), 0755) == 0);
  const int code = in_namespace_of(user, [&] {
    struct stat root {};

    const auto refused = [](const std::string& path) {
      const auto checked = check_plugin_file(path);
      return !checked && has(checked.error().message, "neither to root nor to you");
    };
    if (stat("/", &root) != 0 || root.st_uid == 0) return 1;  // or nothing is shown by this
    if (!check_plugin_file(ours)) return 2;
    if (!check_plugin_file("/usr/bin/true") && !check_plugin_file("/bin/true")) return 3;
    if (!refused(theirs)) return 4;
    if (!refused(planted)) return 5;
    return 0;
  });
  if (code == k_no_namespace) {
    MESSAGE("skipped: the kernel makes no user namespaces here");
    return;
  }
  CHECK(code == 0);
}

TEST_CASE("a folder and an absent file are no plug-ins") {
  const Folder folder;
  CHECK(has(check_plugin_file(folder.at("")).error().message, "not a regular file"));
  CHECK(check_plugin_file(folder.at("absent.so")).error().code == Errc::not_found);
}

TEST_CASE("plug-ins are looked for in the variable's absolute folders, then beside the program") {
  setenv("DTSUBMIT_PLUGIN_PATH", "relative::/first:.:/second", 1);
  const auto folders = dts::plugin::plugin_folders();
  unsetenv("DTSUBMIT_PLUGIN_PATH");
  REQUIRE(folders.size() == 3);
  CHECK(folders[0] == "/first");
  CHECK(folders[1] == "/second");
  CHECK(has(folders[2], "/lib/dtsubmit"));
}

TEST_CASE("a plug-in that is nowhere is not found, and the folders are named") {
  const auto plugin = load_plugin("nowhere");
  REQUIRE_FALSE(plugin.has_value());
  CHECK(plugin.error().code == Errc::not_found);
  CHECK(has(plugin.error().message, "dtsubmit-nowhere.so"));
  CHECK(has(plugin.error().message, "/lib/dtsubmit"));
}

TEST_CASE("a plug-in's name cannot lead out of its folder") {
  CHECK(load_plugin("../../etc/x").error().code == Errc::invalid);
}

TEST_CASE("each error code of a reply becomes ours, words and hint with it") {
  const auto plugin = load("fixture");
  REQUIRE(plugin.has_value());
  const auto fail = [&](const std::string& code) {
    return (*plugin)
        ->call("fail", R"({"code": ")" + code + R"(", "message": "why", "hint": "do"})")
        .error();
  };
  CHECK(fail("rejected").code == Errc::rejected);
  CHECK(fail("unreachable").code == Errc::unreachable);
  CHECK(fail("not_found").code == Errc::not_found);
  CHECK(fail("invalid").code == Errc::invalid);
  CHECK(fail("internal").code == Errc::internal);
  CHECK(fail("something new").code == Errc::internal);
  CHECK(fail("rejected").message == "why");
  CHECK(fail("rejected").hint == "do");
}

TEST_CASE("a reply that is absent, not JSON or neither result nor error is an internal error") {
  const auto plugin = load("fixture");
  REQUIRE(plugin.has_value());
  for (const char* operation : {"none", "garbage", "neither"}) {
    const auto reply = (*plugin)->call(operation, "{}");
    REQUIRE_FALSE(reply.has_value());
    CHECK(reply.error().code == Errc::internal);
    CHECK(has(reply.error().message, operation));
  }
  CHECK((*plugin)->call("fail", "5").error().code == Errc::internal);
}
