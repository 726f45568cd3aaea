// SPDX-License-Identifier: Apache-2.0
// What a program will load, determined without starting it.
#include "core/launch/binding/openmp_runtime.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/linked_files.hpp"
#include "core/launch/rank/rank_binding.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>

namespace {

using namespace dts;
using namespace dts::launch;
using FileKind = ProgramFile::Kind;
using Words = std::vector<std::string>;

ProgramFile poll(const std::string& file) {
  return look_at_program([&](std::uint64_t offset, std::size_t size) {
    return offset < file.size() ? file.substr(offset, size) : std::string();
  });
}

// A program with one segment whose loader path is far into the file, where patchelf(1) puts it.
struct Made {
  Elf64_Ehdr header{};
  Elf64_Phdr segment{};
  std::string loader = std::string("/lib64/ld-linux-x86-64.so.2") + '\0';

  Made() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_phoff = sizeof header;
    header.e_phnum = 1;
    segment.p_type = PT_INTERP;
    segment.p_offset = 9000;
    segment.p_filesz = loader.size();
  }

  [[nodiscard]] std::string file() const {
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
    bytes.resize(9000);
    return bytes + loader;
  }
};

template <class Change>
FileKind kind_after(const Change& change) {
  Made made;
  change(made);
  return poll(made.file()).kind;
}

}  // namespace

TEST_CASE("the loader of a program is found, wherever its name is in the file") {
  const ProgramFile found = poll(Made().file());
  CHECK(found.kind == FileKind::dynamic);
  CHECK(found.loader == "/lib64/ld-linux-x86-64.so.2");
  const auto self = read_file("/proc/self/exe");
  REQUIRE(self);
  CHECK(exists(poll(*self).loader));
}

TEST_CASE("a file that is not a program with a loader is classified by kind") {
  CHECK(poll("#!/bin/sh\n").kind == FileKind::script);
  CHECK(poll("#!").kind == FileKind::script);
  for (const char* text : {"",
                           "#",
                           "\x7f",
                           "\x7f"
                           "ELF",
                           "MZ"})
    CHECK(poll(text).kind == FileKind::unfamiliar);
  CHECK(kind_after([](Made& made) { made.segment.p_type = PT_LOAD; }) == FileKind::fixed);
  CHECK(kind_after([](Made& made) { made.header.e_phnum = 0; }) == FileKind::fixed);

  using Change = void (*)(Made&);
  const Change unfamiliar[] = {
      [](Made& made) { made.header.e_ident[EI_CLASS] = ELFCLASS32; },
      [](Made& made) { made.header.e_ident[EI_DATA] = ELFDATA2MSB; },
      [](Made& made) { made.header.e_type = ET_CORE; },
      [](Made& made) { made.header.e_phoff = 1ULL << 63; },
      [](Made& made) { made.header.e_phoff = ~0ULL - 8; },
      [](Made& made) { made.segment.p_offset = ~0ULL; },
      [](Made& made) { made.segment.p_filesz = 0; },
      [](Made& made) { made.segment.p_filesz = 5; },
      [](Made& made) { made.loader = std::string("ld.so") + '\0'; },    // in the folder we are in
      [](Made& made) { made.loader = std::string("/bin/rm") + '\0'; },  // no loader
      [](Made& made) { made.loader = std::string(40, '\0'); },
  };
  for (const Change change : unfamiliar) {
    CAPTURE(&change - unfamiliar);
    CHECK(kind_after(change) == FileKind::unfamiliar);
  }
}

TEST_CASE("a program truncated anywhere is not one") {
  const std::string whole = Made().file();
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(poll(whole.substr(0, size)).kind == FileKind::unfamiliar);
}

