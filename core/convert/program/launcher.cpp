// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/launcher.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/job/gpu_bind.hpp"
#include "core/convert/job/requests.hpp"
#include "core/convert/program/before_launcher.hpp"
#include "core/convert/program/horovodrun.hpp"
#include "core/convert/program/launcher_words.hpp"
#include "core/convert/program/plugin_options.hpp"
#include "core/lint/script/program.hpp"
#include "core/lint/script/sbatch_options.hpp"
#include "core/spec/options/of_sbatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace dts::convert {
namespace {

using lint::Launcher;
using lint::LaunchOption;

class Reading {
 public:
  Reading(Launched& made, const Resolver& resolver, const lint::Runs& runs, bool is_in_function)
      : made_(made), resolver_(resolver), runs_(runs), is_in_function_(is_in_function) {}

  void srun(const LaunchOption& one) {
    std::string name = one.name;
    std::replace(name.begin(), name.end(), '_', '-');
    Row row{{}, Became::option, "", ""};
    if (is_size(name)) return size(name, one.value);
    if (name == "container-name") return note(name, "dtsubmit makes a container for each program");
    if (name == "container-workdir") {
      made_.folder = to_source(from_expanded({{one.value, true}, {}, false}));
      return note(name, "the program starts there");
    }
    if (one.value.find(lint::k_unknown) != std::string::npos && name.starts_with("container-"))
      return unknown_of_container(name, one.value);
    if ((name == "container-image" || name == "container-mounts") &&
        (is_blank(one.value) || has_empty_part(one.value)))
      return leave_open(name, one.value, k_blank_of_container);
    if (read_container_option(name, absolute(name, one.value), made_.settings, row)) {
      if (row.became == Became::lost) return lose(fmt::format("--{}: {}", name, row.why));
      return note(name, row.what.empty() ? row.why : "becomes " + row.what);
    }
    if (name == "mpi") return mpi_type(one.value);
    if (name == "export") return exported(one.value);
    if (name == "nodelist" || name == "relative") return void(made_.names_nodes = true);
    if (is_left_to_sbatch(name)) return left_to_sbatch(name, one.value);
    if (is_without_counterpart(name))
      return lose(fmt::format("srun --{}: {}",
                              name,
                              spec::instead_of_srun("--" + name)
                                  .value_or("dtsubmit has no counterpart for a single step")));
    if (name == k_no_option_name) return no_option("srun");
    note(name, spec::instead_of_srun("--" + name).value_or("dtsubmit decides it for its own step"));
  }

  void mpirun(const LaunchOption& one) {
    const std::string& name = one.name;
    if (name == "np" || name == "n" || name == "c" || name == "num-proc")
      return size("ntasks", one.value);
    if (name == "npernode" || name == "ppn" || name == "N")
      return size("ntasks-per-node", one.value);
    if (name == "map-by" && one.value.starts_with("ppr:") &&
        one.value.find(":node") != std::string::npos)
      return size("ntasks-per-node", one.value.substr(4, one.value.find(":node") - 4));
    if (name == "x") return variable(one.value);
    if (name == "mca" || name == "gmca")
      return note(name + " " + one.value, "see dtsubmit-environment(7): OMPI_MCA_* are kept");
    if (name == "wdir" || name == "wd") return lose("mpirun -wdir: set chdir");
    if (name == "am" || name == "app" || name == "rankfile" || name == "rf")
      return lose(fmt::format("mpirun -{} has no counterpart", name));
    if (name == k_no_option_name) return no_option("mpirun");
    constexpr std::string_view k_elastic[] = {"min-np", "max-np", "host-discovery-script"};
    note(name,
         is_one_of(k_elastic, name)
             ? "the job keeps its number of ranks, and comes back after the loss of a node"
             : "dtsubmit sets hosts, binding and output");
  }

  // The place of the program's first word.
  std::size_t horovodrun(const std::vector<FlatWord>& known, std::size_t at) {
    const HorovodrunWords read = horovodrun_words(known, at, runs_);
    for (const LaunchOption& one : read.options) mpirun(one);
    for (const std::string& one : read.variables) variable(one);
    for (const std::string& why : read.losses) lose(why);
    return read.command_at;
  }

  void lose(std::string why) { made_.losses.push_back(std::move(why)); }

