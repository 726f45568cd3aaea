// SPDX-License-Identifier: Apache-2.0
#include "core/plan/layout/own_launcher.hpp"

#include "core/plan/layout/shell_words.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>

namespace dts::plan {
namespace {

using Kind = OwnLauncher::Kind;
using Words = std::span<const std::string>;

constexpr int k_deepest = 16;  // programs that run programs

struct Launcher {
  std::string_view program;  // its file's name, or "-m MODULE" of Python
  std::string_view verb;     // the subcommand that makes it a launcher; empty: it always is one
  Kind kind;
};

constexpr Launcher k_launchers[] = {
    {"torchrun", "", Kind::torchrun},
    {"-m torch.distributed.run", "", Kind::torchrun},
    {"-m torch.distributed.launch", "", Kind::torchrun},
    {"torchrun_xpu", "", Kind::torchrun},
    {"accelerate", "launch", Kind::other},
    {"accelerate-launch", "", Kind::other},
    {"-m accelerate.commands.launch", "", Kind::other},
    {"-m accelerate", "launch", Kind::other},
    {"deepspeed", "", Kind::other},
    {"-m deepspeed.launcher.runner", "", Kind::other},
    {"-m deepspeed.launcher.launch", "", Kind::other},
    {"colossalai", "run", Kind::other},
    {"horovodrun", "", Kind::other},
    {"-m horovod.runner", "", Kind::other},
    {"-m paddle.distributed.launch", "", Kind::other},
    {"fabric", "run", Kind::other},
    {"mpirun", "", Kind::other},
    {"mpiexec", "", Kind::other},
    {"orterun", "", Kind::other},
    {"prterun", "", Kind::other},
    {"srun", "", Kind::other},
};

// A program that runs the program in its words.
struct Wrapper {
  std::string_view program;
  std::string_view verb;  // "run" of `uv run`; empty: none
  // Options whose value is the next word.
  std::initializer_list<std::string_view> with_value;
  unsigned operands;  // words before the program: the image of a container
};

// Singularity and Apptainer are one program under two names.
const std::initializer_list<std::string_view> k_container_exec{"-B",
                                                               "--bind",
                                                               "--env",
                                                               "--env-file",
                                                               "--pwd",
                                                               "--cwd",
                                                               "-H",
                                                               "--home",
                                                               "-W",
                                                               "--workdir",
                                                               "--mount",
                                                               "-o",
                                                               "--overlay",
                                                               "-S",
                                                               "--scratch",
                                                               "--network",
                                                               "--app"};
const std::initializer_list<std::string_view> k_container_run{
    "-B", "--bind", "--env", "--pwd", "-H", "--home"};

const Wrapper k_wrappers[] = {
    {"env", "", {"-u", "--unset", "-C", "--chdir"}, 0},
    {"exec", "", {"-a"}, 0},
    {"command", "", {}, 0},
    {"time", "", {"-f", "-o", "--format", "--output"}, 0},
    {"nice", "", {"-n", "--adjustment"}, 0},
    {"ionice", "", {"-c", "-n", "--class", "--classdata"}, 0},
    {"nohup", "", {}, 0},
    {"setsid", "", {}, 0},
    {"stdbuf", "", {"-i", "-o", "-e"}, 0},
    {"timeout", "", {"-k", "-s", "--kill-after", "--signal"}, 1},
    {"numactl", "", {"-N", "-m", "-C", "-i", "-p"}, 0},
    {"taskset", "", {}, 1},
    {"chrt", "", {}, 1},
    {"xvfb-run", "", {"-n", "-s", "-e", "-f"}, 0},
    {"sudo", "", {"-u", "-g", "-E"}, 0},
    {"strace", "", {"-o", "-e", "-p", "-s"}, 0},
    {"catchsegv", "", {}, 0},
    {"uv",
     "run",
     {"-p",
      "--python",
      "--with",
      "--with-requirements",
      "--with-editable",
      "--project",
      "--directory",
      "--extra",
      "--group",
      "--only-group",
      "--no-group",
      "--env-file",
      "--package",
      "--index",
      "--index-url",
      "--cache-dir"},
     0},
    {"poetry", "run", {"-C", "--directory", "-P", "--project"}, 0},
    {"pipenv", "run", {}, 0},
    {"pdm", "run", {"-p", "--project"}, 0},
    {"hatch", "run", {"-e", "--env"}, 0},
    {"rye", "run", {}, 0},
    {"pixi", "run", {"-e", "--environment", "--manifest-path"}, 0},
    {"conda", "run", {"-n", "--name", "-p", "--prefix", "--cwd"}, 0},
    {"mamba", "run", {"-n", "--name", "-p", "--prefix", "--cwd"}, 0},
    {"micromamba",
     "run",
     {"-n", "--name", "-p", "--prefix", "--cwd", "-r", "--root-prefix", "-e", "--env"},
     0},
    {"singularity", "exec", k_container_exec, 1},
    {"apptainer", "exec", k_container_exec, 1},
    {"singularity", "run", k_container_run, 1},
    {"apptainer", "run", k_container_run, 1},
    {"ch-run", "", {"-b", "--bind", "-c", "--cd", "--set-env", "-d", "--home"}, 1},
    {"enroot", "start", {"-m", "--mount", "-e", "--env", "-c", "--conf"}, 1},
    {"shifter", "", {"--image", "-i", "--volume", "-V", "--module", "--workdir"}, 0},
    {"nsys",
     "profile",
     {"-o",
      "--output",
      "-t",
      "--trace",
      "-s",
      "--sample",
      "-c",
      "--capture-range",
      "-y",
      "--delay",
      "-d",
      "--duration",
      "-x",
      "-w",
      "--stats",
      "-f",
      "--force-overwrite",
      "-n",
      "-e",
      "-p",
      "-b"},
     0},
    {"ncu", "", {"-o", "--export", "-k", "--kernel-name", "-s", "-c", "--set", "--section"}, 0},
    {"rocprof", "", {"-i", "-o", "-d"}, 0},
    {"scalene", "", {"--outfile"}, 0},
    {"py-spy",
     "record",
     {"-o", "--output", "-f", "--format", "-r", "--rate", "-d", "--duration"},
     0},
};

std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);  // npos + 1 is 0
}

