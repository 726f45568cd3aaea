// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/xml_file.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/text/text.hpp"
#include "core/topo/error_text.hpp"
#include "core/topo/json.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

namespace dts::topo {
namespace {

constexpr unsigned k_seconds = 10;
constexpr std::uint64_t k_hwloc_read = HWLOC_API_VERSION >> 16;  // its major version
constexpr const char* k_again = "write it again with `lstopo --of xml FILE`";

// Exit statuses of the child.
enum Ending { done = 0, failed = 1, speechless = 2 };

// The version in `<topology version="3.0">`; empty if there is none (hwloc 1).
std::string version_of(const std::string& text) {
  const std::size_t tag = text.find("<topology");
  if (tag == std::string::npos) return {};
  const std::string words = text.substr(tag, text.find('>', tag) - tag);
  constexpr std::string_view k_version = " version=\"";
  const std::size_t at = words.find(k_version);
  if (at == std::string::npos) return {};
  const std::size_t first = at + k_version.size();
  return words.substr(first, words.find_first_not_of("0123456789.", first) - first);
}

// Runs in the child; never returns.
[[noreturn]] void answer_with(const std::function<Result<NodeTopology>()>& read, int answer) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  // The caller's signal handlers must not run in this process.
  for (const int number : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::signal(number, SIG_DFL);
  ::alarm(k_seconds);
  const int null = ::open("/dev/null", O_WRONLY);
  ::dup2(null, 2);
  const auto node = read();
  const bool told =
      write_whole(answer, node ? to_json(*node) : to_text(node.error()), "").has_value();
  ::_exit(!told ? speechless : node ? done : failed);
}

tl::unexpected<Error> error_of(int status, const std::string& name) {
  if (WIFEXITED(status)) return fail(Errc::io, "out of memory while reading " + name);
  if (WTERMSIG(status) == SIGALRM)
    return fail(Errc::invalid,
                fmt::format("hwloc does not finish reading {} in {} s", name, k_seconds),
                k_again);
  return fail(
      Errc::invalid,
      fmt::format("hwloc crashes while it reads {}: {}", name, ::strsignal(WTERMSIG(status))),
      k_again);
}

}  // namespace

tl::unexpected<Error> not_a_topology(const std::string& name) {
  return fail(
      Errc::invalid, name + " is not an hwloc topology", "write one with `lstopo --of xml FILE`");
}

Result<void> check_xml(const std::string& text, const std::string& name) {
  if (trim(text).empty()) return fail(Errc::invalid, name + " is empty", k_again);
  if (const std::string version = version_of(text);
      parse_number(version.substr(0, version.find('.'))).value_or(0) > k_hwloc_read)
    return fail(Errc::invalid,
                fmt::format("{} was written by hwloc {}; this program reads versions up to {}",
                            name,
                            version,
                            k_hwloc_read),
                "write it with `lstopo --of xml --export-xml-flags v2 FILE`");
  if (text.find("<topology") != std::string::npos && text.find("</topology>") == std::string::npos)
    return fail(Errc::invalid, name + " ends early: was it copied completely?", k_again);
  return {};
}

Result<NodeTopology> in_child(const std::function<Result<NodeTopology>()>& read,
                              const std::string& name) {
  const UniqueFd answer(::memfd_create("topology", MFD_CLOEXEC));
  if (!answer.valid()) return fail_errno("cannot make a memory file");
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("cannot start a process to read " + name);
  if (pid == 0) answer_with(read, answer.get());
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const bool answered =
      WIFEXITED(status) && (WEXITSTATUS(status) == done || WEXITSTATUS(status) == failed);
  if (!answered) return error_of(status, name);
  DTS_ASSIGN(const std::string text, read_file(fmt::format("/proc/self/fd/{}", answer.get())));
  if (WEXITSTATUS(status) == done) return from_json(text);
  return tl::unexpected(error_from(Errc::invalid, text));
}

}  // namespace dts::topo
