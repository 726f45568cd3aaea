// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/xml_file.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/text/text.hpp"
#include "core/topo/error_text.hpp"
#include "core/topo/hwloc/hwloc3.hpp"
#include "core/topo/json.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace dts::topo {
namespace {

constexpr unsigned k_seconds = 10;
constexpr std::uint64_t k_latest = 3;            // major version of hwloc that is read
constexpr std::size_t k_most_complaints = 4096;  // bytes
constexpr std::size_t k_longest_reason = 160;

// Exit statuses of the child.
enum Ending { done = 0, failed = 1, speechless = 2 };

// A file in memory of a fixed size: a write that does not fit is lost.
UniqueFd make_complaints() {
  UniqueFd file(::memfd_create("complaints", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.valid() && (::ftruncate(file.get(), k_most_complaints) != 0 ||
                       ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW) != 0))
    file.reset();
  return file;
}

// Runs in the child; never returns.
[[noreturn]] void answer_with(const ReadTopology& read, int answer) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  // The caller's signal handlers must not run in this process.
  for (const int number : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    ::signal(number, SIG_DFL);
  ::alarm(k_seconds);
  const UniqueFd complaints = make_complaints();
  ::dup2(complaints.valid() ? complaints.get() : ::open("/dev/null", O_WRONLY), 2);
  ::setenv("HWLOC_XML_VERBOSE", "1", 1);
  const auto node = read(complaints.get());
  const bool told =
      write_whole(answer, node ? to_json(*node) : to_text(node.error()), "").has_value();
  ::_exit(!told ? speechless : node ? done : failed);
}

tl::unexpected<Error> error_of(int status, const std::string& name) {
  if (WIFEXITED(status)) return fail(Errc::io, "out of memory while reading " + name);
  if (WTERMSIG(status) == SIGALRM)
    return fail(Errc::invalid,
                fmt::format("hwloc does not finish reading {} in {} s", name, k_seconds),
                k_write_again);
  return fail(
      Errc::invalid,
      fmt::format("hwloc crashes while it reads {}: {}", name, ::strsignal(WTERMSIG(status))),
      k_write_again);
}

// libxml2's first complaint, ":7: parser error : REASON", as "7: REASON"; empty if there is none.
std::string syntax_error(const std::vector<std::string>& lines) {
  constexpr std::string_view k_error = ": parser error : ";
  for (const std::string& line : lines) {
    const std::size_t end = line.find(k_error);
    if (end == std::string::npos) continue;
    const std::size_t before = line.find_last_not_of("0123456789", end - 1);
    const std::size_t first = before == std::string::npos ? 0 : before + 1;
    return line.substr(first, end - first) + ": " + line.substr(end + k_error.size());
  }
  return {};
}

// hwloc's own first complaint about the contents that gives a reason; empty if there is none.
std::string reason_of(const std::vector<std::string>& lines) {
  constexpr std::string_view k_prefix = "xmlbuffer: ";
  constexpr std::array k_without_reason{"Loading XML topology without DTD",
                                        "XML component discovery failed",
                                        "ignoring object of class"};
  for (const std::string& line : lines)
    if (line.starts_with(k_prefix) &&
        std::none_of(k_without_reason.begin(), k_without_reason.end(), [&](auto words) {
          return line.find(words) != std::string::npos;
        }))
      return line.substr(k_prefix.size());
  return {};
}

// `text` if it may be shown to users.
std::string shown(const std::string& text) {
  const std::string words(trim(text));
  return is_printable(words) ? words.substr(0, k_longest_reason) : std::string();
}

}  // namespace

tl::unexpected<Error> not_a_topology(const std::string& name, const std::string& complaints) {
  const std::vector<std::string> lines = split(complaints, '\n');
  if (const std::string syntax = shown(syntax_error(lines)); !syntax.empty())
    return fail(Errc::invalid, fmt::format("{}:{}", name, syntax), k_write_again);
  const std::string reason = shown(reason_of(lines));
  return fail(
      Errc::invalid,
      fmt::format("{} is not an hwloc topology{}", name, reason.empty() ? "" : ": " + reason),
      "write one with `lstopo --of xml FILE`");
}

std::string complaints_in(int file) {
  std::string text(k_most_complaints, '\0');
  const ssize_t count = file < 0 ? -1 : ::pread(file, text.data(), text.size(), 0);
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return text.substr(0, text.find('\0'));
}

Result<std::string> readable_xml(std::string text, const std::string& name) {
  if (trim(text).empty()) return fail(Errc::invalid, name + " is empty", k_write_again);
  const std::string_view version = version_of(text);
  const auto major = parse_number(version.substr(0, version.find('.'))).value_or(0);
  if (major > k_latest)
    return fail(Errc::invalid,
                fmt::format("{} was written by hwloc {}; this program reads versions up to {}",
                            name,
                            version,
                            k_latest),
                "write it with `lstopo --of xml --export-xml-flags v2 FILE`");
  if (text.find("<topology") != std::string::npos && text.find("</topology>") == std::string::npos)
    return fail(Errc::invalid, name + " ends early: was it copied completely?", k_write_again);
  return major == 3 ? as_version_2(text) : std::move(text);
}

Result<NodeTopology> in_child(const ReadTopology& read, const std::string& name) {
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
