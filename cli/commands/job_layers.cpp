// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/job_layers.hpp"

#include "cli/commands/config_files.hpp"
#include "cli/output/script_note.hpp"
#include "core/base/files/files.hpp"
#include "core/base/files/trusted_file.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/text/text.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/spec/file/write.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace dts::cli {
namespace {

bool ends_in(const std::string& text, std::string_view suffix) {
  return text.size() > suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// "--time=90 is from SBATCH_TIMELIMIT"
std::string note_of(const spec::Option& row, const std::string& value) {
  const bool has_text = *row.value.type != '\0' && value != spec::k_bare;
  return fmt::format("{}{} is from {}", row.long_name(), has_text ? "=" + value : "", row.variable);
}

class Gathering {
 public:
  Gathering(const JobOptions& options, const std::vector<std::string>& command)
      : options_(options), command_(command) {}

  Gathered all() {
    if (!options_.stands_alone) {
      add_site_and_user();
      add_project();
    }
    add_job_file();
    if (!options_.stands_alone) {
      add_sbatch_variables();
      add_own_variables();
    }
    add_typed();
    for (spec::Layer& layer : layers_) layer = only_groups(std::move(layer), options_.groups);
    gathered_.settings = settle(layers_);
    for (const spec::Setting& setting : gathered_.settings)
      if (const auto note = notes_.find(setting.origin); note != notes_.end())
        gathered_.notes.push_back(note->second);
    return std::move(gathered_);
  }

 private:
  void add_text(const std::string& text, const std::string& path) {
    const auto document = ends_in(path, ".json") ? spec::parse_json(text, path, gathered_.problems)
                                                 : spec::parse_toml(text, path, gathered_.problems);
    if (document) layers_.push_back(layer_of(*document, gathered_.problems));
  }

  void add_file(const Result<std::string>& text, const std::string& path) {
    if (text)
      add_text(*text, path);
    else
      gathered_.problems.push_back({"", text.error().message, text.error().hint});
  }

  // Adds an optional file; one that others could have written is rejected.
  void add_trusted(const std::string& path) {
    const auto text = read_trusted_file(path, spec::k_most_bytes);
    if (text || text.error().code != Errc::not_found) add_file(text, path);
  }

  void add_site_and_user() {
    std::vector<std::string> folders{site_folder()};
    if (const auto user = user_folder()) folders.push_back(*user);
    const std::string cluster = cluster_with_profile(folders);
    for (const std::string& folder : folders) {
      add_trusted(folder + "/config.toml");
      if (!cluster.empty()) add_trusted(fmt::format("{}/clusters/{}.toml", folder, cluster));
    }
  }

  // The cluster's name, but only if there are profiles: it costs a query to the scheduler.
  std::string cluster_with_profile(const std::vector<std::string>& folders) {
    bool any = false;
    for (const std::string& folder : folders)
      any = any || !list_folder(folder + "/clusters").empty();
    if (!any || options_.groups.count(spec::Group::slurm) == 0) return "";
    const auto scheduler = plugin::load_scheduler();
    const auto config = scheduler
                            ? (*scheduler)->config()
                            : Result<sched::ConfigInfo>(tl::unexpected<Error>(scheduler.error()));
    if (config && is_safe_name(config->cluster_name)) return config->cluster_name;
    gathered_.notes.push_back(fmt::format(
        "dtsubmit: no cluster profile is used, because the cluster's name is not known: {}",
        config ? "the scheduler gives none" : config.error().message));
    return "";
  }

  void add_project() {
    const auto path = find_project_file(absolute_path("."), getenv_lookup("HOME").value_or(""));
    if (!path) return;
    const auto owner = foreign_owner(*path);
    if (!owner) return add_trusted(*path);
    gathered_.notes.push_back(
        fmt::format("dtsubmit: {} is not used: it belongs to user {}, neither to you nor to root",
                    *path,
                    *owner));
  }

  void add_job_file() {
    const std::string& path = options_.job_file;
    if (!path.empty()) add_file(read_regular_file(path, spec::k_most_bytes), path);
  }

  // Options that sbatch would read from its variables (sbatch(1), INPUT ENVIRONMENT VARIABLES).
  void add_sbatch_variables() {
    if (options_.groups.count(spec::Group::slurm) == 0) return;
    spec::Layer layer;
    for (const spec::Option& row : spec::options()) {
      if (std::string_view(row.variable).substr(0, 7) != "SBATCH_") continue;
      auto value = getenv_lookup(row.variable);
      if (value && value->empty() && row.value.may_be_bare) value = spec::k_bare;
      if (!value || (value->empty() && *row.value.type != '\0')) continue;
      layer.push_back(setting_of(row, {*value}, row.variable));
      notes_[row.variable] = note_of(row, *value);
    }
    layers_.push_back(std::move(layer));
  }

  void add_own_variables() {
    spec::Layer layer;
    for (const spec::Option& row : spec::options())
      for (const std::string& name : row.own_variables()) {
        const auto value = getenv_lookup(name.c_str());
        if (!value || value->empty()) continue;
        add_own_variable(row, name, *value, layer);
        break;
      }
    layers_.push_back(std::move(layer));
  }

  void add_own_variable(const spec::Option& row,
                        const std::string& name,
                        const std::string& value,
                        spec::Layer& layer) {
    if (*row.value.type != '\0') {
      layer.push_back(setting_of(row, {value}, name));
      return;
    }
    if (const auto set = spec::parse_switch(value))
      layer.push_back(setting_of_flag(row, *set, name));
    else
      gathered_.problems.push_back({name, set.error().message, set.error().hint});
  }

  void add_typed() {
    spec::Layer layer;
    for (const spec::Option& row : spec::options())
      if (const auto texts = texts_of(row, options_))
        layer.push_back(setting_of(row, *texts, row.long_name()));
    if (!command_.empty()) layer.push_back(spec::setting_of_command(command_));
    layers_.push_back(std::move(layer));
  }

  const JobOptions& options_;
  const std::vector<std::string>& command_;
  std::vector<spec::Layer> layers_;
  std::map<std::string, std::string> notes_;  // by sbatch's variable
  Gathered gathered_;
};

}  // namespace

Gathered gather(const JobOptions& options, const std::vector<std::string>& command) {
  return Gathering(options, command).all();
}

bool is_job_file(const std::string& word) {
  return ends_in(word, ".toml") || ends_in(word, ".json");
}

Result<void> check_job_file(const std::string& path) {
  if (path.empty() || is_job_file(path)) return {};
  return fail(
      Errc::usage, fmt::format("unexpected argument `{}`", path), help_for_stray_word(path));
}

Result<void> save_job_file(const spec::Layer& settings, const std::string& path) {
  if (!is_job_file(path))
    return fail(Errc::usage,
                fmt::format("--save: `{}` is not the name of a job file", path),
                "it ends in .toml or .json");
  if (exists(path))
    return fail(Errc::invalid,
                fmt::format("--save: {} exists already", path),
                "name another file, or remove this one");
  return write_file(path,
                    ends_in(path, ".json") ? spec::to_job_json(settings)
                                           : spec::to_toml(settings, spec::Origins::omitted));
}

}  // namespace dts::cli
