// SPDX-License-Identifier: Apache-2.0
// The shared libraries that a program is linked with, according to its dynamic loader. The program
// is not run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace dts {

// Returns `size` bytes of a file from `offset` on, or fewer at its end.
using ReadAt = std::function<std::string(std::uint64_t offset, std::size_t size)>;

struct ProgramFile {
  enum class Kind {
    dynamic,     // has a loader
    fixed,       // an ELF file for this kind of machine, without a loader
    script,      // begins with #!
    unfamiliar,  // anything else: a program for another machine, damage
  };

  Kind kind = Kind::unfamiliar;
  std::string loader;  // PT_INTERP (elf(5)), an absolute path; only if `dynamic`
};

// Pure. Accepts any bytes.
[[nodiscard]] ProgramFile look_at_program(const ReadAt& read);

struct LinkedFiles {
  std::string list;  // one line per library: "libm.so.6 => /usr/lib/libm.so.6 (0x7f...)"
  // "is a script"; empty if there is a list. If the loader reported an error, for example because a
  // library is missing, the loader's words, which name the library.
  std::string why_none;
};

// `without`: LD_PRELOAD is ignored.
enum class Preload { without, with };

// The libraries of the program that `program`, as argv[0], names. Runs the dynamic loader for at
// most 5 s. Thread-safe.
[[nodiscard]] LinkedFiles linked_files(const std::string& program, Preload preload);

}  // namespace dts
