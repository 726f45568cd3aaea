// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/remote.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/tools.hpp"
#include "core/shell/parse.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// A command that runs another one on other nodes.
struct Remote {
  std::string_view name;
  std::string_view with_value;  // letters of the options whose value may be a word of its own
  bool has_host;                // as the first word that is no option
};

constexpr Remote k_remotes[] = {{"ssh", "BbcDEeFIiJLlmOoPpQRSWw", true},
                                {"pdsh", "wxgltufR", false},
                                {"clush", "wxgXltufoOR", false}};

constexpr std::string_view k_starters[] = {
    "torchrun", "accelerate", "deepspeed", "composer", "horovodrun"};

// True for timeout 9 killall python, where a wrapper's program is not the one that it names.
bool only_names_program(const lint::Run& run) {
  constexpr std::string_view k_by_name[] = {"killall", "pgrep", "pkill", "type", "which"};
  const std::size_t end = std::min(run.launch.program_at, run.words.size());
  for (std::size_t i = 0; i < end; ++i)
    if (is_one_of(k_by_name, run.words[i].value.text)) return true;
  return false;
}

// True if the value of this option is the next word: -p, -tp; not -p22.
bool has_next_word(const std::string& option, std::string_view with_value) {
  return !option.starts_with("--") && option.find_first_of(with_value) == option.size() - 1;
}

// $HOST behind $OPTIONS; not "$PREFIX/bin/python train.py".
bool may_be_host(const std::string& word) {
  return word.starts_with(lint::k_unknown) && word.find_first_of(" /") == std::string::npos;
}

// "cd x && ./prog" of ssh -p 22 HOST "cd x && ./prog", as the other node's shell gets it.
std::string remote_text(const lint::Run& run, const Remote& remote) {
  std::string text;
  bool is_behind = !remote.has_host;
  for (std::size_t i = 1; i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    if (!text.empty())
      text += " " + word;
    else if (word.starts_with('-'))
      i += has_next_word(word, remote.with_value) ? 1 : 0;
    else if (!is_behind || (remote.has_host && may_be_host(word)))
      is_behind = true;
    else
      text = word;
  }
  return text;
}

}  // namespace

bool trains_elsewhere(const lint::Run& run) {
  const auto* const remote =
      std::find_if(std::begin(k_remotes), std::end(k_remotes), [&run](const Remote& one) {
        return one.name == lint::base_name(run.name());
      });
  if (remote == std::end(k_remotes)) return false;
  const std::string text = remote_text(run, *remote);
  const shell::Script script = shell::parse(text);
  const lint::Runs inner = lint::runs_of(script, text);
  return std::any_of(inner.runs.begin(), inner.runs.end(), [](const lint::Run& one) {
    if (one.words.empty() || asks_version(one) || only_names_program(one)) return false;
    const lint::Launch& launch = one.launch;
    return launch.launcher == lint::Launcher::srun || launch.launcher == lint::Launcher::mpirun ||
           is_one_of(k_starters, launch.program) || lint::is_python(launch.program) ||
           lint::base_name(one.name()) == "horovodrun";
  });
}

}  // namespace dts::convert
