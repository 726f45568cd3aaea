// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/check_program.hpp"

#include "cli/output/report.hpp"
#include "cli/output/script_note.hpp"
#include "core/base/files/files.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/container/container.hpp"
#include "core/plan/program/own_launcher.hpp"
#include "core/plan/program/script_file.hpp"
#include "core/spec/parts.hpp"
#include "core/spec/stage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dts::cli {
namespace {

void warn_with(const std::string& message, const std::string& hint) {
  warn(hint.empty() ? message : fmt::format("{} ({})", message, hint));
}

// The program on PATH that the user may have meant.
std::optional<std::string> nearest_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::vector<std::string> programs;
  for (const std::string& folder : split(path != nullptr ? path : "", ':'))
    for (std::string& file : list_folder(folder))
      if (::access((folder + "/" + file).c_str(), X_OK) == 0) programs.push_back(std::move(file));
  return nearest(name, programs);
}

// Checks the container's image instead of the program inside it.
std::optional<Diagnostic> problem_of_image(const spec::Container& container, Reach reach) {
  const std::string& image = container.image;
  if (image.starts_with('/') && !exists(image)) {
    if (reach == Reach::here)
      return Diagnostic{"--container", "no image " + image, "is the path right?"};
    warn_with("no image " + image + " on this machine", "do the nodes have it?");
    return std::nullopt;
  }
  std::error_code failed;
  const auto kind = launch::read_image(image, std::filesystem::is_directory(image, failed)).kind;
  if (container.runtime == spec::ContainerRuntime::automatic) return std::nullopt;
  if (const auto fit = launch::accepts(container.runtime, kind, container.mounts); !fit)
    return Diagnostic{"--container-runtime", fit.error().message, fit.error().hint};
  return std::nullopt;
}

// A bare program name cannot be checked here if the set-up changes the nodes' PATH.
bool is_found_by_set_up(const spec::JobSpec& spec) {
  const bool sets_up =
      !spec.modules.empty() || !spec.conda.empty() || !spec.venv.empty() || !spec.setup.empty();
  return sets_up && spec.command[0].find('/') == std::string::npos;
}

// Of a simple command: without words such as `then` before it.
std::vector<std::string> words_of_command(std::string text) {
  constexpr std::string_view k_keywords[] = {
      "", "then", "do", "else", "if", "elif", "while", "!", "time", "{"};
  std::erase_if(text, [](char c) { return c == '"' || c == '\''; });
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::vector<std::string> words = split(text, ' ');
  words.erase(words.begin(), std::find_if(words.begin(), words.end(), [&](const std::string& one) {
                return !is_one_of(k_keywords, one);
              }));
  std::erase(words, "");
  return words;
}

// cp, mv: where their files go to; a variable may be any place.
bool is_place_of(const std::string& to, const std::filesystem::path& file) {
  const std::filesystem::path place = (std::filesystem::path(to) / "").lexically_normal();
  const std::filesystem::path made = ("." / file).lexically_normal();
  return to.find('$') != std::string::npos || place == made / "" ||
         place == ("." / made.parent_path() / "").lexically_normal();
}

// gcc a.c -o prog, chmod +x ./prog, cat > prog: the command with a word of `file` at line[at].
bool may_make(const std::string& line, std::size_t at, const std::filesystem::path& file) {
  constexpr std::string_view k_make_none[] = {"module",
                                              "ml",
                                              "source",
                                              ".",
                                              "cd",
                                              "pushd",
                                              "export",
                                              "unset",
                                              "echo",
                                              "#",
                                              "printf",
                                              "cat",
                                              "ls",
                                              "rm",
                                              "conda",
                                              "which",
                                              "alias",
                                              "exec"};
  constexpr std::string_view k_copiers[] = {"cp", "mv", "ln", "install", "rsync"};
  const std::size_t begin = line.find_last_of("\n;&|()", at) + 1;  // 0 if there is none
  const std::size_t word = line.find_last_of(" \t\n;&|()<>", at) + 1;
  const std::vector<std::string> before = words_of_command(line.substr(begin, word - begin));
  if (before.empty()) return false;  // it runs the file
  if (before.back().ends_with('>')) return true;
  if (!is_one_of(k_copiers, before.front())) return !is_one_of(k_make_none, before.front());
  std::size_t end = std::min(line.find_first_of("\n;&|()<>", at), line.size());
  if (end < line.size() && line[end] == '>' && line[end - 1] == '2') --end;  // 2>/dev/null
  const auto words = words_of_command(line.substr(begin, end - begin));
  return is_place_of(words.back(), file);
}

