// SPDX-License-Identifier: Apache-2.0
// Files are whole or absent, also when the disk is full; programs start, end and time out as said.
#include "core/base/files/files.hpp"

#include "core/base/files/unnamed_file.hpp"
#include "core/base/hash.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/text.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

namespace dts {
namespace {

using namespace std::chrono_literals;

struct EmptyFolder {  // an empty folder that goes away again
  std::string path = "/tmp/dtsubmit-files-" + random_hex(8);

  EmptyFolder() { REQUIRE(make_folders(path)); }

  ~EmptyFolder() { (void)remove_all(path); }

  [[nodiscard]] std::string file(const std::string& name) const { return path + "/" + name; }
};

// Runs `body` in a child whose files may not grow beyond `bytes`; its exit code.
template <class Body>
int with_file_limit(rlim_t bytes, const Body& body) {
  const pid_t pid = ::fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return exit_code_of_wait_status(status);
}

Result<Output> run(std::vector<std::string> argv, std::chrono::milliseconds limit = 20s) {
  Command command;
  command.argv = std::move(argv);
  return run_process(command, limit);
}

}  // namespace

TEST_CASE("a file is replaced whole, with its mode, and nothing is left beside it") {
  const EmptyFolder folder;
  const std::string path = folder.file("a");
  REQUIRE(write_file(path, "old"));
  REQUIRE(write_file(path, std::string("new\0x", 5), 0640));
  CHECK(*read_file(path) == std::string("new\0x", 5));

  struct stat info {};

  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
  CHECK(list_folder(folder.path) == std::vector<std::string>{"a"});
}

TEST_CASE("what killed processes of the same number left behind is in nobody's way") {
  const EmptyFolder folder;
  const std::string file = folder.file("state"), link = folder.file("last");
  const std::string number = std::to_string(::getpid());
  for (int i = 0; i < 100; ++i)
    REQUIRE(create_file(file + ".tmp." + number + "." + std::to_string(i), "half"));
  REQUIRE(::symlink("first", link.c_str()) == 0);
  REQUIRE(::symlink("half", (link + "." + number + ".tmp").c_str()) == 0);
  CHECK(write_file(file, "whole"));
  CHECK(make_link("second", link));
  CHECK(read_file(file).value_or("") == "whole");
  CHECK(std::filesystem::read_symlink(link) == "second");
}

TEST_CASE("a file without a name leaves nothing behind") {
  const EmptyFolder folder;
  for (const std::string& path : {folder.path, std::string("/dev/shm")}) {
    const UniqueFd unnamed = unnamed_file(path);
    REQUIRE(unnamed.valid());
    CHECK(write_whole(unnamed.get(), "text", path));
  }
  CHECK(list_folder(folder.path).empty());
  CHECK_FALSE(unnamed_file(folder.file("absent")).valid());
  CHECK(errno == ENOENT);
}

TEST_CASE("a link is made with its folder, and replaces another link only") {
  const EmptyFolder folder;
  const std::string link = folder.file("links/latest");
  REQUIRE(dts::make_link("/one", link));
  REQUIRE(dts::make_link("/two", link));
  CHECK(std::filesystem::read_symlink(link) == "/two");
  CHECK(list_folder(folder.file("links")) == std::vector<std::string>{"latest"});
  REQUIRE(write_file(folder.file("file"), "mine"));
  CHECK_FALSE(dts::make_link("/one", folder.file("file")));
  CHECK(*read_file(folder.file("file")) == "mine");
}

TEST_CASE("a disk that is full leaves the old file and no temporary one") {
  const EmptyFolder folder;
  const std::string path = folder.file("state");
  REQUIRE(write_file(path, "old"));
  const int code = with_file_limit(1000, [&] {
    const auto result = write_file(path, std::string(100000, 'x'));
    return !result && result.error().code == Errc::io &&
                   result.error().message.find(path) != std::string::npos
               ? 0
               : 1;
  });
  CHECK(code == 0);
  CHECK(*read_file(path) == "old");
  CHECK(list_folder(folder.path) == std::vector<std::string>{"state"});
}

TEST_CASE("a ledger line that does not fit is an error") {
  const EmptyFolder folder;
  const std::string path = folder.file("ledger");
  CHECK(with_file_limit(10, [&] {
          if (!append_line(path, "12345")) return 1;
          return append_line(path, "123456789") ? 2 : 0;
        }) == 0);
  CHECK_FALSE(append_line("/dev/full", "x"));
}

TEST_CASE("a pipe that somebody has made non-blocking gets everything") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  const UniqueFd out(ends[0]);
  UniqueFd in(ends[1]);
  const std::string text(1 << 20, 'x');
  std::size_t read = 0;
  std::thread reader([&] {
    char block[4096];
    while (true) {
      const ssize_t n = ::read(out.get(), block, sizeof block);
      if (n == 0) return;
      if (n < 0) std::this_thread::sleep_for(1ms);
      read += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    }
  });
  const auto written = write_whole(in.get(), text, "a pipe");
  in.reset();
  reader.join();
  CHECK(written);
  CHECK(read == text.size());
}

