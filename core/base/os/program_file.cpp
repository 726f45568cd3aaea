// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/program_file.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/text/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace dts {
namespace {

// The part of a file that the kernel reads to determine what kind of program it is.
std::string beginning_of(const std::string& file) {
  constexpr std::size_t k_longest = 256;  // BINPRM_BUF_SIZE
  const UniqueFd program(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string bytes(k_longest, '\0');
  const ssize_t n = program.valid() ? ::read(program.get(), bytes.data(), bytes.size()) : 0;
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(0, n)));
  return bytes;
}

// The program that the first line of a script names (execve(2)); empty if there is none.
std::string interpreter_of(const std::string& beginning) {
  if (!beginning.starts_with("#!")) return {};
  // As in the kernel, a carriage return is part of the name.
  std::string_view words = std::string_view(beginning).substr(2, beginning.find('\n') - 2);
  words.remove_prefix(std::min(words.find_first_not_of(" \t"), words.size()));
  return std::string(words.substr(0, words.find_first_of(" \t")));
}

// Shells run such a file themselves when execve(2) has refused it. Binary formats are left to the
// kernel: the nodes may know others (binfmt_misc) or be other machines.
bool is_script_without_interpreter(const std::string& beginning) {
  return !beginning.empty() && !beginning.starts_with("#!") &&
         std::none_of(beginning.begin(), beginning.end(), [](unsigned char c) { return c < '\t'; });
}

// `file`, or why execve(2) would refuse it.
Result<std::string> runnable(const std::string& file) {
  struct stat found {};

  if (::stat(file.c_str(), &found) != 0) {
    const bool is_missing = errno == ENOENT || errno == ENOTDIR;
    if (is_missing && ::lstat(file.c_str(), &found) == 0)  // as the Python of an environment
      return fail(Errc::not_found,
                  "`" + file + "` is a symbolic link to a program that does not exist",
                  "`readlink -m " + shell_quote(file) + "` shows which");
    if (is_missing) return fail(Errc::not_found, "no program `" + file + "`", "is the path right?");
    return fail(Errc::invalid, "cannot look at `" + file + "`: " + std::strerror(errno));
  }
  if (S_ISDIR(found.st_mode))
    return fail(Errc::invalid, "`" + file + "` is a folder, not a program");
  if (::access(file.c_str(), X_OK) != 0)
    return fail(Errc::invalid,
                "`" + file + "` is not executable",
                "chmod +x it, or name what runs it: python3 " + file);
  if (!S_ISREG(found.st_mode))
    return fail(Errc::invalid, "`" + file + "` is not a regular file, so not a program");
  if (found.st_size == 0) return fail(Errc::invalid, "`" + file + "` is empty");
  const std::string beginning = beginning_of(file);
  if (is_script_without_interpreter(beginning))
    return fail(Errc::invalid,
                "`" + file + "` is a script whose first line does not name its interpreter",
                "begin it with #!/bin/bash, or name what runs it: bash " + file);
  const std::string interpreter = interpreter_of(beginning);
  if (!interpreter.empty() && ::access(interpreter.c_str(), F_OK) != 0)
    return fail(
        Errc::not_found,
        "`" + file + "` asks for `" + interpreter + "` in its first line, which does not exist",
        interpreter.ends_with('\r') ? "it has DOS line endings: sed -i 's/\\r$//' " + file
                                    : "fix that line");
  return file;
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  auto found = resolve_program(name);
  return found ? std::optional(*std::move(found)) : std::nullopt;
}

Result<std::string> resolve_program(const std::string& name) {
  if (name.empty()) return fail(Errc::not_found, "the name of the program is empty");
  if (name.find('/') != std::string::npos) return runnable(name);
  const char* path = std::getenv("PATH");
  std::optional<Error> first;  // for a file that cannot be run; like execvp(3), the search goes on
  for (const std::string& folder : split(path != nullptr ? path : "/usr/bin:/bin", ':')) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;

    struct stat found {};

    if (::stat(file.c_str(), &found) != 0 || S_ISDIR(found.st_mode)) continue;
    auto usable = runnable(file);
    if (usable) return usable;
    if (!first) first = std::move(usable).error();
  }
  if (first) return tl::unexpected<Error>(*std::move(first));
  return fail(Errc::not_found, "no program `" + name + "`", "is it installed and in PATH?");
}

std::optional<int> exit_code_of_start(const Error& error) {
  if (error.code == Errc::not_found) return 127;
  if (error.code == Errc::invalid) return 126;
  return std::nullopt;
}

}  // namespace dts
