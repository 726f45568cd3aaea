// SPDX-License-Identifier: Apache-2.0
// dtsubmit topo: shows a node, and what ranks would get on it.
#include "cli/commands/command.hpp"
#include "cli/commands/counts.hpp"
#include "cli/commands/node_report.hpp"
#include "cli/commands/topo_verify.hpp"
#include "cli/output/report.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/topo_flags.hpp"
#include "cli/output/topo_report.hpp"
#include "core/base/diagnostics.hpp"
#include "core/base/files/files.hpp"
#include "core/base/text/alike.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/spec/values/values.hpp"
#include "core/topo/discover.hpp"
#include "core/topo/restrict.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>

namespace dts::cli {
namespace {

constexpr unsigned k_most_ranks = 4'096;  // per node

struct TopoOptions {
  std::string topology, cpuset, gpus, bind = "auto", svg, emit = "none", color = "auto";
  // As typed, for read_count().
  std::string ranks, gpus_per_node, smt = "0", cores_per_rank = "0";
  Selection verify{"", "runs"};
  bool json = false;
};

// Ascending, without duplicates.
std::vector<unsigned> read_list(const char* option,
                                const std::string& text,
                                Diagnostics& problems) {
  const auto list = parse_number_list(text, k_highest_cpu);
  if (!list)
    problems.push_back(
        {option, fmt::format("`{}` is not a list of numbers", text), "write e.g. 0-3,8"});
  std::vector<unsigned> numbers = list.value_or(std::vector<unsigned>());
  make_set(numbers);
  return numbers;
}

void check_word(const char* option,
                const std::string& word,
                const std::vector<std::string>& known,
                Diagnostics& problems) {
  if (std::find(known.begin(), known.end(), word) == known.end())
    problems.push_back({option, fmt::format("`{}` is not one of {}", word, join(known, ", "))});
}

// Restricts the node to --cpuset.
topo::NodeTopology narrow(const TopoOptions& options,
                          topo::NodeTopology node,
                          Diagnostics& problems) {
  if (options.cpuset.empty()) return node;
  const auto cpuset = read_list("--cpuset", options.cpuset, problems);
  topo::NodeTopology part = topo::restrict_to(node, cpuset);
  std::set<unsigned> open;
  for (const topo::Core& core : node.cores) open.insert(core.pus.begin(), core.pus.end());
  std::vector<unsigned> missing;
  std::set_difference(
      cpuset.begin(), cpuset.end(), open.begin(), open.end(), std::back_inserter(missing));
  if (!missing.empty())
    problems.push_back(
        {"--cpuset",
         fmt::format("CPU {} does not exist or may not be used", fold_numbers(missing)),
         "`dtsubmit topo` without --cpuset shows the usable ones"});
  return part;
}

// --gpus-per-node: the first GPUs of their type, as many as requested.
std::vector<unsigned> first_gpus(const TopoOptions& options,
                                 const topo::NodeTopology& node,
                                 Diagnostics& problems) {
  constexpr const char* k_option = "--gpus-per-node";
  const auto asked = spec::parse_gpus(options.gpus_per_node);
  if (!asked) problems.push_back({k_option, asked.error().message, asked.error().hint});
  if (!asked) return {};
  std::vector<unsigned> gpus = gpus_of_type(node, asked->type);
  const std::string of_type = gpus.size() == node.gpus.size() ? "" : " of type " + asked->type;
  if (asked->count > gpus.size())
    problems.push_back(
        {k_option,
         fmt::format("{}{} requested, the node has {}",
                     asked->count,
                     of_type,
                     gpus.empty() ? "no GPU" : fmt::format("only {}", gpus.size()))});
  gpus.resize(std::min<std::size_t>(asked->count, gpus.size()));
  return gpus;
}

// The GPUs of the job.
std::vector<unsigned> read_gpus(const TopoOptions& options,
                                const topo::NodeTopology& node,
                                Diagnostics& problems) {
  const auto count = static_cast<unsigned>(node.gpus.size());
  std::vector<unsigned> gpus(count);
  std::iota(gpus.begin(), gpus.end(), 0U);
  if (!options.gpus.empty() && !options.gpus_per_node.empty())
    problems.push_back({"--gpus", "conflicts with --gpus-per-node, which takes the first GPUs"});
  if (!options.gpus_per_node.empty()) gpus = first_gpus(options, node, problems);
  if (options.gpus.empty()) return gpus;
  gpus = read_list("--gpus", options.gpus, problems);
  if (!gpus.empty() && gpus.back() >= count)
    problems.push_back(
        {"--gpus",
         count == 0 ? fmt::format("there is no GPU {}: the node has none", gpus.back())
                    : fmt::format("there is no GPU {}: they are 0 to {}", gpus.back(), count - 1)});
  return gpus;
}

// One rank per GPU, or per NUMA node if there are no GPUs.
unsigned usual_ranks(const topo::NodeTopology& node, const std::vector<unsigned>& gpus) {
  if (!gpus.empty()) return static_cast<unsigned>(gpus.size());
  std::set<unsigned> numas;
  for (const topo::Core& core : node.cores) numas.insert(core.numa);
  return static_cast<unsigned>(std::max<std::size_t>(1, numas.size()));
}

// Loads the file, or this machine if none is named.
Result<topo::NodeTopology> load(const std::string& file) {
  if (file.empty()) return topo::discover();
  return topo::read_topology(file);
}

struct BindingQuestion {
  topo::NodeTopology node;
  plan::BindRequest request;
};

Result<BindingQuestion> read(const TopoOptions& options) {
  Diagnostics problems;
  check_word("--emit", options.emit, {"slurm", "openmpi", "none"}, problems);
  check_word("--color", options.color, {"auto", "always", "never"}, problems);
  const auto bind = spec::parse_bind(options.bind);
  if (!bind) problems.push_back({"--bind", bind.error().message, bind.error().hint});
  if (!problems.empty()) return tl::unexpected<Error>(to_error(problems, Errc::usage));
  DTS_ASSIGN(topo::NodeTopology node, load(options.topology));
  BindingQuestion asked{narrow(options, std::move(node), problems), plan::request_of(*bind)};
  asked.request.gpus = read_gpus(options, asked.node, problems);
  const auto count =
      [&](const char* option, const std::string& text, unsigned least, unsigned most) {
        return static_cast<unsigned>(read_count(option, text, least, most, problems));
      };
  asked.request.ranks = options.ranks.empty() ? usual_ranks(asked.node, asked.request.gpus)
                                              : count("--ranks", options.ranks, 1, k_most_ranks);
  asked.request.smt = count("--smt", options.smt, 0, 1'024);
  asked.request.cores_per_rank =
      count("--cores-per-rank", options.cores_per_rank, 0, k_highest_cpu);
  if (!problems.empty()) return tl::unexpected<Error>(to_error(problems, Errc::usage));
  return asked;
}

std::string words_for(const TopoOptions& options, const TopoReport& report) {
  if (options.emit == "slurm") return slurm_flags(report.binding);
  if (options.emit == "openmpi") return openmpi_rankfile(report.binding);
  if (options.svg == "-") return to_svg(report);
  if (options.json) return to_json(report);
  const bool colour =
      options.color == "always" || (options.color == "auto" && wants_colour(STDOUT_FILENO));
  const Lists lists = ::isatty(STDOUT_FILENO) == 1 ? Lists::wrapped : Lists::whole;
  return to_text(report, terminal_columns(), {colour, has_utf8()}, lists);
}

Result<int> act(const TopoOptions& options) {
  if (!options.verify.what.empty()) return verify(options.verify, options.json);
  DTS_ASSIGN(BindingQuestion asked, read(options));
  DTS_ASSIGN(
      const TopoReport report,
      report_node(options.topology.empty() ? "this machine" : topo::name_of(options.topology),
                  options.bind,
                  std::move(asked.node),
                  asked.request));
  if (!options.svg.empty() && options.svg != "-")
    DTS_TRY(write_file(options.svg, to_svg(report), 0644));
  fmt::print("{}", words_for(options, report));
  // The flags are passed to a launcher as they are, so warnings must not be mixed in.
  if (options.emit != "none")
    for (const std::string& warning : report.binding.warnings) warn(warning);
  return 0;
}

}  // namespace

void add_topo(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<TopoOptions>();
  CLI::App* verb =
      app.add_subcommand("topo", "show a node, and which cores, GPUs and adapters each rank gets");
  const char* node = "Node";
  verb->add_option("--topology",
                   options->topology,
                   "from `lstopo --of xml FILE`; -: standard input [this machine]")
      ->group(node)
      ->type_name("FILE");
  verb->add_option("--cpuset", options->cpuset, "use only these CPUs, e.g. 0-15,64-79")
      ->group(node)
      ->type_name("LIST");
  verb->add_option("--gpus", options->gpus, "use only these GPUs, by their numbers here")
      ->group(node)
      ->type_name("LIST");
  verb->add_option(
          "--gpus-per-node", options->gpus_per_node, "use only the first N GPUs, of TYPE if given")
      ->group(node)
      ->type_name("[TYPE:]N");
  const char* ranks = "Ranks";
  verb->add_option("--ranks", options->ranks, "ranks on this node [one per GPU, or per NUMA node]")
      ->group(ranks)
      ->type_name("N");
  verb->add_option("--bind", options->bind, "auto, compact, spread, none, map:LIST;LIST.. [auto]")
      ->group(ranks)
      ->type_name("POLICY");
  verb->add_option("--smt", options->smt, "hardware threads of each core; 0: all [0]")
      ->group(ranks)
      ->type_name("K");
  verb->add_option("--cores-per-rank",
                   options->cores_per_rank,
                   "cores for each rank; 0: as many as there are [0]")
      ->group(ranks)
      ->type_name("N");
  const char* job = "Job";
  verb->add_option("--verify",
                   options->verify.what,
                   "show how the ranks of a job are bound now: job id, name of a run or job, "
                   "directory, or `last`")
      ->group(job)
      ->type_name("JOB");
  add_runs_option(*verb, options->verify.runs)->group(job);
  const char* output = "Output";
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/topo/1")
      ->group(output);
  verb->add_option(
          "--svg", options->svg, "write a picture to this file; `-`: only to standard output")
      ->group(output)
      ->type_name("FILE");
  verb->add_option(
          "--emit", options->emit, "print only equivalent flags for: slurm, openmpi [none]")
      ->group(output)
      ->type_name("KIND");
  verb->add_option("--color", options->color, "auto, always, never [auto]")
      ->group(output)
      ->type_name("WHEN");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
