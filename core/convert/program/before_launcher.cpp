// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/before_launcher.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/tools.hpp"
#include "core/lint/script/program.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {
namespace {

// The name of $NAME or ${NAME}; empty: the word is something else.
std::string only_variable(const FlatWord& word) {
  if (word.size() != 1 || word[0].kind != Segment::Kind::source) return "";
  const Names names = used_names(word[0].text);
  if (names.size() != 1) return "";
  const std::string& name = *names.begin();
  return word[0].text == "$" + name || word[0].text == "${" + name + "}" ? name : "";
}

}  // namespace

void drop_dry_run(std::vector<FlatWord>& words,
                  const Resolver& resolver,
                  const lint::Runs& runs,
                  Launched& made) {
  const std::string name = words.size() < 2 ? "" : only_variable(words[0]);
  if (name.empty() || !lint::is_launcher(plain(words[1]).value_or(""))) return;
  bool is_set = false;
  for (const lint::Assigned& one : runs.assigned) {
    if (one.name != name) continue;
    const std::string value(trim(one.value.text));
    if (!value.empty() && value != "echo" && value != ":") return;
    is_set = true;
  }
  if (!is_set && resolver.variable(name)) return;
  words.erase(words.begin());
  made.notes.push_back(name + (is_set ? ": empty except in a dry run" : ": not set"));
}

void drop_devices(std::vector<FlatWord>& variables, Launched& made) {
  if (made.launcher != lint::Launcher::srun) return;
  constexpr std::string_view k_devices[] = {
      "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"};
  std::erase_if(variables, [&](const FlatWord& word) {
    const std::string text = word.empty() ? "" : word[0].text;
    const std::string name = text.substr(0, text.find('='));
    const bool is_device = name.size() < text.size() && is_one_of(k_devices, name);
    if (is_device)
      made.notes.push_back(name + ": each rank has GPUs of its own, as in a step of srun");
    return is_device;
  });
}

void read_before(const std::vector<FlatWord>& words, std::size_t count, Launched& made) {
  std::vector<std::string> skipped;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string word = plain(words[i]).value_or("");
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && equals > 0 && word[0] != '-' && word.find('/') > equals) {
      made.variables.push_back(words[i]);
    } else if (word == "timeout") {
      made.notes.emplace_back("timeout: the run knows its time limit, and saves before it");
      while (i + 1 < count) ++i;
    } else if (word == "/usr/bin/time" || word == "time") {
      made.notes.emplace_back("time: the run directory has the times");
      while (i + 1 < count) ++i;
    } else if (word != "exec" && word != "nohup" && word != "env" && word != "command") {
      skipped.push_back(to_source(words[i]));
    }
  }
  if (skipped.empty()) return;
  constexpr std::string_view k_containers[] = {
      "singularity", "apptainer", "docker", "podman", "shifter"};
  made.losses.push_back(fmt::format(
      "`{}` before the launcher is not run{}",
      join(skipped, " "),
      is_one_of(k_containers, lint::base_name(skipped[0]))
          ? ": write the image as `container`, in which each rank's program is then started"
          : ""));
}

bool is_prefix_of_shell(std::string_view name) {
  return name == "exec" || name == "command";
}

bool only_runs_next(const std::vector<FlatWord>& words) {
  if (words.empty()) return false;
  const std::string name = plain(words[0]).value_or("");
  const std::string next = words.size() > 1 ? plain(words[1]).value_or("") : "";
  return (is_prefix_of_shell(name) || name == "time") && !next.starts_with('-');
}

bool is_for_shell(const shell::Command& one) {
  const std::string name = first_word(one);
  const std::string next = one.words.size() > 1 ? literal_of(one.words[1]) : "";
  if (name == "conda") return next == "activate" || next == "deactivate";
  return is_command_of_shell(name) || (is_prefix_of_shell(name) && next.starts_with('-'));
}

}  // namespace dts::convert