// "python", "python3", "python3.11", "pypy3"
bool is_named(std::string_view name, std::string_view stem) {
  return name.substr(0, stem.size()) == stem &&
         name.find_first_not_of("0123456789.", stem.size()) == std::string_view::npos;
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos) return false;
  const auto is_of_name = [](unsigned char c) {
    return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  };
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_of_name);
}

// The index at which the program begins in the words after a wrapper's name; words.size(): nowhere.
std::size_t skip_options(Words words,
                         std::size_t at,
                         std::initializer_list<std::string_view> with_value,
                         unsigned operands) {
  const auto takes_value = [&](const std::string& word) {
    return std::find(with_value.begin(), with_value.end(), word) != with_value.end();
  };
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") continue;
    if (takes_value(word)) {
      ++at;
    } else if ((word.empty() || word[0] != '-') && !is_assignment(word)) {
      if (operands == 0) break;
      --operands;
    }
  }
  return std::min(at, words.size());
}

OwnLauncher launcher_in(Words words, int depth);

OwnLauncher behind(std::string wrapper, OwnLauncher found) {
  if (found.kind != Kind::none)
    found.wrapper = found.wrapper.empty() ? std::move(wrapper) : wrapper + " " + found.wrapper;
  return found;
}

// The launcher of that name in the table, followed by `rest`.
OwnLauncher in_table(const std::string& name, Words all, std::size_t rest) {
  for (const Launcher& known : k_launchers) {
    if (name != known.program) continue;
    if (!known.verb.empty() && (rest >= all.size() || all[rest] != known.verb)) continue;
    std::string shown = name.rfind("-m ", 0) == 0 ? "python " + name : name;
    if (!known.verb.empty()) shown += " " + std::string(known.verb);
    return {known.kind, std::move(shown), "", {all.begin(), all.end()}};
  }
  return {};
}

OwnLauncher launcher_of_python(Words words, int depth) {
  const std::initializer_list<std::string_view> k_with_value = {"-W", "-X", "-Q"};
  for (std::size_t i = 1; i < words.size() && words[i].size() > 1 && words[i][0] == '-'; ++i) {
    if (words[i] == "-c") return {};
    if (words[i] == "-m" && i + 1 < words.size())
      return in_table("-m " + words[i + 1], words, i + 2);
    if (std::find(k_with_value.begin(), k_with_value.end(), words[i]) != k_with_value.end()) ++i;
  }
  // python /usr/bin/torchrun
  const std::size_t script = skip_options(words, 1, k_with_value, 0);
  return script < words.size() ? launcher_in(words.subspan(script), depth + 1) : OwnLauncher{};
}

// bash -lc 'TEXT'; a shell script would have to be read.
OwnLauncher launcher_of_shell(Words words, int depth) {
  for (std::size_t i = 1; i + 1 < words.size() && !words[i].empty() && words[i][0] == '-'; ++i) {
    if (words[i].find('c') == std::string::npos || words[i].rfind("--", 0) == 0) continue;
    for (const std::vector<std::string>& command : shell_commands(words[i + 1]))
      if (OwnLauncher found = launcher_in(command, depth + 1); found.kind != Kind::none)
        return behind(std::string(file_name(words[0])) + " -c", std::move(found));
    return {};
  }
  return {};
}

OwnLauncher launcher_in(Words words, int depth) {
  while (!words.empty() && is_assignment(words.front())) words = words.subspan(1);
  if (words.empty() || depth > k_deepest) return {};
  const std::string name(file_name(words.front()));
  if (OwnLauncher found = in_table(name, words, 1); found.kind != Kind::none) return found;
  if (is_named(name, "python") || is_named(name, "pypy")) return launcher_of_python(words, depth);
  for (const std::string_view shell : {"sh", "bash", "dash", "zsh", "ksh"})
    if (name == shell) return launcher_of_shell(words, depth);
  for (const Wrapper& known : k_wrappers) {
    if (name != known.program) continue;
    std::size_t at = 1;
    if (!known.verb.empty()) {
      at = skip_options(words, 1, known.with_value, 0);
      if (at >= words.size() || words[at] != known.verb) continue;
      ++at;
    }
    at = skip_options(words, at, known.with_value, known.operands);
    std::string wrapper = name;
    if (!known.verb.empty()) wrapper += " " + std::string(known.verb);
    return behind(std::move(wrapper), launcher_in(words.subspan(at), depth + 1));
  }
  return {};
}

}  // namespace

OwnLauncher find_own_launcher(const std::vector<std::string>& command) {
  return launcher_in(command, 0);
}

}  // namespace dts::plan
