// SPDX-License-Identifier: Apache-2.0
#include "core/stage/stage_folder.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/files/segment_folder.hpp"
#include "core/base/hash.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace dts::stage {
namespace {

constexpr std::chrono::minutes k_left_age{10};  // more than the time between two attempts of a run

std::string folder_of_user() {
  return fmt::format("dtsubmit-stage-{}", ::geteuid());
}

bool is_usable(const std::string& folder) {
  return folder.starts_with('/') && is_printable(folder) &&
         ::access(folder.c_str(), R_OK | W_OK | X_OK) == 0;
}

// Creates a folder that only we can write to.
Result<void> make_own_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno("cannot make " + path);
  return open_own_folder(path).map([](const UniqueFd&) {});
}

// A name that is safe in a path and unique to the run.
std::string name_of(const StagePlace& place) {
  const std::string last = place.run_directory.substr(place.run_directory.rfind('/') + 1);
  return fmt::format(
      "{}-{}", is_safe_name(last) ? last : "run", to_hex(hash64(place.run_directory)));
}

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

bool is_stage_path(const std::string& path) {
  const std::string parent = parent_of(parent_of(path));
  const std::string name = path.substr(path.rfind('/') + 1);
  return path.starts_with('/') && is_printable(path) && parent.ends_with("/" + folder_of_user()) &&
         name.starts_with(fmt::format("dtsubmit-{}-", ::geteuid())) && is_safe_name(name);
}

}  // namespace

Result<std::string> stage_base(const Lookup& environment) {
  if (const auto named = environment("DTSUBMIT_STAGE_BASE"); named && !named->empty()) {
    if (is_usable(*named)) return *named;
    return fail(Errc::invalid,
                fmt::format("DTSUBMIT_STAGE_BASE={} is not a writable folder", *named),
                "name one on the node's own disk by its full path");
  }
  for (const char* variable : {"SLURM_TMPDIR", "TMPDIR"})
    if (auto folder = environment(variable); folder && is_usable(*folder)) return *folder;
  return std::string("/tmp");
}

Result<StageFolder> open_stage_folder(const StagePlace& place, const Lookup& environment) {
  DTS_ASSIGN(const std::string base, stage_base(environment));
  const std::string of_user = fmt::format("{}/{}", base, folder_of_user());
  const std::string of_node =
      of_user + "/" + (is_safe_name(place.node) ? place.node : to_hex(hash64(place.node)));
  for (const std::string& folder : {of_user, of_node}) DTS_TRY(make_own_folder(folder));
  SegmentFolder joined = SegmentFolder::join(of_node, name_of(place));
  if (!joined.valid())
    return fail(Errc::io,
                "cannot make a folder in " + of_node,
                "is the disk full? DTSUBMIT_STAGE_BASE names another one");
  StageFolder folder;
  folder.path = joined.path();
  folder.lock = std::move(joined).keep();
  return folder;
}

void remove_left_stages(const std::string& path) {
  remove_left_segments(parent_of(path), k_left_age);
}

Result<void> record_stage(const std::string& file, const std::string& path) {
  return write_file(file, path + "\n", 0600, Durability::deferred);
}

Result<void> remove_staged(const std::string& file) {
  if (!exists(file)) return {};
  DTS_ASSIGN(const std::string text, read_own_file(file, 1U << 13));
  const std::string path = text.substr(0, text.find('\n'));
  if (!is_stage_path(path))
    return fail(Errc::invalid, fmt::format("{} does not name a stage folder", file));
  if (!exists(path)) return {};
  DTS_TRY(open_own_folder(path));
  DTS_TRY(remove_all(path));
  // These fail unless the last run on this node is over.
  ::rmdir(parent_of(path).c_str());
  ::rmdir(parent_of(parent_of(path)).c_str());
  return {};
}

}  // namespace dts::stage