TEST_CASE("lines appended from several threads stay whole") {
  const EmptyFolder folder;
  const std::string path = folder.file("ledger");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i)
        (void)append_line(path, std::string(200, static_cast<char>('a' + t)));
    });
  for (std::thread& thread : threads) thread.join();
  const auto lines = split(*read_file(path), '\n');
  REQUIRE(lines.size() == 101);
  for (std::size_t i = 0; i < 100; ++i) CHECK(lines[i] == std::string(200, lines[i][0]));
}

TEST_CASE("reading says what is wrong with a path") {
  const EmptyFolder folder;
  CHECK(read_file(folder.file("none")).error().code == Errc::not_found);
  CHECK(read_file(folder.path).error().code == Errc::invalid);
  REQUIRE(write_file(folder.file("big"), std::string(1000, 'x')));
  CHECK(read_file(folder.file("big"), 999).error().code == Errc::invalid);
  CHECK(read_file(folder.file("big"), 1000));
  CHECK(write_file(folder.file("none/x"), "").error().code == Errc::not_found);
}

TEST_CASE("folders are made with their parents, listed in order, and removed whole") {
  const EmptyFolder folder;
  REQUIRE(make_folders(folder.file("a/b/c")));
  REQUIRE(make_folders(folder.file("a/b/c")));
  REQUIRE(write_file(folder.file("z"), ""));
  REQUIRE(write_file(folder.file("b"), ""));
  CHECK(list_folder(folder.path) == std::vector<std::string>{"a", "b", "z"});
  CHECK_FALSE(make_folders(folder.file("z/x")));
  CHECK(sync_folder(folder.path));
  REQUIRE(::mkfifo((folder.path + "/pipe").c_str(), 0600) == 0);  // nobody writes to it
  CHECK(sync_folder_tree(folder.path));
  REQUIRE(remove_all(folder.file("a")));
  REQUIRE(remove_all(folder.file("a")));
  CHECK_FALSE(exists(folder.file("a")));
  CHECK(list_folder(folder.file("a")).empty());
}

TEST_CASE("paths become absolute and the program knows its own") {
  CHECK(absolute_path("/a/b") == "/a/b");
  CHECK(absolute_path("x").front() == '/');
  CHECK(exists(program_path()));
}

TEST_CASE("a program's output and exit code come back, signals as 128 + n") {
  const auto output = run({"sh", "-c", "echo out; echo err >&2; exit 7"});
  REQUIRE(output);
  CHECK(output->out == "out\n");
  CHECK(output->err == "err\n");
  CHECK(output->exit_code == 7);
  CHECK(run({"sh", "-c", "kill -9 $$"})->exit_code == 137);
  CHECK(run({"sh", "-c", "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"})->out.size() ==
        300000);
}

TEST_CASE("a program that cannot be started is an error of ours, not an exit code") {
  CHECK(run({"/no/such/program"}).error().code == Errc::not_found);
  CHECK(run({"no-such-program-at-all"}).error().code == Errc::not_found);
  CHECK_FALSE(run({"/etc/passwd"}));
  Command command;
  command.argv = {"true"};
  command.folder = "/no/such/folder";
  CHECK_FALSE(run_process(command, 5s));
}