bool is_made_by(const std::vector<std::string>& lines, const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  };
  const auto makes = [&](const std::string& line) {
    for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      const bool is_name = (at == 0 || !is_of_word(line[at - 1])) &&
                           (end == line.size() || (!is_of_word(line[end]) && line[end] != '/'));
      if (is_name && may_make(line, at, file)) return true;
    }
    return false;
  };
  return !name.empty() && std::any_of(lines.begin(), lines.end(), makes);
}

// What to write in place of `name`, which cannot be run.
std::string hint_for(const std::string& name, const Error& error) {
  if (std::string help = help_for_batch_script(name); !help.empty()) return help;
  if (error.code != Errc::not_found || name.find('/') != std::string::npos) return error.hint;
  if (name == "dttrain")
    return "it is the trainer of dtsubmit: install the package dttrain, or build with "
           "-DDTSUBMIT_TRAINER=ON";
  if (exists(name))
    return fmt::format("it is a file in this folder: ./{0}, or name what runs it: python3 {0}",
                       name);
  const auto near = nearest_program(name);
  return fmt::format("{} A program that only the nodes have needs its full path",
                     near ? fmt::format("did you mean `{}`?", *near) : "is it installed?");
}

// A script that does not exist would end every rank, after the wait in the queue.
void warn_of_script(const std::vector<std::string>& command) {
  const auto script = plan::script_file(command);
  if (!script || exists(*script)) return;
  if (script->find('{') != std::string::npos) return;  // of a sweep's parameter
  warn_with(fmt::format("no file {} on this machine", *script),
            "is the path right? do the nodes have it?");
}

// A launcher that names its hosts reaches them by ssh, whatever nodes the job gets.
void warn_of_hosts(const std::vector<std::string>& command) {
  const plan::OwnLauncher launcher = plan::find_own_launcher(command);
  if (launcher.kind != plan::OwnLauncher::Kind::node) return;
  const auto hosts = plan::option_of(launcher, "--hostfile --hosts -H");
  const bool is_here = hosts && (hosts->starts_with("localhost") || hosts->starts_with("127."));
  if (hosts && !is_here)
    warn_with(fmt::format("{} starts processes on the hosts that {} names, outside of the job "
                          "unless they are its nodes",
                          launcher.name,
                          shell_quote(*hosts)),
              "omit that option: without it, only the job's node is used");
}

// The problem with the program, if any; warnings are printed at once. `before`: commands that run
// before it, besides its set-up.
std::optional<Diagnostic> problem_of(const spec::JobSpec& spec,
                                     Reach reach,
                                     const std::vector<std::string>& before = {}) {
  if (spec.command.empty() || spec.command[0].empty()) return std::nullopt;
  if (!spec.container.image.empty()) return problem_of_image(spec.container, reach);
  warn_of_script(spec.command);
  warn_of_hosts(spec.command);
  if (is_found_by_set_up(spec)) return std::nullopt;
  const std::string& name = spec.command[0];
  const auto found = resolve_program(name);
  if (found) return std::nullopt;
  if (is_made_by(spec.setup, name) || is_made_by(before, name)) {
    warn_with(found.error().message + " on this machine", "does the job make it?");
    return std::nullopt;
  }
  const bool is_missing = found.error().code == Errc::not_found;
  std::error_code failed;
  // The Python of an environment may be a link to one that only the nodes have.
  const bool is_nodes = name.starts_with('/') || std::filesystem::is_symlink(name, failed);
  const bool may_be_there = reach == Reach::elsewhere || (reach == Reach::nodes && is_nodes);
  if (is_missing && may_be_there) {
    warn_with(found.error().message + " on this machine", "do the nodes have it?");
    return std::nullopt;
  }
  const char* const where = is_missing && reach == Reach::nodes ? " on this machine" : "";
  return Diagnostic{"command", found.error().message + where, hint_for(name, found.error())};
}

