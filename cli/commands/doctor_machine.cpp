// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/doctor_machine.hpp"

#include "core/base/os/limits.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/launcher/launcher.hpp"

#include <dlfcn.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace dts::cli {
namespace {

// The type of a file system that other machines cannot see; empty for any other.
std::string local_type_of(std::string folder) {
  struct statfs found {};

  while (::statfs(folder.c_str(), &found) != 0) {
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos || folder == "/") return {};
    folder.erase(std::max<std::size_t>(slash, 1));
  }
  for (const auto& [magic, name] : {std::pair<long, const char*>{TMPFS_MAGIC, "tmpfs"},
                                    {EXT4_SUPER_MAGIC, "ext4"},
                                    {XFS_SUPER_MAGIC, "xfs"},
                                    {BTRFS_SUPER_MAGIC, "btrfs"},
                                    {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
                                    {RAMFS_MAGIC, "ramfs"}})
    if (static_cast<long>(found.f_type) == magic) return name;
  return {};
}

// The lines of `ompi_info --parsable` that begin with `beginning`, with this prefix removed.
std::vector<std::string> lines_with(const std::string& said, std::string_view beginning) {
  std::vector<std::string> rests;
  for (const std::string& line : split(said, '\n'))
    if (line.starts_with(beginning)) rests.push_back(line.substr(beginning.size()));
  return rests;
}

std::string ask_ompi_info(std::vector<std::string> words) {
  if (!find_program("ompi_info")) return {};
  Command ask;
  ask.argv = {"ompi_info", "--parsable"};
  ask.argv.insert(ask.argv.end(), words.begin(), words.end());
  const auto said = run_process(std::move(ask), launch::k_question_limit);
  return said && said->exit_code == 0 ? said->out : "";
}

// Reads "OpenPMIx 4.2.2 (PMIx Standard: 4.2, ...)" from the library, since not every system has a
// program of it.
std::string release_of_pmix(const std::string& path) {
  const std::unique_ptr<void, int (*)(void*)> library(
      ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL), ::dlclose);
  if (library == nullptr) return {};
  using GetVersion = const char* (*)();
  const auto version = reinterpret_cast<GetVersion>(::dlsym(library.get(), "PMIx_Get_version"));
  if (version == nullptr) return {};
  const auto words = split(version(), ' ');
  return words.size() > 1 ? words[1].substr(0, words[1].find(',')) : "";
}

// If Open MPI has its own PMIx beside its libraries, it uses that one.
doctor::OpenMpi look_at_open_mpi() {
  doctor::OpenMpi found;
  const std::string said = ask_ompi_info({});
  for (const std::string& line : lines_with(said, "ompi:version:full:")) found.release = line;
  for (const std::string& line : lines_with(said, "mca:pmix:"))
    if (const std::string name = line.substr(0, line.find(':'));
        std::find(found.pmix.begin(), found.pmix.end(), name) == found.pmix.end())
      found.pmix.push_back(name);
  const auto folder = lines_with(ask_ompi_info({"--path", "libdir"}), "path:libdir:");
  for (const std::string& path :
       {folder.empty() ? "" : folder.front() + "/libpmix.so.2", std::string("libpmix.so.2")})
    if (!path.empty() && found.pmix_release.empty()) found.pmix_release = release_of_pmix(path);
  return found;
}

}  // namespace

doctor::Machine inspect_machine(const std::string& runs) {
  doctor::Machine machine;
  const auto mpirun = launch::type_of(spec::Launcher::mpirun).ask();
  if (mpirun) machine.mpirun = trim(split(*mpirun, '\n').front());
  machine.open_mpi = look_at_open_mpi();
  machine.srun_mpi = launch::type_of(spec::Launcher::srun).ask().value_or("");
  machine.runs = runs;
  machine.local_type = local_type_of(runs);
  machine.memlock = soft_limit(RLIMIT_MEMLOCK);
  return machine;
}

}  // namespace dts::cli
