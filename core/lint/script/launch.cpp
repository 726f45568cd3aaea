// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/launch.hpp"

#include "core/base/text/text.hpp"
#include "core/lint/script/launch_options.hpp"
#include "core/lint/script/sbatch_options.hpp"

#include <algorithm>
#include <iterator>

namespace dts::lint {
namespace {

using Words = std::vector<ExpandedWord>;

constexpr std::string_view k_mpi[] = {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun"};
constexpr std::string_view k_others[] = {"pdsh",
                                         "ssh",
                                         "clush",
                                         "ibrun",
                                         "aprun",
                                         "jsrun",
                                         "horovodrun",
                                         "parallel",
                                         "blaunch",
                                         "prun",
                                         "runjob",
                                         "dtsubmit"};
constexpr std::string_view k_process_starters[] = {"torchrun", "deepspeed", "composer"};
// Programs whose arguments end in another command, after options of their own.
constexpr std::string_view k_wrappers[] = {
    "apptainer", "catchsegv", "charliecloud", "ch-run",  "conda",    "docker",      "enroot",
    "env",       "exec",      "flock",        "ltrace",  "mamba",    "micromamba",  "mprof",
    "ncu",       "nice",      "nohup",        "nsys",    "numactl",  "pixi",        "podman",
    "poetry",    "rocprof",   "run",          "scalene", "shifter",  "singularity", "stdbuf",
    "strace",    "taskset",   "time",         "timeout", "unbuffer", "uv",          "xvfb-run"};
// Programs that are recognised after a wrapper's options.
constexpr std::string_view k_programs[] = {"accelerate",
                                           "bash",
                                           "composer",
                                           "deepspeed",
                                           "julia",
                                           "lightning",
                                           "mpiexec",
                                           "mpirun",
                                           "sh",
                                           "srun",
                                           "torchrun"};

bool is_known_program(const std::string& name) {
  return is_one_of(k_programs, name) || is_python(name) || name.ends_with(".py") ||
         name.ends_with(".sh");
}

// $BIN/solver, $(pwd)/solver: options are no path.
bool is_path(const std::string& word) {
  return word.starts_with(k_unknown) &&
         (word.find("}/") != std::string::npos || word.find(")/") != std::string::npos);
}

// $1, "$@"
bool is_argument(const std::string& word) {
  if (!word.starts_with(k_unknown)) return false;
  std::string name = word.substr(1);
  std::erase_if(name,
                [](char c) { return std::string_view("${}").find(c) != std::string_view::npos; });
  return name == "@" || name == "*" || parse_number(name).has_value();
}

bool is_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && equals > 0 && word[0] != '-' &&
         word.find_first_of("/ \t") > equals;
}

class LaunchReader {
 public:
  LaunchReader(const Words& words, Launch& launch) : words_(words), launch_(launch) {}

  void read() {
    while (at_ < words_.size() && skip_wrapper()) {
    }
    launch_.program_at = at_;
    if (at_ >= words_.size()) return;
    const std::string name = base_name(text());
    if (launch_.launcher != Launcher::none) {
      launch_.program = name;
    } else if (is_launcher(name)) {
      launch_.launcher = name == "srun" ? Launcher::srun : Launcher::mpirun;
      launch_.launcher_at = at_++;
      name == "srun" ? read_srun_options() : read_mpi_options();
      launch_.command_at = at_;
      return read();
    } else if (is_one_of(k_others, name)) {
      launch_.launcher = Launcher::other;
      launch_.launcher_at = at_;
      find_program();
    }
    launch_.program_at = at_;
    if (at_ >= words_.size()) return;
    launch_.program = base_name(text());
    launch_.starts_processes = starts_processes();
  }

 private:
  [[nodiscard]] const std::string& text() const { return words_[at_].value.text; }

  // False if the word is the program.
  bool skip_wrapper() {
    if (is_assignment(text())) {
      ++at_;
      return true;
    }
    if (may_be_nothing()) {
      ++at_;
      return true;
    }
    if (!is_one_of(k_wrappers, base_name(text()))) return false;
    const std::size_t wrapper = at_++;
    find_program();
    if (at_ < words_.size()) return true;
    // No known word follows: the program is the first word that is not an option.
    at_ = wrapper + 1;
    while (at_ < words_.size() && (text().starts_with('-') || is_assignment(text()))) ++at_;
    if (at_ < words_.size()) return false;
    at_ = wrapper;
    return false;
  }

  // True for a word that may expand to nothing: ${DRY_RUN} srun ... (empty, or echo).
  [[nodiscard]] bool may_be_nothing() const {
    const ExpandedWord& word = words_[at_];
    if (word.is_literal || at_ + 1 >= words_.size()) return false;
    return (!word.value.is_certain || !word.value.is_known()) &&
           is_launcher(words_[at_ + 1].value.text);
  }

  void find_program() {
    while (at_ < words_.size() && !is_known_program(base_name(text()))) ++at_;
  }

