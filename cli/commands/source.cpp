// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/source.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/json_bytes.hpp"
#include "core/base/text/json_text.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/provenance/recorded_environment.hpp"

#include "version.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace dts::cli {
namespace {

namespace fs = std::filesystem;

Source read_source() {
  auto tree = provenance::read_source_tree(absolute_path("."));
  if (!tree) return {std::nullopt, tree.error().message};
  return {*std::move(tree), ""};
}

// `word` relative to the tree's folder; empty if it is not a file there.
std::string path_in_tree(const provenance::SourceTree& tree, const std::string& word) {
  std::error_code failed;
  if (word.empty() || !fs::is_regular_file(word, failed)) return {};
  const fs::path path = fs::path(absolute_path(".")) / word;
  const std::string below = path.lexically_normal().lexically_relative(tree.top).string();
  return below.starts_with("..") ? std::string() : below;
}

void check_word(Asked& asked,
                const provenance::SourceTree& tree,
                const std::vector<std::string>& tracked,
                const std::string& word) {
  const std::string path = path_in_tree(tree, word);
  if (path.empty()) return;
  if (word[0] == '/')
    asked.notes.push_back(fmt::format(
        "{} is the file itself, not its copy in the snapshot: a relative path would be", word));
  else if (!std::binary_search(tracked.begin(), tracked.end(), path))
    asked.problems.push_back({"--snapshot",
                              fmt::format("{} would not be in it: git does not track it", word),
                              fmt::format("git add {}", shell_quote(word))});
}

std::string kernel() {
  utsname name{};
  ::uname(&name);
  return fmt::format("{} {}", name.sysname, name.release);
}

// The modules loaded by `module load` (Environment Modules and Lmod, LOADEDMODULES).
std::vector<std::string> loaded_modules() {
  std::vector<std::string> modules;
  for (std::string& name : split(getenv_lookup("LOADEDMODULES").value_or(""), ':'))
    if (!name.empty()) modules.push_back(std::move(name));
  return modules;
}

}  // namespace

std::future<Source> begin_reading_source() {
  return std::async(std::launch::async, read_source);
}

void check_snapshot(Asked& asked, const Source& source) {
  if (!asked.spec.snapshot) return;
  if (!source.tree) {
    asked.problems.push_back(
        {"--snapshot",
         source.note.empty() ? fmt::format("{} is in no working tree of git", absolute_path("."))
                             : source.note,
         "omit --snapshot, or submit from such a tree"});
    return;
  }
  const auto tracked = provenance::tracked_files(*source.tree);
  if (!tracked) {
    asked.problems.push_back({"--snapshot", tracked.error().message});
    return;
  }
  for (const auto* words : {&asked.spec.command, &asked.spec.setup, &asked.spec.teardown})
    for (const std::string& word : *words) check_word(asked, *source.tree, *tracked, word);
}

std::string folder_of_attempts(const spec::JobSpec& spec,
                               const Source& source,
                               const run::RunDirectory& run) {
  if (!spec.snapshot || !source.tree) return absolute_path(".");
  const std::string folder = run.snapshot() + "/" + source.tree->prefix;
  return folder.substr(0, folder.size() - 1);  // drops the trailing slash
}

Result<void> take_snapshot(const Source& source, const run::RunDirectory& staging) {
  DTS_TRY(provenance::copy_tracked_files(*source.tree, staging.snapshot()));
  return make_folders(staging.snapshot() + "/" + source.tree->prefix);
}

std::string provenance_record(const Submitted& submitted, const Source& source) {
  nlohmann::ordered_json record{{"schema", "dtsubmit/provenance/1"},
                                {"version", k_version},
                                {"created", format_utc(std::chrono::system_clock::now())},
                                {"host", host_name()},
                                {"user", ::getuid()},
                                {"folder", submitted.folder},
                                {"submitted_from", absolute_path(".")},
                                {"dtsubmit", program_path()},
                                {"command", bytes_to_json(submitted.command)}};
  if (source.tree) record["source"] = nlohmann::ordered_json::parse(to_json(*source.tree));
  if (!source.note.empty()) record["source"] = {{"note", source.note}};
  nlohmann::ordered_json versions{{"dtsubmit", k_version}, {"kernel", kernel()}};
  for (const auto& [name, version] : submitted.versions) versions[name] = version;
  record["versions"] = std::move(versions);
  record["modules"] = loaded_modules();
  nlohmann::ordered_json& environment = record["environment"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : provenance::recorded_environment(environment_entries()))
    environment[name] = value;
  return json_text(record);
}

std::string recorded_variable(const run::RunDirectory& run, const char* name) {
  const auto text = read_own_file(run.provenance());
  const auto record = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!record.is_object() || !record.contains("environment")) return {};
  const nlohmann::json& environment = record["environment"];
  const auto found = environment.find(name);
  return found != environment.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace dts::cli
