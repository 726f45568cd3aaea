// SPDX-License-Identifier: Apache-2.0
#include "core/lint/rules/facts.hpp"

#include "core/base/text/signal_name.hpp"
#include "core/base/text/text.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>

namespace dts::lint {
namespace {

// Programs that end within a moment and whose failure loses nothing, also under srun.
constexpr std::string_view k_quick[] = {
    "cat",    "chmod", "cp",     "curl",     "date",   "dcgmi", "df",      "docker",     "echo",
    "env",    "find",  "free",   "hostname", "ip",     "kill",  "killall", "ldd",        "ln",
    "ls",     "lscpu", "lsmod",  "mkdir",    "module", "mv",    "numactl", "nvidia-smi", "pip",
    "pip3",   "pkill", "podman", "printenv", "printf", "ps",    "rm",      "rocm-smi",   "rsync",
    "sbcast", "sed",   "sleep",  "ssh",      "stat",   "sudo",  "sync",    "sysctl",     "tar",
    "test",   "touch", "true",   "uname",    "unzip",  "wget",  "which",   "whoami",     "xargs"};

bool is_quick(const std::string& program) {
  return std::find(std::begin(k_quick), std::end(k_quick), program) != std::end(k_quick);
}

// False for python -c, python -m venv, python --version and the like.
bool is_python_script(const Run& run) {
  for (std::size_t i = run.launch.program_at + 1; i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    if (!word.starts_with('-')) return word.ends_with(".py");
    if (word == "-c" || word == "-V" || word == "--version") return false;
    if (word == "-m" && i + 1 < run.words.size()) {
      const std::string& module = run.words[i + 1].value.text;
      return module != "venv" && module != "virtualenv" && module != "pip" &&
             module != "ensurepip" && module != "ipykernel";
    }
  }
  return false;
}

// "-euo" has e.
bool has_letter(std::string_view word, char letter) {
  return word.size() > 1 && word[0] == '-' && word[1] != '-' &&
         word.find(letter) != std::string_view::npos;
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

bool sets(const Run& run, std::string_view option) {
  if (run.name() != "set" && run.name() != "shopt") return false;
  for (std::size_t i = 1; i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    if (word == option || (option == "errexit" && has_letter(word, 'e'))) return true;
  }
  return false;
}

}  // namespace

bool is_work(const Run& run) {
  const Launch& launch = run.launch;
  if (launch.program_at >= run.words.size() || is_quick(launch.program)) return false;
  if (is_python(launch.program) && !launch.starts_processes && !is_python_script(run)) {
    // With a module, or a file in a variable, only a launcher makes it work.
    const std::size_t next = launch.program_at + 1;
    if (next >= run.words.size()) return false;
    const std::string& word = run.words[next].value.text;
    if (word.starts_with('-') && !word.starts_with("-u")) return false;
    return launch.launcher != Launcher::none;
  }
  return launch.launcher == Launcher::srun || launch.launcher == Launcher::mpirun ||
         launch.starts_processes || is_python(launch.program);
}

std::vector<const Run*> work_of(const Subject& subject) {
  std::vector<const Run*> all = subject.launches();
  all.erase(std::remove_if(all.begin(), all.end(), [](const Run* run) { return !is_work(*run); }),
            all.end());
  return all;
}

std::vector<const Run*> outer_work_of(const Subject& subject) {
  std::vector<const Run*> found;
  const Run* outer = nullptr;  // the command whose text is being examined
  for (const Run& run : subject.runs.runs) {
    if (run.around.inner == 0) outer = run.runs_script && is_launch(run) ? &run : nullptr;
    const bool counts = is_launch(run) && is_work(run) && !run.runs_script;
    if (counts && run.around.inner == 0) found.push_back(&run);
    if (!counts || run.around.inner == 0 || outer == nullptr) continue;
    found.push_back(outer);
    outer = nullptr;
  }
  return found;
}

bool turns_on(const Subject& subject, std::string_view option) {
  const std::string_view line = first_line(subject.text);
  if (line.starts_with("#!"))
    for (const std::string& word : split(line, ' '))
      if (word == option || (option == "errexit" && has_letter(word, 'e'))) return true;
  const auto& runs = subject.runs.runs;
  return std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
    return run.around.inner == 0 && sets(run, option);
  });
}

Edit line_before_commands(const Subject& subject, const std::string& line) {
  const std::size_t at = subject.header.end;
  const bool is_line_begin = at == 0 || subject.text[at - 1] == '\n';
  return {{at, at}, (is_line_begin ? "" : "\n") + line + "\n"};
}

std::string_view line_at(std::string_view text, std::size_t at) {
  const std::size_t begin = text.substr(0, at).rfind('\n') + 1;  // npos + 1 is 0
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::optional<std::uint64_t> written_number(const Value& value) {
  return parse_number(trim(value.text));
}

std::string signal_word(std::string_view text) {
  if (const auto number = parse_number(text)) {
    const char* name = *number < 65 ? signal_name(static_cast<int>(*number)) : nullptr;
    return name == nullptr ? "" : name;
  }
  std::string name(text);
  for (char& c : name)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (int signal = 1; signal < 32; ++signal)
    if (const char* known = signal_name(signal); known != nullptr && name == known) return name;
  return "";
}

std::optional<AskedSignal> asked_signal(const Subject& subject) {
  const Directive* directive = subject.directive("signal");
  if (directive == nullptr) return std::nullopt;
  AskedSignal asked;
  asked.span = directive->span;
  std::string_view text = directive->value;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    asked.is_for_shell = in_lower_case(text.substr(0, colon)).find('b') != std::string::npos;
    text.remove_prefix(colon + 1);
  }
  asked.name = signal_word(text.substr(0, text.find('@')));
  if (asked.name.empty()) return std::nullopt;
  return asked;
}

std::vector<const Run*> traps_for(const Subject& subject, std::string_view signal) {
  std::vector<const Run*> found;
  for (const Run& run : subject.runs.runs) {
    if (run.name() != "trap" || run.words.size() < 3) continue;
    const std::string& action = run.words[1].value.text;
    if (action == "-" || action.starts_with("-l") || action.starts_with("-p")) continue;
    for (std::size_t i = 2; i < run.words.size(); ++i)
      if (signal_word(run.words[i].value.text) == signal) {
        found.push_back(&run);
        break;
      }
  }
  return found;
}

const Run* own_requeue(const Subject& subject) {
  for (const Run& run : subject.runs.runs) {
    if (base_name(run.name()) == "scontrol" && run.words.size() > 1 &&
        run.words[1].value.text == "requeue")
      return &run;
    if (run.name() == "trap" && run.words.size() > 1 &&
        run.words[1].value.text.find("scontrol requeue") != std::string::npos)
      return &run;
  }
  return nullptr;
}

}  // namespace dts::lint
