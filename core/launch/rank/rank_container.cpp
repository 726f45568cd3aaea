// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/rank_container.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/mount_point.hpp"
#include "core/base/hash.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/binding/binding.hpp"
#include "core/run/directory/run_directory.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace dts::launch {

bool has_variable(const plan::Environment& variables, std::string_view name) {
  return std::any_of(
      variables.begin(), variables.end(), [name](const auto& one) { return one.first == name; });
}

namespace {

constexpr std::chrono::seconds k_removal{20};

bool is_installed(spec::ContainerRuntime runtime) {
  return find_program(type_of(runtime).program).has_value();
}

Result<Image> find_image(const std::string& text) {
  std::error_code failed;
  const bool is_folder = std::filesystem::is_directory(text, failed);
  if (text.starts_with('/') && !exists(text))
    return fail(Errc::not_found,
                fmt::format("no image {} on this node", text),
                "is it on a file system that all nodes share?");
  return read_image(text, is_folder);
}

bool is_below(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

// The user's mounts, and each of `places` mounted at its own path unless a mount already puts it
// there. Parents precede their subfolders.
Result<std::vector<spec::ContainerMount>> all_mounts(const spec::Container& container,
                                                     const std::vector<std::string>& places) {
  std::vector<spec::ContainerMount> mounts = container.mounts;
  for (const spec::ContainerMount& mount : mounts)
    if (!exists(mount.source))
      return fail(Errc::not_found,
                  fmt::format("no {} on this node, which --mount names", mount.source),
                  "is the path right?");
  for (const std::string& place : places) {
    if (place == "/") continue;
    if (const auto good = spec::check_mountable(place); !good)
      return fail(Errc::invalid,
                  "cannot be mounted in the container: " + good.error().message,
                  good.error().hint);
    const bool is_there =
        std::any_of(mounts.begin(), mounts.end(), [&place](const spec::ContainerMount& one) {
          return one.target == place ||
                 (one.source == one.target && !one.read_only && is_below(place, one.target));
        });
    if (!is_there) mounts.push_back({place, place, false});
  }
  std::stable_sort(mounts.begin(), mounts.end(), [](const auto& a, const auto& b) {
    return a.target < b.target;
  });
  return mounts;
}

GpuVendor vendor_of_gpus() {
  if (exists("/dev/nvidiactl")) return GpuVendor::nvidia;
  return exists("/dev/kfd") ? GpuVendor::amd : GpuVendor::none;
}

// The GPUs of the job by the machine's numbers, if the job's control group renumbers them. Empty if
// the numbers are the same, or not known.
std::vector<unsigned> renumbered_gpus() {
  constexpr unsigned k_most_gpus = 1023;
  const auto visible = getenv_lookup("CUDA_VISIBLE_DEVICES");
  if (!visible) return {};
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    auto numbers = parse_number_list(getenv_lookup(name).value_or(""), k_most_gpus);
    if (!numbers || numbers->empty()) continue;
    if (parse_number_list(*visible, k_most_gpus) == numbers) return {};
    return *std::move(numbers);
  }
  return {};
}

std::vector<std::string> inherited_names(const plan::Environment& variables) {
  std::vector<std::string> names;
  for (const std::string& entry : environment_entries()) {
    std::string name(variable_name(entry));
    if (is_inherited_inside(name) && !has_variable(variables, name))
      names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// ch-run(1) needs USER, which batch jobs of some sites do not have.
void add_user(plan::Environment& variables) {
  if (getenv_lookup("USER")) return;
  const passwd* user = ::getpwuid(::geteuid());
  variables.emplace_back("USER", user != nullptr ? user->pw_name : std::to_string(::geteuid()));
}

Result<void> make_mount_points(const ContainerOrder& order) {
  for (const spec::ContainerMount& mount : order.mounts) {
    std::error_code failed;
    const bool is_folder = std::filesystem::is_directory(mount.source, failed);
    if (is_below(mount.target, "/dev") || is_below(mount.target, "/tmp")) continue;  // the node's
    DTS_TRY(make_mount_point(order.image.name, mount.target, is_folder));
  }
  return {};
}

}  // namespace

plan::Environment own_variables(const spec::Container& container) {
  plan::Environment variables;
  for (const spec::ContainerVariable& variable : container.variables) {
    const auto value = variable.value ? variable.value : getenv_lookup(variable.name.c_str());
    if (value)
      variables.emplace_back(variable.name, *value);
    else
      log("--container-env {}: not set in the job's environment", variable.name);
  }
  return variables;
}

std::string RankContainer::shared_folder(const std::string& segments) const {
  return segments.empty() ? run::RunDirectory{place_.run_directory}.attempt(place_.attempt)
                          : segments;
}

std::string RankContainer::page_file(const std::string& segments) const {
  return fmt::format("{}/beat-{}", shared_folder(segments), place_.rank);
}

Result<ContainerOrder> RankContainer::order_for(const spec::Container& container,
                                                const std::string& segments) const {
  const std::string shared = shared_folder(segments);
  ContainerOrder order;
  DTS_ASSIGN(order.image, find_image(container.image));
  std::error_code failed;
  order.folder = std::filesystem::current_path(failed).string();
  std::vector<std::string> places{order.folder, place_.run_directory, shared};
  // The node's set-up has created it by now.
  if (const auto staged = getenv_lookup("DTSUBMIT_STAGE_DIR"); staged && exists(*staged))
    places.push_back(*staged);
  DTS_ASSIGN(order.mounts, all_mounts(container, places));
  if (exists("/dev/infiniband")) order.devices = {"/dev/infiniband"};
  order.cpus = current_binding();
  order.name = fmt::format(
      "dtsubmit-{}-{}", to_hex(hash64(place_.run_directory + " " + place_.node)), place_.rank);
  order.uid = ::geteuid();
  order.gid = ::getegid();
  order.file = fmt::format("{}/rank-{}.rc", shared, place_.rank);
  return order;
}

Result<ContainerCommand> RankContainer::enclose(const spec::Container& container,
                                                const EnclosedProgram& program,
                                                const plan::Environment& variables,
                                                unsigned gpus_per_node,
                                                const std::string& segments) {
  DTS_ASSIGN(ContainerOrder order, order_for(container, segments));
  DTS_ASSIGN(const RuntimeChoice choice, choose_runtime(container, order.image.kind, is_installed));
  if (place_.local_rank == 0)
    log("{}: container {} by {} ({})",
        place_.node,
        container.image,
        spec::to_string(choice.runtime),
        choice.why);
  order.program = program.argv;
  order.limits = program.limits.limits;
  order.umask = program.limits.umask;
  order.variables = variables;
  order.inherited = inherited_names(variables);
  if (gpus_per_node > 0) order.gpus = vendor_of_gpus();
  order.gpu_numbers = renumbered_gpus();
  const ContainerType& type = type_of(choice.runtime);
  if (type.needs_mount_points && order.image.kind == ImageKind::folder)
    DTS_TRY(make_mount_points(order));
  ContainerCommand command = type.command(order);
  if (!command.file_text.empty())
    DTS_TRY(write_file(order.file, command.file_text, 0600, Durability::deferred));
  removal_ = command.removal;
  if (command.remove_first && place_.attempt > 1) remove();
  command.environment.insert(command.environment.begin(), variables.begin(), variables.end());
  add_user(command.environment);
  return command;
}

void RankContainer::remove() const {
  if (removal_.empty()) return;
  Command command;
  command.argv = removal_;
  if (const auto ended = run_process(std::move(command), k_removal); !ended)
    log("{}: {}", join(removal_, " "), ended.error().message);
}

}  // namespace dts::launch
