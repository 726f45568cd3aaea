// SPDX-License-Identifier: Apache-2.0
// The shared libraries that a program is linked with: what its dynamic loader reports, without
// running it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace dts {

// `size` bytes of a file from `offset`, or fewer at its end.
using ReadAt = std::function<std::string(std::uint64_t offset, std::size_t size)>;

struct ProgramFile {
  enum class Kind {
    dynamic,     // has a loader
    fixed,       // an ELF file of this machine's kind without one
    script,      // begins with #!
    unfamiliar,  // anything else: another machine's program, damage
  };

  Kind kind = Kind::unfamiliar;
  std::string loader;  // PT_INTERP (elf(5)), an absolute path; only if `dynamic`
};

// Pure. Accepts any bytes.
[[nodiscard]] ProgramFile look_at_program(const ReadAt& read);

struct LinkedFiles {
  std::string list;  // a line for each: "libm.so.6 => /usr/lib/libm.so.6 (0x7f...)"
  // "is a script"; empty if there is a list. The loader's words if it could not be asked, for
  // example because a library is missing: they name it.
  std::string why_none;
};

// `without`: LD_PRELOAD is not looked at.
enum class Preload { without, with };

// The libraries of the program that argv[0] = `program` names. Starts the dynamic loader, for 5 s
// at most. Thread-safe.
[[nodiscard]] LinkedFiles linked_files(const std::string& program, Preload preload);

}  // namespace dts