void check_source(const std::string& source, Asked& asked, Reach reach) {
  if (::access(source.c_str(), R_OK) == 0) return;
  const std::string words = fmt::format("{}: {}", source, std::strerror(errno));
  if (reach == Reach::here)
    asked.problems.push_back({"--stage", words, "is the path right?"});
  else
    warn(fmt::format("--stage {} on this machine (do the nodes have it?)", words));
}

// An intended file that does not exist would run as a line of bash, on each node.
void warn_of_files(const char* option,
                   const std::vector<std::string>& lines,
                   std::set<std::string>& seen) {
  for (const std::string& line : lines) {
    if (!seen.insert(option + line).second) continue;
    const bool is_one_word = line.find_first_of(" \t\n$~;&|<>(){}*?'\"\\=") == std::string::npos;
    const bool is_path = line.find('/') != std::string::npos || line.ends_with(".sh");
    if (is_one_word && is_path && !exists(line))
      warn_with(
          fmt::format("{}: no file {} on this machine, so it is a line of bash", option, line),
          "is the path right?");
  }
}

// Parts inherit what they do not set, and each file is reported once.
void warn_of_set_up(const spec::JobSpec& spec) {
  std::set<std::string> seen;
  const auto warn_of = [&](const spec::JobSpec& job) {
    warn_of_files("--setup", job.setup, seen);
    warn_of_files("--teardown", job.teardown, seen);
    const std::string activate = job.venv + "/bin/activate";
    if (!job.venv.empty() && job.container.image.empty() && seen.insert(activate).second &&
        !exists(activate))
      warn_with(fmt::format("--venv: no file {} on this machine", activate),
                "is it a virtual environment's folder? do the nodes have it?");
  };
  warn_of(spec);
  for (const spec::Part& part : spec::parts_of(spec)) warn_of(part.job);
}

// Of the job and of its parts, each with the words that name the part.
std::vector<std::pair<std::string, Diagnostic>> problems_of(const spec::JobSpec& spec,
                                                            Reach reach) {
  std::vector<std::pair<std::string, Diagnostic>> problems;
  if (auto problem = problem_of(spec, reach)) problems.emplace_back("", *std::move(problem));
  std::vector<std::string> before;
  for (const spec::Part& part : spec::parts_of(spec)) {
    if (auto problem = problem_of(part.job, reach, before))
      problems.emplace_back(words_of(spec, part) + ": ", *std::move(problem));
    if (!spec.steps.empty()) before.push_back(join(part.job.command, " "));
  }
  return problems;
}

}  // namespace

void check_program(Asked& asked, Reach reach) {
  warn_of_set_up(asked.spec);
  for (auto& [part, problem] : problems_of(asked.spec, reach)) {
    problem.where = part + problem.where;
    asked.problems.push_back(std::move(problem));
  }
}

void warn_of_program(const spec::JobSpec& spec) {
  warn_of_set_up(spec);
  for (const auto& [part, problem] : problems_of(spec, Reach::nodes))
    warn_with(part + problem.message, problem.hint);
}

void check_stage(Asked& asked, Reach reach) {
  std::set<std::string> seen;
  const auto resolve_sources = [&](spec::JobSpec& job) {
    for (std::string& text : job.stage) {
      auto item = spec::parse_stage_item(text);
      if (!item) continue;  // reported with the other options
      item->source = absolute_path(item->source);
      if (seen.insert(item->source).second) check_source(item->source, asked, reach);
      text = spec::to_text(*item);
    }
  };
  resolve_sources(asked.spec);
  for (auto* parts : {&asked.spec.steps, &asked.spec.roles})
    for (spec::Part& part : *parts) resolve_sources(part.job);
}

}  // namespace dts::cli
