// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/program_mpi.hpp"

#include "core/base/os/linked_files.hpp"
#include "core/plan/program/inner_program.hpp"

#include <array>
#include <utility>

namespace dts::launch {
namespace {

constexpr std::string_view k_run_time_layer = "libopen-rte.so";

// Prefixes of file names, the most reliable first.
constexpr std::array<std::pair<std::string_view, Mpi>, 11> k_libraries{
    {{"libmpi.so.20", Mpi::open_mpi},
     {"libmpi.so.40", Mpi::open_mpi},
     {"libmpi_ibm.so", Mpi::open_mpi},
     {"libopen-pal.so", Mpi::open_mpi},
     {k_run_time_layer, Mpi::open_mpi},
     {"libopen_mpi.so", Mpi::open_mpi},  // of release 6, below the ABI common to all MPIs
     {"libmpich.so", Mpi::mpich},
     {"libmpi_cray.so", Mpi::mpich},
     {"libmpi_gnu", Mpi::mpich},
     {"libmpi_intel.so", Mpi::mpich},
     {"libmpi.so.12", Mpi::mpich}}};

// The file name in `text` that begins with `beginning`; empty if there is none.
std::string_view file_with(std::string_view text, std::string_view beginning) {
  constexpr std::string_view k_ends = "/ \t\n:";
  for (auto at = text.find(beginning); at != text.npos; at = text.find(beginning, at + 1)) {
    const std::string_view name = text.substr(at, text.find_first_of(k_ends, at) - at);
    const bool is_whole = at == 0 || k_ends.find(text[at - 1]) != k_ends.npos;
    // libmpi.so.4 must not match libmpi.so.40.
    const bool ends_here = name.size() == beginning.size() || name[beginning.size()] == '.' ||
                           beginning.find(".so") == beginning.npos;
    const bool is_folder = at + name.size() < text.size() && text[at + name.size()] == '/';
    if (is_whole && ends_here && !is_folder) return name;
  }
  return {};
}

std::string program_in(plan::CommandWords words) {
  while (!words.empty()) {
    const auto wrapper = plan::known_wrapper(plan::file_name_of(words[0]), words);
    if (!wrapper || wrapper->is_module || wrapper->at == 0 || wrapper->at >= words.size())
      return words[0];
    words = plan::without_assignments(words.subspan(wrapper->at));
  }
  return {};
}

}  // namespace

const char* to_string(Mpi mpi) {
  return mpi == Mpi::mpich ? "MPICH" : mpi == Mpi::open_mpi ? "Open MPI" : "unknown";
}

ProgramMpi mpi_in(std::string_view text) {
  for (const auto& [beginning, mpi] : k_libraries) {
    const std::string_view library = file_with(text, beginning);
    if (library.empty()) continue;
    const bool is_mpich = mpi == Mpi::mpich;
    return {mpi,
            std::string(library),
            !is_mpich || !file_with(text, "libpmix.so").empty(),
            is_mpich || !file_with(text, k_run_time_layer).empty()};
  }
  return {};
}

ProgramMpi mpi_of(const std::vector<std::string>& command) {
  const std::string program = program_in(command);
  if (program.empty()) return {};
  const LinkedFiles linked = linked_files(program, Preload::without);
  return mpi_in(linked.why_none.empty() ? linked.list : linked.why_none);
}

}  // namespace dts::launch