TEST_CASE("a program that takes too long is ended with all it started") {
  const auto start = std::chrono::steady_clock::now();
  const auto output = run({"sh", "-c", "sleep 60 & echo $!; wait"}, 300ms);
  REQUIRE_FALSE(output);
  CHECK(output.error().message.find("timed out") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - start < 10s);
}

TEST_CASE("arguments and environment reach the program byte for byte") {
  Command command;
  command.argv = {"sh", "-c", "printf '%s|' \"$0\" \"$A\" \"$HOME\"", "a b\n$(x)"};
  command.env = {{"A=1 2", "PATH=/usr/bin:/bin"}};
  CHECK(run_process(command, 5s)->out == "a b\n$(x)|1 2||");
}

TEST_CASE("a child starts with no signal blocked or ignored") {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  const auto output = run({"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"});
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  REQUIRE(output);
  CHECK(output->out == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_CASE("programs are found in PATH and by path") {
  CHECK(find_program("sh"));
  CHECK(find_program("/bin/sh") == "/bin/sh");
  CHECK_FALSE(find_program("no-such-program-at-all"));
}

namespace {

// What resolve_program() says of a file with this text and mode.
Error refused(const EmptyFolder& folder, const std::string& text, mode_t mode) {
  const std::string file = folder.file("prog");
  REQUIRE(write_file(file, text, mode));
  REQUIRE(::chmod(file.c_str(), mode) == 0);
  const auto found = resolve_program(file);
  REQUIRE_FALSE(found);
  return found.error();
}

bool says(const Error& error, int code, const std::string& words) {
  CAPTURE(error.message);
  CHECK(exit_code_of_start(error) == code);
  CHECK(error.message.find(words) != std::string::npos);
  return true;
}

}  // namespace

TEST_CASE("a program that cannot be run is an error with the reason") {
  const EmptyFolder folder;
  says(refused(folder, "#!/no/such/pyhton\n", 0755), 127, "asks for `/no/such/pyhton`");
  says(refused(folder, "#!/bin/sh\r\necho\r\n", 0755), 127, "asks for `/bin/sh\r`");
  CHECK(refused(folder, "#!/bin/sh\r\necho\r\n", 0755).hint.find("DOS line endings") !=
        std::string::npos);
  says(resolve_program(folder.path).error(), 126, "is a folder");
  REQUIRE(::mkfifo((folder.path + "/pipe").c_str(), 0700) == 0);
  says(resolve_program(folder.path + "/pipe").error(), 126, "is not a regular file");
  says(resolve_program(folder.path + "/none").error(), 127, "no program `");
  REQUIRE(::symlink("/no/such/python", (folder.path + "/python").c_str()) == 0);
  says(resolve_program(folder.path + "/python").error(), 127, "is a symbolic link to a program");
  says(resolve_program("no-such-program-at-all").error(),
       127,
       "no program `no-such-program-at-all`");
  says(resolve_program("").error(), 127, "is empty");
  says(refused(folder, "#!/bin/sh\n", 0644), 126, "is not executable");
  says(refused(folder, "echo hello\n", 0755), 126, "first line does not name its interpreter");
  says(refused(folder, "\xef\xbb\xbf#!/bin/sh\n", 0755), 126, "does not name its interpreter");
  says(refused(folder, "", 0755), 126, "is empty");
  // The nodes may be other machines: what is binary is found out when it starts.
  const std::string binary = folder.path + "/binary";
  REQUIRE(write_file(binary,
                     std::string("\x7f"
                                 "ELF\2\1\1\0",
                                 8),
                     0755));
  REQUIRE(::chmod(binary.c_str(), 0755) == 0);
  CHECK(resolve_program(binary));
  Command command;
  command.argv = {binary};
  const auto started = start_process(command);
  REQUIRE_FALSE(started);
  says(started.error(), 126, "neither a program for this machine nor a script");
}

TEST_CASE("what fails in the machine is not called the program's error") {
  CHECK_FALSE(exit_code_of_start(Error{Errc::io, "no more processes", ""}));
}

}  // namespace dts
