// SPDX-License-Identifier: Apache-2.0
#include "core/spec/parts.hpp"

#include "core/base/text/text.hpp"
#include "core/spec/file/parts.hpp"
#include "core/spec/gres.hpp"
#include "core/spec/size.hpp"
#include "core/spec/validate.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <map>

namespace dts::spec {
namespace {

constexpr std::size_t k_longest_part_name = 64;

// The whole job without its parts, the starting point for each of them.
JobSpec common_options(const JobSpec& spec) {
  JobSpec common = spec;
  common.steps.clear();
  common.roles.clear();
  common.command.clear();
  common.hosts.clear();
  common.spares = 0;
  common.heterogeneous = false;
  if (!spec.roles.empty()) common.nodes = 1;
  return common;
}

// A copy with some options of another job and built-in values for all others.
template <typename Keeps>
JobSpec with_options(const JobSpec& from, const Keeps& keeps) {
  JobSpec job;
  for (const Option& row : options()) {
    if (!row.value.write || !row.value.read || !keeps(row)) continue;
    const nlohmann::json value = row.value.write(from);
    // The value has been read or checked before, so it is valid.
    if (!value.is_null()) [[maybe_unused]]
      const auto read = row.value.read(value, job);
  }
  return job;
}

// Options of the whole job only; a stored part contains all others itself.
JobSpec job_options(const JobSpec& common, bool heterogeneous, unsigned nodes) {
  JobSpec job =
      with_options(common, [&](const Option& row) { return !is_of_each_part(row, heterogeneous); });
  job.nodes = nodes;
  return job;
}

// Whether the part resets the option with "" or an empty list to the built-in value, overriding the
// job.
bool takes_back(const nlohmann::json& given, const Option& row) {
  for (const std::string& key : {row.file_key(), row.json_key()})
    if (const auto value = given.find(key); value != given.end())
      return value->empty() || *value == "";
  return false;
}

JobSpec without_taken_back(const nlohmann::json& given, const JobSpec& job) {
  const auto& rows = options();
  const bool any = std::any_of(
      rows.begin(), rows.end(), [&](const Option& row) { return takes_back(given, row); });
  return any ? with_options(job, [&](const Option& row) { return !takes_back(given, row); }) : job;
}

// A size given by the part replaces the job's sizes of the same kind instead of contradicting them.
void leave_out_sizes(const nlohmann::json& given, JobSpec& job) {
  const auto says = [&](std::initializer_list<const char*> keys) {
    return std::any_of(
        keys.begin(), keys.end(), [&](const char* key) { return given.contains(key); });
  };
  const auto gres = given.find("gres");
  const bool says_gres = gres != given.end() && gres->is_string() &&
                         !split_gres(gres->get<std::string>()).gpus.empty();
  if (says_gres || says({"gpus_per_node", "gpus", "gpus_per_task"})) {
    job.gpus_per_node.reset();
    job.gpu_type.clear();
  }
  if (says({"ntasks_per_node", "ntasks", "ntasks_per_gpu"})) {
    job.ntasks_per_node.reset();
    job.slurm.erase("ntasks-per-gpu");
  }
  if (says({"mem", "memory_mib", "mem_per_cpu", "mem_per_gpu"})) {
    job.memory_mib.reset();
    job.slurm.erase("mem-per-cpu");
    job.slurm.erase("mem-per-gpu");
  }
}

void resolve(const JobSpec& common,
             bool heterogeneous,
             Part& part,
             const std::string& words,
             Diagnostics& problems) {
  const unsigned nodes = part.beside.empty() ? 1 : common.nodes;
  part.job = part.is_stored ? job_options(common, heterogeneous, nodes) : common;
  part.job.job_name = part.name;
  const auto object = nlohmann::json::parse(part.given, nullptr, false);
  Diagnostics found;
  // Each key has been read and reported at its own place before, so no problem is found here.
  const auto at = [](const std::string& pointer, Error error) {
    return Diagnostic{pointer, std::move(error.message), std::move(error.hint)};
  };
  if (object.is_object() && !part.is_stored) {
    part.job = without_taken_back(object, part.job);
    leave_out_sizes(object, part.job);
  }
  const auto spelling = part.is_stored ? Spelling::stored : Spelling::typed;
  if (object.is_object()) read_keys(object, "", {at, at, spelling}, part.job, found);
  if (part.beside.empty()) share_nodes_of_job(part.job, common.nodes);
  settle_size(part.job, found);
  const bool has_type = !part.job.gpu_type.empty() || part.job.gpus_per_node.value_or(0) == 0;
  if (!part.is_stored && !has_type) part.job.gpu_type = common.gpu_type;
  for (Diagnostic& problem : found) {
    problem.where = words + ": " + problem.where;
    problems.push_back(std::move(problem));
  }
}

void check_name(const Part& part,
                const std::string& words,
                std::map<std::string, std::string>& taken,
                Diagnostics& problems) {
  if (!is_safe_name(part.name) || part.name.size() > k_longest_part_name)
    return problems.push_back(
        {words,
         fmt::format("a name is 1 to {} letters, digits, `-`, `_` and `.`, the first a letter or "
                     "digit",
                     k_longest_part_name),
         "for example `train`"});
  const auto [before, is_new] = taken.emplace(variable_name(part.name), part.name);
  if (is_new) return;
  problems.push_back(
      {words,
       before->second == part.name
           ? "the name is given twice"
           : fmt::format("its variables would be called as those of `{}`", before->second),
       "use another name"});
}

// Keys of the node requests that a role makes itself.
std::vector<std::string> own_demands(const Part& part) {
  std::vector<std::string> keys;
  const auto given = nlohmann::json::parse(part.given, nullptr, false);
  for (const Option& row : options())
    if (row.is_of_nodes && given.is_object() &&
        (given.contains(row.file_key()) || given.contains(row.json_key())))
      keys.push_back("`" + row.file_key() + "`");
  return keys;
}

void check_heterogeneous(const JobSpec& spec, Diagnostics& problems) {
  for (const Part& role : spec.roles)
    if (const auto keys = own_demands(role); !spec.heterogeneous && !keys.empty())
      problems.push_back({words_of(spec, role),
                          fmt::format("{}: roles share the nodes of one job, which are all alike",
                                      join(keys, ", ")),
                          "write `heterogeneous = true` outside of the roles, and each asks for "
                          "nodes of its own"});
  if (!spec.heterogeneous) return;
  if (spec.roles.size() < 2)
    problems.push_back({"heterogeneous",
                        "a heterogeneous job consists of two roles or more",
                        "omit it, or write [[roles]]: see STEPS AND ROLES in dtsubmit-submit(1)"});
  if (spec.spares > 0)
    problems.push_back({"--spares",
                        "a heterogeneous job ends when it loses a node, and comes back on others",
                        "omit --spares"});
}

void check_whole(const JobSpec& spec, Diagnostics& problems) {
  if (!spec.steps.empty() && !spec.roles.empty())
    problems.push_back({"roles",
                        "a job has steps or roles, not both",
                        "make two jobs, the second with --dependency"});
  if (!spec.command.empty())
    problems.push_back({"command",
                        "a job with steps or roles cannot have its own program",
                        "write it into one of them"});
  if (!spec.hosts.empty())
    problems.push_back(
        {"--hosts", "steps and roles run in a Slurm job or on this machine only", "omit --hosts"});
  if (parts_of(spec).size() > k_most_parts)
    problems.push_back({spec.roles.empty() ? "steps" : "roles",
                        fmt::format("{}, at most {}", parts_of(spec).size(), k_most_parts)});
  const auto waits = [](const Part& part) { return part.until_others_end; };
  if (!spec.roles.empty() && std::all_of(spec.roles.begin(), spec.roles.end(), waits))
    problems.push_back({"roles",
                        "each of them waits for the others to end",
                        "omit \"until\" from the one that does the work"});
}

// The role of this name before `part`; nullptr if there is none.
const Part* earlier_role(const std::vector<Part>& parts,
                         const Part& part,
                         const std::string& name) {
  const auto end = parts.begin() + (&part - parts.data());
  const auto is_named = [&](const Part& one) { return one.name == name; };
  const auto found = name.empty() ? end : std::find_if(parts.begin(), end, is_named);
  return found == end ? nullptr : &*found;
}

void check_named_role(const JobSpec& spec,
                      const Part& part,
                      const char* what,
                      const std::string& name,
                      Diagnostics& problems) {
  if (name.empty() || earlier_role(spec.roles, part, name) != nullptr) return;
  problems.push_back({words_of(spec, part),
                      fmt::format("it {} `{}`, and no role before it has that name", what, name),
                      "name a role that the list has before this one"});
}

void check_beside(const JobSpec& spec, std::size_t index, Diagnostics& problems) {
  const Part* named = earlier_role(spec.roles, spec.roles[index], spec.roles[index].beside);
  if (named == nullptr) return;
  const auto refuse = [&](std::string why, const char* hint) {
    problems.push_back({words_of(spec, spec.roles[index]), std::move(why), hint});
  };
  if (spec.heterogeneous)
    refuse("each role of a heterogeneous job has nodes of its own",
           "omit `beside`, or `heterogeneous`");
  if (spec.spares > 0)
    refuse("roles that share nodes cannot move to spare nodes one by one",
           "omit --spares, or `beside`");
  if (const unsigned nodes = spec.roles[index].job.nodes; nodes > named->job.nodes)
    refuse(fmt::format("{} nodes, while `{}` has {}", nodes, named->name, named->job.nodes),
           "omit its number of nodes, or give the other role as many");
}

}  // namespace

std::string part_words(bool is_role, const std::string& name) {
  return fmt::format("{} `{}`", is_role ? "role" : "step", name);
}

std::string words_of(const JobSpec& spec, const Part& part) {
  return part_words(!spec.roles.empty(), part.name);
}

std::string variable_name(const std::string& part) {
  std::string name;
  for (const char c : part) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

std::size_t host_of(const std::vector<Part>& parts, std::size_t index) {
  const Part* host = earlier_role(parts, parts[index], parts[index].beside);
  if (host == nullptr) return index;
  return host_of(parts, static_cast<std::size_t>(host - parts.data()));
}

void resolve_parts(JobSpec& spec, Diagnostics& problems) {
  JobSpec common = common_options(spec);
  for (auto* parts : {&spec.steps, &spec.roles})
    for (std::size_t i = 0; i < parts->size(); ++i) {
      Part& part = (*parts)[i];
      const Part* named = earlier_role(*parts, part, part.beside);
      if (!spec.roles.empty()) common.nodes = named == nullptr ? 1 : named->job.nodes;
      resolve(common, spec.heterogeneous, part, words_of(spec, part), problems);
    }
}

void check_parts(const JobSpec& spec, Diagnostics& problems) {
  check_heterogeneous(spec, problems);
  if (!is_composed(spec)) return;
  check_whole(spec, problems);
  const Diagnostics of_all = validate(common_options(spec));
  std::map<std::string, std::string> taken;
  for (const Part& part : parts_of(spec)) {
    const std::string words = words_of(spec, part);
    if (!part.name.empty() || !part.has_unreadable_keys) check_name(part, words, taken, problems);
    check_named_role(spec, part, "waits for", part.waits_for, problems);
    check_named_role(spec, part, "shares the nodes of", part.beside, problems);
    if (part.job.command.empty() && !part.has_unreadable_keys)
      problems.push_back(
          {words, "it has no command", R"(add `command`, a list: ["python3", "train.py"])"});
    for (Diagnostic problem : validate(part.job)) {
      const bool is_known = std::find(of_all.begin(), of_all.end(), problem) != of_all.end();
      if (is_known || problem.where == "--job-name") continue;
      problem.where = words + ": " + problem.where;
      problems.push_back(std::move(problem));
    }
  }
  for (std::size_t i = 0; i < spec.roles.size(); ++i) check_beside(spec, i, problems);
}

}  // namespace dts::spec
