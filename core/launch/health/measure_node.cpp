// SPDX-License-Identifier: Apache-2.0
#include "core/launch/health/measure_node.hpp"

#include "core/base/files/unnamed_file.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/health/nvml.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace dts::launch {
namespace {

constexpr std::chrono::milliseconds k_loopback_limit{2000};

// The errno of writing and syncing a file in `folder`; 0: both succeeded.
int try_to_write(const std::string& folder) {
  const UniqueFd file = unnamed_file(folder);
  if (!file.valid()) return errno;
  const std::array<char, 4096> block{};
  const ssize_t written = ::write(file.get(), block.data(), block.size());
  if (written != static_cast<ssize_t>(block.size())) return written < 0 ? errno : ENOSPC;
  return ::fsync(file.get()) != 0 ? errno : 0;
}

// One that programs fall back on and that has space; empty: none.
std::string another_temporary_folder(const std::string& full) {
  for (const char* folder : {"/tmp", "/var/tmp"})
    if (folder != full && try_to_write(folder) == 0) return folder;
  return {};
}

// The space available to a plain user; nullopt if the file system does not report it.
std::optional<std::uint64_t> free_bytes(const std::string& folder) {
  struct statvfs found {};

  if (::statvfs(folder.c_str(), &found) != 0 || found.f_blocks == 0) return std::nullopt;
  return std::uint64_t{found.f_bavail} * found.f_frsize;
}

// "MemAvailable:   23404 kB"
std::optional<std::uint64_t> available_memory() {
  const std::string value = proc_field("/proc/meminfo", "MemAvailable");
  const auto kib = parse_number(std::string_view(value).substr(0, value.find(' ')));
  return kib ? std::optional(*kib << 10) : std::nullopt;
}

// Tries 127.0.0.1, then ::1, since a node may lack IPv4.
int try_loopback() {
  const auto listener = listen_on(0);
  if (!listener) return errno != 0 ? errno : EIO;
  errno = 0;
  const auto connected =
      connect_to_any({"127.0.0.1", "::1"}, local_port(listener->get()), k_loopback_limit);
  return connected ? 0 : errno != 0 ? errno : ECONNREFUSED;
}

}  // namespace

NodeFacts measure_node(const std::string& folder, GpuUse use) {
  NodeFacts facts;
  facts.write_errno = try_to_write(folder);
  facts.run_free = free_bytes(folder);
  facts.memory = available_memory();
  facts.tmp = getenv_lookup("TMPDIR").value_or("");
  if (facts.tmp.empty()) facts.tmp = "/tmp";  // as programs take it
  facts.tmp_errno = try_to_write(facts.tmp);
  if (facts.tmp_errno == ENOSPC || facts.tmp_errno == EDQUOT)
    facts.other_tmp = another_temporary_folder(facts.tmp);
  facts.shm_errno = try_to_write("/dev/shm");
  facts.shm_free = free_bytes("/dev/shm");
  facts.loopback_errno = try_loopback();
  if (use == GpuUse::none) return facts;
  auto gpus = ask_nvml();
  if (gpus)
    facts.gpus = *std::move(gpus);
  else
    facts.no_nvml = gpus.error().message;
  return facts;
}

}  // namespace dts::launch