TEST_CASE("runtimes are recognised by file name") {
  struct {
    const char* text;
    Words found;
  } const table[] = {
      {"\tlibgomp.so.1 => /lib/x/libgomp.so.1 (0x7f)\n", {"libgomp"}},
      {"\tlibiomp5.so (0x1)\n\tlibgomp.so.1 => /lib/libgomp.so.1 (0x1)\n", {"libgomp", "libiomp5"}},
      {"7f00-7f01 r-xp 0 08:01 3  /usr/lib/llvm-14/lib/libomp-14.so.5\n", {"libomp"}},
      {"/venv/torch/lib/libgomp-a34b3233.so.1", {"libgomp"}},
      {"libomp.so", {"libomp"}},
      {"\tlibompitrace.so.40 => /lib/libompitrace.so.40\n", {}},
      {"\tlibgomp-plugin-nvptx.so.1\n", {}},
      {"/opt/libomp.so/libm.so.6\n/opt/libomp-14/lib/libm.so.6\n", {}},
      {"/lib/mylibomp.so.5\n", {}},
      {"libgomp\nlibgomp.a\nlibomp", {}},
      {"\tstatically linked\n", {}},
      {"", {}},
  };

  for (const auto& row : table) {
    CAPTURE(row.text);
    CHECK(runtimes_in(row.text) == row.found);
  }
}

TEST_CASE("a program's loader is queried, the program is never started") {
  const tests::TemporaryFolder folder;
  const std::string script = folder.file("script"), broken = folder.file("broken");
  REQUIRE(write_file(script, "#!/bin/sh\ntouch " + folder.file("ran") + "\n", 0700));
  Made made;
  made.loader = folder.file("ld-absent.so") + '\0';
  made.segment.p_filesz = made.loader.size();
  REQUIRE(write_file(broken, made.file(), 0700));

  struct {
    std::string program;
    const char* why_none;
  } const table[] = {
      {script, "is a script"},
      {folder.file("absent"), "is not found"},
      {"dts-no-such-program", "is not found"},
      {folder.path, "is not found"},
      {"env", "is linked with no OpenMP runtime"},
      {broken, "could not be asked for (no program"},
  };

  for (const auto& row : table) {
    CAPTURE(row.program);
    const LinkedRuntimes found = linked_runtimes(row.program);
    CHECK(found.names.empty());
    CAPTURE(found.why_none);
    CHECK(found.why_none.find(row.why_none) == 0);
  }
  CHECK_FALSE(exists(folder.file("ran")));
}

TEST_CASE("a loader that does not answer is not waited for") {
  const tests::TemporaryFolder folder;
  Made made;
  made.loader = folder.file("ld-slow") + '\0';
  made.segment.p_filesz = made.loader.size();
  REQUIRE(write_file(folder.file("ld-slow"), "#!/bin/sh\nexec sleep 1000\n", 0700));
  REQUIRE(write_file(folder.file("program"), made.file(), 0700));
  const LinkedRuntimes found = linked_runtimes(folder.file("program"));
  CHECK(found.names.empty());
  CHECK(found.why_none.find("timed out") != std::string::npos);
}

TEST_CASE("a rank names the variables that bind threads, and respects those already set") {
  Go order;
  order.binding.cpus = {0, 1};
  const auto says = [](const RankBinding& binding) {
    return parse_bound_state(binding.bound().text)->thread_places;
  };
  const auto nothing = [](const std::string&) { return false; };
  RankBinding binding;
  CHECK(binding.place_threads(order, {"env"}, nothing).empty());
  CHECK(says(binding).empty());
  order.thread_cpus = {0, 1};
  CHECK(binding.place_threads(order, {"env"}, nothing).size() == 3);
  CHECK(says(binding) ==
        "OpenMP threads by OMP_PLACES and KMP_AFFINITY: the program is linked with no OpenMP "
        "runtime");
  const auto own = [](const std::string& name) { return name == "OMP_PROC_BIND"; };
  CHECK(binding.place_threads(order, {"env"}, own).empty());
  CHECK(says(binding) == "OpenMP threads as your own OMP_PROC_BIND says");
}
