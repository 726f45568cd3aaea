// SPDX-License-Identifier: Apache-2.0
#include "core/base/os/linked_files.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/text.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace dts {
namespace {

constexpr std::chrono::seconds k_loader_limit{5};
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

std::vector<std::string> without_preload() {
  std::vector<std::string> environment = environment_entries();
  std::erase_if(environment, [](const std::string& entry) { return entry.starts_with(k_preload); });
  return environment;
}

LinkedFiles none(std::string why) {
  return {{}, std::move(why)};
}

LinkedFiles ask(const std::string& loader, const std::string& path, Preload preload) {
  Command list;
  list.argv = {loader, "--list", path};  // ld.so(8): does not run it
  if (preload == Preload::without) list.env = without_preload();
  auto told = run_process(std::move(list), k_loader_limit);
  if (told && told->exit_code == 0) return {std::move(told->out), {}};
  return none(fmt::format("could not be asked for ({})",
                          told ? std::string(trim(told->err)) : told.error().message));
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

LinkedFiles linked_files(const std::string& program, Preload preload) {
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
      return none("is not a program for this kind of machine");
    case ProgramFile::Kind::dynamic:
      break;
  }
  return ask(found.loader, *path, preload);
}

}  // namespace dts
