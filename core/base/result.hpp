// SPDX-License-Identifier: Apache-2.0
// Errors are values: a Result<T> is either a T or one Error, which says what is wrong and what to
// do next.
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace dts {

// The kind of failure, which also decides the process's exit code (dtsubmit(1), EXIT STATUS).
enum class Errc {
  usage,        // 2: the command line
  invalid,      // 3: a spec, a config, a file's content, a failed check
  unreachable,  // the scheduler does not respond
  rejected,     // the scheduler refuses
  not_found,    // 6: no such job, run, file
  io,           // 74 (EX_IOERR of sysexits(3)): disk full, no permission
  timed_out,    // 74: a program was killed because it exceeded its time
  internal,     // our own bug
  interrupted,  // 130
};

struct Error {
  Errc code = Errc::internal;
  std::string message;    // one sentence, lower case, no period: what is wrong and where
  std::string hint;       // what to do next; may be empty
  bool no_space = false;  // errno was ENOSPC or EDQUOT

  // Prefixes `message` with the activity that failed, e.g. "while reading x.json: ...".
  [[nodiscard]] Error during(const std::string& what) && {
    message = what + ": " + message;
    return std::move(*this);
  }
};

[[nodiscard]] int exit_code(Errc code);

template <class T>
using Result = tl::expected<T, Error>;

// An Error that any function returning a Result can return.
[[nodiscard]] inline tl::unexpected<Error> fail(Errc code,
                                                std::string message,
                                                std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(hint)});
}

// "message: strerror(errno)" with Errc::io (or not_found for ENOENT); reads errno on entry.
[[nodiscard]] tl::unexpected<Error> fail_errno(const std::string& message, std::string hint = {});

}  // namespace dts

// DTS_TRY(expr): if the Result<void> `expr` is an error, returns it from the calling function.
// DTS_ASSIGN(decl, expr): the same, and otherwise binds the value, e.g. DTS_ASSIGN(auto text,
// read_file(path));
#define DTS_CONCAT_(a, b) a##b
#define DTS_CONCAT(a, b) DTS_CONCAT_(a, b)
#define DTS_TRY(...)                                                         \
  do {                                                                       \
    if (auto dts_result_ = (__VA_ARGS__); !dts_result_)                      \
      return ::tl::unexpected<::dts::Error>(std::move(dts_result_).error()); \
  } while (false)
#define DTS_ASSIGN_(tmp, decl, ...)                                        \
  auto tmp = (__VA_ARGS__);                                                \
  if (!tmp) return ::tl::unexpected<::dts::Error>(std::move(tmp).error()); \
  decl = std::move(tmp).value()
#define DTS_ASSIGN(decl, ...) DTS_ASSIGN_(DTS_CONCAT(dts_assign_, __LINE__), decl, __VA_ARGS__)