  void add_option(std::string name, std::string value, shell::Span span) {
    launch_.options.push_back({std::move(name), std::move(value), span});
  }

  void read_srun_options() {
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = text();
      if (word == ":") continue;  // begins the next component of a heterogeneous step
      if (word == "--") {
        ++at_;
        return;
      }
      if (word.starts_with(k_unknown)) {
        if (is_program()) return;
        pass_unknown();
      } else if (word.starts_with("--")) {
        read_long(word.substr(2), true);
      } else if (word.size() > 1 && word[0] == '-') {
        read_letter(word);
      } else {
        return;
      }
    }
    return_to_unknown();
  }

  // Of a word that is not known, among the launcher's options.
  [[nodiscard]] bool is_program() const {
    if (at_ + 1 >= words_.size() || is_path(text())) return true;
    return is_argument(text()) && !is_known_program(base_name(words_[at_ + 1].value.text));
  }

  void pass_unknown() {
    last_unknown_ = at_;
    before_unknown_ = launch_;
    launch_.has_unknown_options = true;
  }

  // Everything behind the unknown word looks like options: they are those of a program.
  void return_to_unknown() {
    if (last_unknown_ == 0) return;
    launch_ = std::move(before_unknown_);
    at_ = last_unknown_;
  }

  void read_long(const std::string& word, bool is_srun) {
    const shell::Span span = words_[at_].span;
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals != std::string::npos)
      add_option(name, word.substr(equals + 1), span);
    else if ((is_srun && is_srun_flag(name)) || at_ + 1 >= words_.size())
      add_option(name, "", span);
    else
      add_option(name, words_[++at_].value.text, span);
  }

  void read_letter(const std::string& word) {
    const shell::Span span = words_[at_].span;
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string name = srun_option_name(word[i]);
      if (is_srun_flag(word[i])) {
        const bool has_value = word[i] == 'K' && i + 1 < word.size();
        add_option(name, has_value ? word.substr(i + 1) : "", span);
        if (has_value) return;
        continue;
      }
      std::string value = word.substr(i + 1);
      if (value.empty() && at_ + 1 < words_.size()) value = words_[++at_].value.text;
      add_option(name, value, span);
      return;
    }
  }

  // mpirun has too many options to know which take a value: numbers and unknown words are values.
  void read_mpi_options() {
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = text();
      if (word == "--") {
        ++at_;
        return;
      }
      if (word.starts_with(k_unknown)) {
        if (is_program()) return;
        pass_unknown();
        continue;
      }
      if (word.size() < 2 || word[0] != '-') return;
      const std::size_t equals = word.find('=');
      std::string name = word.substr(word[1] == '-' ? 2 : 1);
      if (equals != std::string::npos) {
        add_option(name.substr(0, name.find('=')), word.substr(equals + 1), words_[at_].span);
        continue;
      }
      const bool has_pair = at_ + 1 < words_.size() && name.ends_with("env") &&
                            is_assignment(words_[at_ + 1].value.text);  // -genv NAME=value
      const std::size_t values = has_pair ? 1 : values_of_mpirun_option(name);
      std::string value = values > 0 && at_ + 1 < words_.size() ? words_[at_ + 1].value.text : "";
      add_option(name, value, words_[at_].span);
      at_ = std::min(at_ + values, words_.size() - 1);
    }
    return_to_unknown();
  }

  [[nodiscard]] bool starts_processes() const {
    if (is_one_of(k_process_starters, launch_.program)) return true;
    if (launch_.program == "accelerate")
      return at_ + 1 < words_.size() && words_[at_ + 1].value.text == "launch";
    if (!is_python(launch_.program)) return false;
    for (std::size_t i = at_ + 1; i + 1 < words_.size(); ++i) {
      const std::string& word = words_[i].value.text;
      if (word == "-m") {
        const std::string& module = words_[i + 1].value.text;
        return module.starts_with("torch.distributed.") || module.starts_with("accelerate.") ||
               module == "deepspeed.launcher.runner";
      }
      if (!word.starts_with('-')) return false;
    }
    return false;
  }

  const Words& words_;
  Launch& launch_;
  std::size_t at_ = 0;
  std::size_t last_unknown_ = 0;  // 0: there is none, or the options end before their last word
  Launch before_unknown_;
};

}  // namespace

bool is_launcher(const std::string& word) {
  const std::string name = base_name(word);
  return name == "srun" || is_one_of(k_mpi, name);
}

const LaunchOption* Launch::option(std::string_view name) const {
  const auto found = std::find_if(
      options.begin(), options.end(), [name](const LaunchOption& one) { return one.name == name; });
  return found == options.end() ? nullptr : &*found;
}

Launch launch_of(const std::vector<ExpandedWord>& words) {
  Launch launch;
  LaunchReader(words, launch).read();
  return launch;
}

}  // namespace dts::lint