 private:
  // Relative paths are those of the folder where the job is submitted.
  [[nodiscard]] std::string absolute(const std::string& name, const std::string& value) const {
    const auto here = resolver_.variable("PWD");
    if (!here || (name != "container-image" && name != "container-mounts")) return value;
    std::vector<std::string> all = split(value, ',');
    for (std::string& one : all) {
      const bool is_here = one == "." || one.starts_with("./") || one.starts_with(".:");
      if (is_here)
        one = *here + one.substr(1);
      else if (one.starts_with("../"))
        one = *here + "/" + one;
    }
    return join(all, ",");
  }

  // A word that stands for options that are not there.
  void no_option(const std::string& launcher) {
    made_.notes.push_back("options of " + launcher +
                          " that are empty, or set only under a condition: the job does not need "
                          "them");
  }

  void left_to_sbatch(const std::string& name, const std::string& value) {
    if (value.find(lint::k_unknown) != std::string::npos) return unknown(name, value);
    made_.settings["slurm"].texts.push_back(name + "=" + value);
  }

  void size(const std::string& name, const std::string& value) {
    if (value.find(lint::k_unknown) != std::string::npos) return unknown(name, value);
    if (const auto problem = problem_of(name, {value}))
      return lose(fmt::format("--{}={}: {}", name, value, problem->message));
    made_.settings[name] = {{value}, k_no_row};
  }

  // Needs variables of the shell that submits, or what only the job's own shell knows.
  void unknown(const std::string& name, const std::string& value) {
    std::string source;
    Names names;
    bool is_open = true;
    bool is_own = false;  // the script gives $SLURM_NTASKS a value
    for (const Segment& one : from_expanded({{value, true}, {}, false})) {
      source += one.text;
      if (one.kind != Segment::Kind::source) continue;
      const Names used = used_names(one.text);
      const bool is_number =
          one.text.starts_with("$((") && one.text.find_first_of("`$", 1) == std::string::npos;
      is_open = is_open && !used.empty() &&
                (is_number || one.text.find_first_of("(`") == std::string::npos);
      for (const std::string& variable : used) {
        is_own = is_own || is_assigned(variable);
        const bool is_of_job = variable.starts_with("SLURM");
        const bool is_known = resolver_.variable(variable).has_value();
        const bool is_needed = !is_of_job && !is_known && !is_assigned(variable);
        is_open = is_open && (is_needed || is_known || (is_of_job && is_number));
        if (is_needed) names.insert(variable);
      }
    }
    is_open = is_open && !names.empty();
    if (!is_own && is_size_of_job(name, source)) return note(name, "same as the job's");
    made_.needs.insert(names.begin(), names.end());
    const std::string all = join(std::vector<std::string>(names.begin(), names.end()), ", ");
    if (const std::string argument = argument_in(source, runs_, is_in_function_); !argument.empty())
      return leave_open(name,
                        argument,
                        "it is an argument of the script: convert again with its arguments behind "
                        "--, or fill it in");
    if (is_open)
      return leave_open(name,
                        source,
                        fmt::format("not set where the script is converted: {}; set that there and "
                                    "convert again, or fill it in",
                                    all));
    lose(fmt::format("--{}={}: {}",
                     name,
                     source,
                     names.empty() ? k_known_in_job : "set " + all + " and convert again"));
  }

  // Of a list, what is known is kept.
  void unknown_of_container(const std::string& name, const std::string& value) {
    if (name == "container-env" && lists_names_by_prefix(value, runs_))
      return note(name, k_names_handed_on);
    const std::size_t losses = made_.losses.size();
    const KnownEntries entries = entries_of(value);
    unknown(name, value);
    if (name != "container-mounts" || made_.losses.size() == losses || entries.known.empty())
      return;
    Row row{{}, Became::option, "", ""};
    read_container_option(name, absolute(name, join(entries.known, ",")), made_.settings, row);
    made_.losses.back() = fmt::format("--{}={}: {}", name, entries.unknown, k_known_in_job);
  }

  // The job file has it as a comment.
  void leave_open(const std::string& name, const std::string& value, const std::string& why) {
    std::string option = name == "container-image" ? "container" : name;
    std::vector<std::string> texts{value};
    if (name == "container-mounts") {
      option = "mount";
      texts = split(value, ',');
    }
    if (find_option(option) == nullptr) return lose(fmt::format("--{}: {}", name, why));
    made_.settings.erase(option);
    made_.blanks.push_back({option, texts, why});
  }

