// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/signature.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/known/node_values.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// What the launcher of a program on one node says of output and names makes it no other program.
constexpr std::string_view k_of_no_program[] = {
    "nodelist", "relative", "output", "error", "input", "container-name", "job-name", "open-mode"};

bool overlap(const Span& a, const Span& b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

const shell::Command* command_of_program(const Item& item) {
  if (item.statement->pipelines.size() != 1) return nullptr;
  const shell::Command& command = item.statement->pipelines[0].commands[0];
  return command.kind == shell::Command::Kind::simple ? &command : nullptr;
}

std::size_t begin_of_program(const lint::Run& run) {
  return run.launch.command_at < run.words.size() ? run.words[run.launch.command_at].span.begin
                                                  : run.span.end;
}

std::pair<std::string, Names> signature_of(const Item& item, const std::vector<Span>& but) {
  const shell::Command* command = command_of_program(item);
  if (command == nullptr || item.mains.size() != 1) return {};
  const lint::Run& run = *item.mains[0];
  std::vector<Span> left_out = but;
  for (const lint::LaunchOption& one : run.launch.options)
    if (is_one_of(k_of_no_program, one.name)) left_out.push_back(one.span);
  const std::string& source = item.source;
  std::string text;
  const auto add = [&](const Span& span) {
    const bool is_out = std::any_of(
        left_out.begin(), left_out.end(), [&](const Span& one) { return overlap(one, span); });
    if (span.begin < item.span().begin || is_out) return;
    text += source.substr(span.begin - item.span().begin, span.end - span.begin) + " ";
  };
  for (const shell::Assignment& one : command->assignments) add(one.span);
  const auto own = own_nodes_of(*command, begin_of_program(run));
  for (const shell::Word& word : command->words)
    if (!own || word.span.end < own->word.span.begin || word.span.begin > own->word.span.end ||
        word.span.begin > begin_of_program(run))
      add(word.span);
  return {text, used_names(text)};
}

}  // namespace dts::convert
