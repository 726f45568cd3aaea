// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/horovodrun.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {
namespace {

constexpr std::string_view k_flags_of_horovodrun[] = {
    "--verbose", "--mpi", "--gloo", "--autotune", "-v", "--disable-cache", "--mpi-threads-disable"};
constexpr std::string_view k_hosts_of_horovodrun[] = {"-H", "--hosts", "-hostfile", "--hostfile"};

std::string without_dashes(const std::string& option) {
  return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

// "-H" of $HOSTS that only the job's shell knows, and that the script sets to options, the first of
// which is that one; empty: it holds something else.
std::string first_option_in(const FlatWord& word, const lint::Runs& runs) {
  if (word.size() != 1 || word[0].kind != Segment::Kind::source || word[0].quoted) return "";
  const Names names = used_names(word[0].text);
  for (const lint::Assigned& one : runs.assigned) {
    const std::string text(trim(one.value.text));
    if (names.count(one.name) > 0 && text.starts_with('-'))
      return text.substr(0, text.find_first_of(" ="));
  }
  return "";
}

}  // namespace

HorovodrunWords horovodrun_words(const std::vector<FlatWord>& words,
                                 std::size_t at,
                                 const lint::Runs& runs) {
  HorovodrunWords made;
  const std::vector<lint::ExpandedWord> expanded = to_expanded(words);
  // Its own options end at the first word that is none.
  for (++at; at < words.size(); ++at) {
    if (const std::string hidden = first_option_in(words[at], runs); !hidden.empty()) {
      if (is_one_of(k_hosts_of_horovodrun, hidden))
        made.options.push_back({without_dashes(hidden), "", {}});
      else
        made.losses.push_back(fmt::format(
            "horovodrun: options in {} are known only in the job's shell", to_source({words[at]})));
      continue;
    }
    const std::string& word = expanded[at].value.text;
    if (!word.starts_with('-')) break;
    const std::string name = without_dashes(word);
    const std::size_t equals = name.find('=');
    if (is_one_of(k_flags_of_horovodrun, word) || equals != std::string::npos) {
      made.options.push_back(
          {name.substr(0, equals), equals == std::string::npos ? "" : name.substr(equals + 1), {}});
      continue;
    }
    made.options.push_back({name, at + 1 < words.size() ? expanded[at + 1].value.text : "", {}});
    ++at;
  }
  made.command_at = std::min(at, words.size());
  return made;
}

}  // namespace dts::convert
