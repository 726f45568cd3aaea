// SPDX-License-Identifier: Apache-2.0
// Which OpenMP runtimes a program is linked with: what its dynamic loader reports, without running
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

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

// The members of plan::k_openmp_runtimes, in its order, whose files are named in `text`: the output
// of `ld.so --list`, or /proc/PID/maps. Python wheels add a suffix to such a name
// ("libgomp-a34b3233.so.1"). Pure.
[[nodiscard]] std::vector<std::string> runtimes_in(std::string_view text);

struct LinkedRuntimes {
  std::vector<std::string> names;  // from plan::k_openmp_runtimes
  std::string why_none;            // "is a script"; empty if there are some
};

// The runtimes of the program that argv[0] = `program` names. Those that LD_PRELOAD adds count only
// if the program itself is linked with one; otherwise it may still load others. Starts the dynamic
// loader, for 5 s at most. Thread-safe.
[[nodiscard]] LinkedRuntimes linked_runtimes(const std::string& program);

}  // namespace dts::launch
