// SPDX-License-Identifier: Apache-2.0
#include "cli/app.hpp"

#include "cli/commands/command.hpp"
#include "cli/commands/inside.hpp"
#include "cli/commands/job_layers.hpp"
#include "cli/commands/job_options.hpp"
#include "cli/completion.hpp"
#include "cli/output/help_text.hpp"
#include "cli/output/parse_words.hpp"
#include "cli/output/report.hpp"
#include "cli/output/script_note.hpp"
#include "core/base/text/text.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/run/index/index.hpp"
#include "core/spec/options/of_sbatch.hpp"

#include "version.hpp"
#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string_view>

namespace dts::cli {
namespace {

struct Verb {
  std::string_view name;
  void (*add)(CLI::App&, Invocation&);
};

constexpr Verb k_verbs[] = {
    {"submit", add_submit},   {"run", add_run},           {"config", add_config},
    {"render", add_render},   {"list", add_list},         {"status", add_status},
    {"why", add_why},         {"logs", add_logs},         {"stop", add_stop},
    {"cancel", add_cancel},   {"requeue", add_requeue},   {"topo", add_topo},
    {"nodes", add_nodes},     {"beat", add_beat},         {"lint", add_lint},
    {"convert", add_convert}, {"simulate", add_simulate}, {"check", add_check},
    {"drill", add_drill},     {"cluster", add_cluster},   {"doctor", add_doctor},
    {"plan", add_plan},
};

constexpr const char* k_first_steps =
    "To submit a job: dtsubmit --nodes 2 --gpus-per-node 8 -- python3 train.py\n"
    "For the options of a command: dtsubmit COMMAND --help";

// Adds only the verb that was typed, or all verbs if none was.
void add_verbs(CLI::App& app, const std::string& typed, Invocation& invocation) {
  const auto verb = std::find_if(
      std::begin(k_verbs), std::end(k_verbs), [&](const Verb& one) { return one.name == typed; });
  if (verb != std::end(k_verbs)) return verb->add(app, invocation);
  for (const Verb& one : k_verbs) one.add(app, invocation);
}

// The verb that was used, including nested ones ("cluster up").
const CLI::App* chosen(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? &app : chosen(*verbs.front());
}

// "see `dtsubmit cluster up --help`"
std::string see_help(const CLI::App& app) {
  std::string words = app.get_name();
  for (auto verbs = app.get_subcommands(); !verbs.empty(); verbs = verbs.front()->get_subcommands())
    words += " " + verbs.front()->get_name();
  return fmt::format("see `{} --help`", words);
}

// True if `dtsubmit submit` has the option, such as --partition, which `run` lacks.
bool is_of_submit(const std::string& name) {
  CLI::App app;
  Invocation unused;
  add_submit(app, unused);
  return app.get_subcommand("submit")->get_option_no_throw(name) != nullptr;
}

Error unknown_word(const CLI::App& app, const std::string& word) {
  const CLI::App* verb = chosen(app);
  const bool runs_programs = verb->get_name() == "submit" || verb->get_name() == "run";
  const bool takes_program =
      runs_programs || verb->get_name() == "plan" || verb->get_name() == "render";
  if (word.rfind('-', 0) == 0) {
    const std::string name = word.substr(0, word.find('='));
    if (const auto instead = spec::instead_of(name); instead && verb->get_name() == "submit")
      return {Errc::usage, fmt::format("`{}` is an option of sbatch only", name), *instead};
    if (const auto instead = spec::instead_of_srun(name); instead && verb->get_name() == "submit")
      return {Errc::usage, fmt::format("`{}` is an option of srun", name), *instead};
    if (const auto instead = spec::instead_of_launcher(name); instead && runs_programs)
      return {Errc::usage, fmt::format("`{}` is an option of other launchers", name), *instead};
    const auto similar = nearest(name, option_names(*verb));
    const bool is_elsewhere = verb->get_name() != "submit" && is_of_submit(name);
    return {Errc::usage,
            is_elsewhere
                ? fmt::format("`{}` is an option of `submit`, not of `{}`", name, verb->get_name())
                : fmt::format("unknown option `{}`", name),
            similar ? fmt::format("a similar option exists: `{}`", *similar) : see_help(app)};
  }
  const auto similar = nearest(word, command_names(*verb));
  if (similar)
    return {Errc::usage,
            fmt::format("unknown command `{}`", word),
            fmt::format("a similar command exists: `{}`", *similar)};
  return {
      Errc::usage,
      fmt::format("{} `{}`", verb == &app ? "there is no command" : "unexpected argument", word),
      takes_program || verb == &app ? help_for_stray_word(word) : see_help(app)};
}

Error bad_line(const CLI::App& app, const CLI::ParseError& error) {
  const auto extras = app.remaining(true);
  const bool has_verbs = !command_names(*chosen(app)).empty();
  if (error.get_name() == "RequiredError" && has_verbs && !extras.empty())
    return unknown_word(app, extras.front());
  return {Errc::usage, words_of(error, *chosen(app)), see_help(app)};
}

// `submit` is the default verb: dtsubmit --nodes 2 -- program, dtsubmit job.toml.
std::vector<std::string> with_verb(std::vector<std::string> words) {
  const std::vector<std::string> general{"-h", "--help", "--version"};
  if (words.empty() || std::find(general.begin(), general.end(), words.front()) != general.end())
    return words;
  if (words.front().rfind('-', 0) == 0 || is_job_file(words.front()))
    words.insert(words.begin(), "submit");
  return words;
}

// CLI11 compares each new option with all earlier ones, which takes more than a millisecond for the
// options of a job. Therefore, at first only the options named on the command line are set up.
// False: parse again with all of them, for --help or for an error message.
bool parses_by_named_options(std::vector<std::string> words, Invocation& invocation) {
  CLI::App app;
  invocation.named = words;
  add_verbs(app, words.front(), invocation);
  invocation.named.clear();
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes the last word first
    app.parse(words);
  } catch (const CLI::Error&) {
    invocation.action = nullptr;
  }
  return invocation.action != nullptr;
}

// Our version, and how the scheduler is reached.
std::string versions() {
  const auto way = plugin::scheduler_access();
  return fmt::format("dtsubmit {}\nscheduler: {}",
                     k_version,
                     way ? sched::to_text(*way) : "none: " + way.error().message);
}

Result<int> parse_and_act(std::vector<std::string> words, Invocation& invocation) {
  if (parses_by_named_options(words, invocation)) return invocation.action();
  CLI::App app("Take a distributed training job through Slurm and back, and lose nothing.",
               "dtsubmit");
  app.formatter(help_layout(Positionals::listed));
  app.set_version_flag("--version", versions, "print the versions of dtsubmit and Slurm and exit");
  app.require_subcommand(0, 1);
  app.set_help_flag("-h,--help", "print this help and exit");
  add_verbs(app, words.front(), invocation);
  app.footer(k_first_steps);  // after the verbs, which would inherit it otherwise
  try {
    std::reverse(words.begin(), words.end());
    app.parse(words);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ExtrasError&) {
    const auto extras = app.remaining(true);
    // Without a command, the options that follow are those of the one that was meant.
    if (chosen(app) == &app && !extras.empty() && extras.front().rfind('-', 0) != 0)
      return tl::unexpected<Error>(unknown_word(app, extras.front()));
    // The unknown option itself, not the value that follows it.
    const auto option = std::find_if(extras.begin(), extras.end(), [](const std::string& word) {
      return word.rfind('-', 0) == 0;
    });
    return tl::unexpected<Error>(unknown_word(app,
                                              option != extras.end() ? *option
                                              : extras.empty()       ? "?"
                                                                     : extras.front()));
  } catch (const CLI::ParseError& error) {
    return tl::unexpected<Error>(bad_line(app, error));
  }
  if (!invocation.action) {
    fmt::print("{}", app.help());
    return 0;
  }
  return invocation.action();
}

// What a job may be named by: `last`, and the ids and names of the newest runs.
std::vector<std::string> names_of_runs() {
  constexpr std::size_t k_most = 20;
  std::vector<std::string> names{"last"};
  auto entries = run::read_index().value_or(std::vector<run::Indexed>());
  std::reverse(entries.begin(), entries.end());
  if (entries.size() > k_most) entries.resize(k_most);
  for (const run::Indexed& entry : entries) {
    names.push_back(run::run_name({entry.folder}));
    if (!entry.job.empty()) names.push_back(entry.job.text());
  }
  return names;
}

Result<int> print_completions(const std::vector<std::string>& words) {
  CLI::App app;
  Invocation invocation;
  invocation.all_options = true;
  add_verbs(app, "", invocation);
  for (const std::string& word : completions(app, words, names_of_runs())) fmt::print("{}\n", word);
  return 0;
}

Result<int> dispatch(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  Invocation invocation;
  const auto separator = std::find(words.begin(), words.end(), "--");
  const bool has_command = separator != words.end();
  if (has_command) invocation.command.assign(separator + 1, words.end());
  words.erase(separator, words.end());
  if (const auto all = std::find(words.begin(), words.end(), "--help-all"); all != words.end()) {
    invocation.all_options = true;
    *all = "--help";
  }
  // The verbs used inside a job start once per rank, so they skip setting up the whole command
  // line.
  if (is_inside_verb(words)) return run_inside_verb(words, invocation.command);
  if (words.size() == 1 && words.front() == "complete" && has_command)
    return print_completions(invocation.command);
  if (words.empty()) words = {has_command ? "submit" : "--help"};
  return parse_and_act(with_bare_values(with_verb(std::move(words))), invocation);
}

// A script that a full disk truncated must not look complete. An error may also be of an earlier
// flush, as of std::cout by CLI11, whose errno is lost.
Result<void> check_output() {
  const std::string problem = "cannot write to standard output";
  if (std::fflush(stdout) != 0) return fail_errno(problem);
  if (std::ferror(stdout) != 0) return fail(Errc::io, problem, "is its disk full?");
  return {};
}

// If a standard stream is closed, the next opened file gets its number, and messages would be
// written into that file. Replaces such a stream by one that fails.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) [[maybe_unused]]
      const int held = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int run(int argc, char** argv) {
  hold_standard_streams();
  ::signal(SIGPIPE, SIG_DFL);
  try {
    auto result = dispatch(argc, argv);
    if (const auto written = check_output(); result && !written)
      result = tl::unexpected<Error>(written.error());
    if (result) return *result;
    report(result.error());
    return exit_code(result.error().code);
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) {
      report(Error{Errc::io, std::string("cannot write to standard output: ") + error.what(), ""});
      return exit_code(Errc::io);
    }
    report(Error{Errc::internal,
                 fmt::format("a bug in dtsubmit {}: {}", k_version, error.what()),
                 "please report it with the command you typed"});
    return exit_code(Errc::internal);
  }
}

}  // namespace dts::cli
