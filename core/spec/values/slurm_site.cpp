// SPDX-License-Identifier: Apache-2.0
// Options of sbatch with special handling: those of the site, and names for the job's log.
#include "core/base/text/text.hpp"
#include "core/spec/options/of_sbatch.hpp"
#include "core/spec/values/json_values.hpp"
#include "core/spec/values/slurm_values.hpp"
#include "core/spec/values/values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::spec {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

bool is_key(const std::string& key) {
  return !key.empty() && key.front() >= 'a' && key.front() <= 'z' &&
         key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
}

// Options that would take the job out of our control: dtsubmit has its own for them, or none.
Result<void> check_key(const std::string& key) {
  if (!is_key(key))
    return fail(Errc::invalid,
                fmt::format("`{}` is not the long name of an option of sbatch", key),
                "for example --slurm power=level or --slurm spread-job");
  // sbatch's --module belongs to Shifter's plug-in, not to Slurm, and has another meaning.
  const Option* ours = option_named("--" + key);
  if (key != "module" && ours != nullptr)
    return fail(Errc::invalid,
                fmt::format("--{} is an option of dtsubmit", key),
                fmt::format("write --{} itself; in a job file, `{}` outside the table [slurm]",
                            key,
                            ours->file_key()));
  if (const auto instead = instead_of("--" + key))
    return fail(Errc::invalid,
                fmt::format("--{} of sbatch would change how dtsubmit submits the job", key),
                *instead);
  return {};
}

// The pattern fields known when a job is submitted; see script::log_link_path().
Result<void> check_log_pattern(const std::string& pattern) {
  for (std::size_t i = pattern.find('%'); i != std::string::npos; i = pattern.find('%', i + 1)) {
    i = pattern.find_first_not_of("0123456789", i + 1);
    const std::string field = i == std::string::npos ? "" : pattern.substr(i, 1);
    if (field.empty() || std::string("%xjJAaunt").find(field) == std::string::npos)
      return fail(Errc::invalid,
                  fmt::format("`%{}` is not known when the job is submitted", field),
                  "known are %x, %j, %J, %A, %a, %u, %n, %t and %%; the ranks' logs are in the run "
                  "directory");
  }
  return {};
}

Result<void> parse_site_option(const std::string& typed, JobSpec& spec) {
  const std::size_t equals = typed.find('=');
  const std::string key = typed.substr(0, equals);
  DTS_TRY(check_key(key));
  spec.slurm_site[key] = equals == std::string::npos ? "" : typed.substr(equals + 1);
  return {};
}

Result<void> read_site_options(const json& stored, JobSpec& spec) {
  if (!stored.is_object())
    return fail(Errc::invalid, R"(expected an object, e.g. {"power": "level"})");
  for (const auto& [key, given] : stored.items()) {
    DTS_TRY(check_key(key));
    DTS_TRY(read_text(given, spec.slurm_site[key]));
  }
  return {};
}

}  // namespace

Value any_for_slurm() {
  Value value;
  value.type = "KEY=VALUE";
  value.repeats = true;
  value.parse = parse_site_option;
  value.read = read_site_options;
  value.write = [](const JobSpec& spec) {
    return spec.slurm_site.empty() ? ordered_json() : ordered_json(spec.slurm_site);
  };
  value.check = [](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    for (const auto& [key, given] : spec.slurm_site)
      check_text(given, option + " " + key, problems);
  };
  return value;
}

Value log_link(const char* name) {
  Value value = for_slurm(name, "FILE");
  value.parse = [name](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_TRY(check_log_pattern(typed));
    spec.log_links[name] = typed;
    return {};
  };
  value.read = [parse = value.parse](const json& stored, JobSpec& spec) -> Result<void> {
    std::string given;
    DTS_TRY(read_text(stored, given));
    return parse(given, spec);
  };
  value.write = [name](const JobSpec& spec) {
    const auto found = spec.log_links.find(name);
    return found == spec.log_links.end() ? ordered_json() : ordered_json(found->second);
  };
  value.check = [name](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    if (const auto found = spec.log_links.find(name); found != spec.log_links.end())
      check_text(found->second, option, problems);
  };
  return value;
}

Value append_only() {
  Value value;
  value.type = "append";
  value.parse = [](const std::string& typed, JobSpec&) -> Result<void> {
    if (typed == "append" || typed == "a") return {};
    return fail(Errc::invalid,
                fmt::format("`{}`: a job that is requeued would lose what it wrote before", typed),
                "omit it: logs are appended to");
  };
  return value;
}

}  // namespace dts::spec
