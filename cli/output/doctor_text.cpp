// SPDX-License-Identifier: Apache-2.0
// The output of `dtsubmit doctor` for users.
#include "cli/output/doctor.hpp"
#include "cli/output/wrapped.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dts::cli {
namespace {

using doctor::Answer;
using doctor::Answered;
using doctor::Wish;

constexpr std::size_t k_longest_setting = 400;

std::string shown(Answer answer, bool in_colour) {
  const std::string word = fmt::format("{:<8}", doctor::to_string(answer));
  if (!in_colour) return word;
  const char* const colour = answer == Answer::yes ? "32" : answer == Answer::no ? "31" : "33";
  return fmt::format("\033[1;{}m{}\033[0m", colour, word);
}

// Lines of at most `columns` columns.
std::string paragraph(const std::string& words, const std::string& indent, std::size_t columns) {
  std::string lines;
  for (const std::string& line :
       wrapped(printable(words, 4 * k_longest_setting), columns - indent.size()))
    lines += indent + line + "\n";
  return lines;
}

std::string line_of(const Wish& wish, std::string_view value) {
  return fmt::format("{}={}", wish.setting, printable(value, k_longest_setting));
}

bool is_same(const Wish& one, const Wish& other) {
  return one.file == other.file && one.setting == other.setting;
}

// All wishes, each setting once, sorted by file.
std::vector<Wish> all_wishes(const std::vector<Answered>& answers, std::vector<Wish> wishes = {}) {
  for (const Answered& one : answers)
    for (const Wish& wish : one.verdict.wishes)
      if (std::none_of(
              wishes.begin(), wishes.end(), [&](const Wish& had) { return is_same(had, wish); }))
        wishes.push_back(wish);
  std::stable_sort(wishes.begin(), wishes.end(), [](const Wish& one, const Wish& other) {
    return one.file > other.file;  // slurm.conf before cgroup.conf
  });
  return wishes;
}

}  // namespace

std::string to_text(const Diagnosis& diagnosis, std::size_t columns, bool in_colour) {
  const doctor::Facts& facts = diagnosis.facts;
  std::string text = fmt::format("cluster {}, partition {}; {}\n",
                                 printable(facts.site.cluster_name, k_longest_setting),
                                 printable(facts.partition.name, k_longest_setting),
                                 printable(diagnosis.way, k_longest_setting));
  for (const auto& [question, verdict] : diagnosis.answers) {
    text += fmt::format(
        "{} {} [{}]\n", shown(verdict.answer, in_colour), question->words, question->id);
    if (!verdict.why.empty()) text += paragraph(verdict.why, "         ", columns);
    if (!verdict.todo.empty()) text += paragraph("you: " + verdict.todo, "         ", columns);
  }
  const auto wishes = all_wishes(diagnosis.answers);
  if (!wishes.empty()) text += "lines to ask the administrators for:\n";
  for (const Wish& wish : wishes) {
    text += fmt::format("  {}: {}", wish.file, line_of(wish, wish.wanted));
    text += wish.now.empty() ? "\n"
                             : fmt::format("  (now {})\n", printable(wish.now, k_longest_setting));
    text += paragraph(wish.reason, "      ", columns);
  }
  return text;
}

std::string site_text(const std::vector<Diagnosis>& partitions) {
  std::vector<Wish> wishes;
  for (const Diagnosis& one : partitions) wishes = all_wishes(one.answers, std::move(wishes));
  std::string text, file;
  for (const Wish& wish : wishes) {
    if (wish.file != file) text += fmt::format("--- {0}\n+++ {0}\n", wish.file);
    file = wish.file;
    text += fmt::format("@@ {} @@\n", wish.reason);
    if (!wish.now.empty()) text += fmt::format("-{}\n", line_of(wish, wish.now));
    text += fmt::format("+{}\n", line_of(wish, wish.wanted));
  }
  return text.empty() ? "nothing to recommend\n" : text;
}

}  // namespace dts::cli
