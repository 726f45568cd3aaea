// SPDX-License-Identifier: Apache-2.0
#include "core/launch/binding/openmp_runtime.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/thread_places.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

namespace dts::launch {
namespace {

constexpr std::chrono::seconds k_limit{5};
constexpr std::size_t k_longest_path = 4096;
constexpr unsigned char k_our_bytes =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
constexpr const char* k_preload = "LD_PRELOAD=";

template <class Record>
std::optional<Record> record_at(const ReadAt& read, std::uint64_t offset) {
  const std::string bytes = read(offset, sizeof(Record));
  if (bytes.size() < sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

bool is_ours(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == k_our_bytes &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

// A loader can be asked for a list; what any other interpreter would do with the option is unknown.
bool is_loader(const std::string& path) {
  return path.front() == '/' && path.substr(path.rfind('/') + 1).starts_with("ld");
}

std::string real_path(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  return failed ? path : real.string();
}

// "libgomp.so.1 => /opt/env/lib/libgomp.so.1 (0x7f...)": in a conda environment, that name may be a
// link to LLVM's runtime.
std::string behind_links(const std::string& list) {
  std::string text;
  for (const std::string& line : split(list, '\n')) {
    if (runtimes_in(line).empty()) continue;
    const std::size_t path = line.find('/');
    text += path == std::string::npos ? line
                                      : real_path(line.substr(path, line.find(" (", path) - path));
    text += '\n';
  }
  return text;
}

std::vector<std::string> without_preload() {
  std::vector<std::string> environment = environment_with({});
  std::erase_if(environment, [](const std::string& entry) { return entry.starts_with(k_preload); });
  return environment;
}

Result<std::vector<std::string>> ask(const std::string& loader,
                                     const std::string& path,
                                     std::optional<std::vector<std::string>> environment) {
  Command list;
  list.argv = {loader, "--list", path};  // ld.so(8): does not run it
  list.env = std::move(environment);
  DTS_ASSIGN(const Output told, run_process(std::move(list), k_limit));
  if (told.exit_code != 0) return fail(Errc::io, std::string(trim(told.err)));
  return runtimes_in(behind_links(told.out));
}

LinkedRuntimes none(std::string why) {
  return {{}, std::move(why)};
}

}  // namespace

ProgramFile look_at_program(const ReadAt& read) {
  using Kind = ProgramFile::Kind;
  if (read(0, 2) == "#!") return {Kind::script, {}};
  const auto header = record_at<Elf64_Ehdr>(read, 0);
  if (!header || !is_ours(*header)) return {};
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto part = record_at<Elf64_Phdr>(read, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!part) return {};
    if (part->p_type != PT_INTERP) continue;
    const std::string text =
        read(part->p_offset, std::min<std::uint64_t>(part->p_filesz, k_longest_path));
    std::string path = text.substr(0, text.find('\0'));
    if (path.empty() || path.size() == text.size() || !is_loader(path)) return {};
    return {Kind::dynamic, std::move(path)};
  }
  return {Kind::fixed, {}};
}

std::vector<std::string> runtimes_in(std::string_view text) {
  constexpr std::string_view k_ends = "/ \t\n";
  std::vector<std::string> found;
  for (const std::string_view runtime : plan::k_openmp_runtimes)
    for (auto at = text.find(runtime); at != text.npos; at = text.find(runtime, at + 1)) {
      const std::string_view name = text.substr(at, text.find_first_of(k_ends, at) - at);
      const bool whole = at == 0 || k_ends.find(text[at - 1]) != k_ends.npos;
      const bool folder = at + name.size() < text.size() && text[at + name.size()] == '/';
      const std::string_view rest = name.substr(runtime.size());
      if (!whole || folder || rest.find(".so") == rest.npos || (rest[0] != '.' && rest[0] != '-'))
        continue;
      if (rest.starts_with("-plugin")) continue;  // for accelerators; libgomp is listed by itself
      found.emplace_back(runtime);
      break;
    }
  return found;
}

LinkedRuntimes linked_runtimes(const std::string& program) {
  const auto path = find_program(program);
  if (!path) return none("is not found");
  const UniqueFd file(::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return none("cannot be read");
  const ProgramFile found = look_at_program([&](std::uint64_t offset, std::size_t size) {
    std::string bytes(size, '\0');
    const ssize_t got = ::pread(file.get(), bytes.data(), size, static_cast<off_t>(offset));
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  });
  switch (found.kind) {
    case ProgramFile::Kind::script:
      return none("is a script");
    case ProgramFile::Kind::fixed:
      return none("is a static program");
    case ProgramFile::Kind::unfamiliar:
      return none("is no program of this kind of machine");
    case ProgramFile::Kind::dynamic:
      break;
  }
  auto linked = ask(found.loader, *path, without_preload());
  if (linked && linked->empty()) return none("is linked with no OpenMP runtime");
  if (linked && std::getenv("LD_PRELOAD") != nullptr)
    linked = ask(found.loader, *path, std::nullopt);
  if (!linked) return none("could not be asked for (" + linked.error().message + ")");
  return {*std::move(linked), {}};
}

}  // namespace dts::launch