  // ${SLURM_MPI_TYPE:-pmix} is not set on a login node.
  void mpi_type(const std::string& text) {
    const std::size_t begin = text.find("{SLURM_MPI_TYPE:-");
    const std::string value =
        begin == 1 && text.ends_with('}') ? text.substr(18, text.size() - 19) : text;
    if (problem_of("mpi", {value}) || value.find(lint::k_unknown) != std::string::npos)
      return lose("--mpi: its value is not known");
    made_.settings["mpi"] = {{value}, k_no_row};
  }

  void exported(const std::string& value) {
    for (const FlatWord& one : split_words(from_expanded({{value, true}, {}, false}))) {
      const std::string begin =
          one.empty() || one[0].kind != Segment::Kind::literal ? "" : one[0].text;
      if (plain(one) == "ALL" || one.empty()) continue;
      if (begin.find('=') == std::string::npos)
        return lose("srun --export: every program gets the environment of the set-up");
      made_.variables.push_back(one);
    }
  }

  void variable(const std::string& text) {
    if (text.find('=') == std::string::npos)
      return note("x " + text, "every program gets the environment of the set-up");
    made_.variables.push_back(from_expanded({{text, true}, {}, false}));
  }

  void note(const std::string& name, const std::string& why) {
    made_.notes.push_back(fmt::format("{}{}: {}", name.size() > 1 ? "--" : "-", name, why));
  }

  [[nodiscard]] bool is_assigned(const std::string& name) const {
    // NAME=${NAME:-x} leaves it to the environment.
    const std::string begin = std::string(1, lint::k_unknown) + "{" + name;
    const auto is_its_own = [&](const lint::Assigned& one) {
      return one.name != name || one.value.text == begin + "}" ||
             one.value.text.starts_with(begin + ":-");
    };
    return runs_.variables.find_array(name) != nullptr || runs_.changed.count(name) > 0 ||
           (runs_.variables.find(name) != nullptr &&
            !std::all_of(runs_.assigned.begin(), runs_.assigned.end(), is_its_own));
  }

  Launched& made_;
  const Resolver& resolver_;
  const lint::Runs& runs_;
  bool is_in_function_;
};

}  // namespace

Launched launched(std::vector<FlatWord> words,
                  const Resolver& resolver,
                  const lint::Runs& runs,
                  std::size_t at,
                  bool is_in_function) {
  Launched made;
  drop_dry_run(words, resolver, runs, made);
  const std::vector<FlatWord> known = known_words(words, resolver, runs);
  const auto expanded = to_expanded(known);
  const lint::Launch launch = lint::launch_of(expanded);
  Reading reading(made, resolver, runs, is_in_function);
  std::size_t from = 0;
  if (launch.launcher != Launcher::none && launch.launcher_at < expanded.size())
    made.name = lint::base_name(expanded[launch.launcher_at].value.text);
  made.launcher = launch.launcher;
  if (launch.launcher == Launcher::srun || launch.launcher == Launcher::mpirun) {
    read_before(words, launch.launcher_at, made);
    for (const LaunchOption& one : launch.options)
      launch.launcher == Launcher::srun ? reading.srun(one) : reading.mpirun(one);
    if (const auto image = image_of_name(launch, runs))
      image->value.empty() ? reading.lose("--container-name: no srun in the script creates it")
                           : reading.srun(*image);
    if (is_changed_before(launch, runs, at)) reading.lose(k_changed_container);
    if (starts_several(expanded, launch)) reading.lose(k_several_programs);
    if (launch.has_unknown_options)
      reading.lose(fmt::format("{}: options in {} are known only in the job's shell",
                               made.name,
                               unknown_options(known, launch)));
    read_gpu_bind(launch, made.settings);
    from = launch.command_at;
  } else if (made.name == "horovodrun") {
    made.launcher = Launcher::mpirun;
    read_before(words, launch.launcher_at, made);
    from = reading.horovodrun(known, launch.launcher_at);
  } else if (launch.launcher == Launcher::other) {
    made.losses.push_back(made.name + " is another launcher: name the program that it starts");
  }
  settle_without_image(made);
  made.command.assign(words.begin() + static_cast<std::ptrdiff_t>(std::min(from, words.size())),
                      words.end());
  return made;
}

}  // namespace dts::convert
