// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/companion.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/process_table.hpp"
#include "core/cluster/layout/record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace dts::cluster {

Result<void> end_with_process(const std::string& folder, pid_t process) {
  const UniqueFd silent(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Command command;
  command.argv = {program_path(),
                  "cluster",
                  "down",
                  "--folder",
                  folder,
                  "--with-process",
                  std::to_string(process)};
  command.folder = "/";
  // Whoever reads our own output waits until all its writers have ended.
  command.stdout_fd = command.stderr_fd = silent.get();
  command.in_child = [] { return ::setsid() < 0 ? 1 : 0; };
  return start_process(command).map([](pid_t) {});
}

bool outlives_process(const std::string& folder, pid_t process) {
  const auto watched = process_info(process);
  // Another cluster may be started in this folder; it has a record of its own.
  const UniqueFd record(::open(record_path(folder).c_str(), O_RDONLY | O_CLOEXEC));
  while (true) {
    struct stat info {};

    if (::fstat(record.get(), &info) != 0 || info.st_nlink == 0) return false;
    const auto now = process_info(process);
    if (!watched || !now || now->started != watched->started) return true;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace dts::cluster
