// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/flat.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/known_text.hpp"
#include "core/shell/arithmetic.hpp"

#include <algorithm>
#include <iterator>

namespace dts::convert {
namespace {

using shell::Piece;
using SegmentKind = Segment::Kind;

constexpr std::string_view k_white_space = " \t\n";
constexpr std::size_t k_most_words = 4096;
constexpr std::size_t k_longest_command = std::size_t{1} << 20;

// Values that differ each time they are looked at, or belong to one shell.
bool is_of_shell(std::string_view name) {
  constexpr std::string_view k_names[] = {"RANDOM",
                                          "SECONDS",
                                          "BASHPID",
                                          "LINENO",
                                          "PWD",
                                          "OLDPWD",
                                          "EPOCHSECONDS",
                                          "EPOCHREALTIME",
                                          "HOSTNAME",
                                          "PIPESTATUS",
                                          "BASH_REMATCH",
                                          "REPLY",
                                          "MAPFILE",
                                          "OPTARG"};
  return is_one_of(k_names, name) || name.empty() || !shell::is_name_begin(name[0]);
}

// $(cd ..; pwd)
bool is_folder(const std::string& source) {
  if (!source.starts_with("$(cd ")) return false;
  const auto word = word_in(source);
  return word && text_of(*word, [](const std::string& name) {
                   return name == "PWD" ? KnownText{KnownText::Kind::exact, "/"} : KnownText{};
                 }).is_exact();
}

// --rdzv_endpoint=$(hostname): an option that dtsubmit tells torchrun and the like itself, so that
// its value does not matter.
bool is_place_by_hostname(const FlatWord& word) {
  constexpr std::string_view k_places[] = {"--rdzv_endpoint=",
                                           "--rdzv-endpoint=",
                                           "--master_addr=",
                                           "--master-addr=",
                                           "--main_process_ip=",
                                           "--main-process-ip="};
  if (word.size() < 2 || word[0].kind != SegmentKind::literal) return false;
  return std::all_of(word.begin() + 1,
                     word.end(),
                     [](const Segment& one) {
                       return one.kind != SegmentKind::source ||
                              one.text.starts_with("$(hostname") ||
                              one.text.starts_with("`hostname");
                     }) &&
         std::any_of(std::begin(k_places), std::end(k_places), [&](std::string_view place) {
           return word[0].text.starts_with(place);
         });
}

bool has_pattern(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

Segment literal_segment(const Piece& piece) {
  const bool is_active = !piece.quoted && (has_pattern(piece.text) ||
                                           piece.text.find_first_of("{~") != std::string::npos);
  return {is_active ? SegmentKind::pattern : SegmentKind::literal, piece.text, true};
}

// The next blank that is not within <a blank of a template>.
std::size_t end_of_word(const std::string& text, std::size_t begin) {
  const std::size_t end = std::min(text.find_first_of(k_white_space, begin), text.size());
  const std::size_t open = text.find('<', begin);
  if (open >= end || open + 1 >= text.size() || !shell::is_name_begin(text[open + 1])) return end;
  const std::size_t close = text.find_first_of("<>\n", open + 1);
  if (close == std::string::npos || text[close] != '>') return end;
  return std::min(text.find_first_of(k_white_space, close), text.size());
}

// An unquoted value: blanks of its literals end words.
void add_split(std::vector<FlatWord>& words, const FlatWord& value) {
  for (const Segment& one : value) {
    if (one.kind == SegmentKind::source) {
      words.back().push_back(one);
      words.back().back().quoted = false;
      continue;
    }
    for (std::size_t at = 0; at < one.text.size() && words.size() < k_most_words;) {
      const std::size_t begin = one.text.find_first_not_of(k_white_space, at);
      if (begin > at && !words.back().empty()) words.emplace_back();
      if (begin == std::string::npos) break;
      const std::size_t end = end_of_word(one.text, begin);
      const std::string part = one.text.substr(begin, end - begin);
      words.back().push_back(
          {has_pattern(part) ? SegmentKind::pattern : SegmentKind::literal, part, true});
      at = end;
    }
  }
}

// ~bob, which is a folder only where the value is assigned.
bool has_tilde(const FlatWord& value) {
  return std::any_of(value.begin(), value.end(), [](const Segment& one) {
    return one.kind == SegmentKind::pattern && one.text.starts_with('~');
  });
}

// ${NAME:-'x y'}, ${NAME:-~/out}: in quotes, where the value would be used, it is another text.
bool depends_on_quotes(const std::string& source) {
  return source.starts_with("${") && source.find_first_of("'\"\\~") != std::string::npos;
}

}  // namespace

bool Inliner::is_constant(const FlatWord& value) const {
  if (is_place_by_hostname(value)) return size_of(value) < k_longest_value;
  return size_of(value) < k_longest_value &&
         std::all_of(value.begin(), value.end(), [&](const auto& one) {
           if (one.kind != SegmentKind::source) return true;
           if (depends_on_quotes(one.text)) return false;
           const Names used = used_names(one.text);
           const bool is_arithmetic = one.text.starts_with("$((") &&
                                      one.text.find("$(", 1) == std::string::npos &&
                                      one.text.find('`') == std::string::npos;
           if (is_arithmetic && !shell::names_set_by(one.text).empty()) return false;
           if (has_one_folder_ && is_folder(one.text)) return true;
           return (is_arithmetic || one.text.find_first_of("(`") == std::string::npos) &&
                  !used.empty() &&
                  std::none_of(used.begin(), used.end(), [&](const std::string& name) {
                    return is_of_shell(name) && !(name == "PWD" && has_one_folder_);
                  });
         });
}

// A value that was made from NAME before NAME changes can no longer be written with it.
void Inliner::forget(const std::string& name) {
  const auto is_made_of = [&name](const FlatWord& value) {
    return std::any_of(value.begin(), value.end(), [&name](const Segment& part) {
      return part.kind == SegmentKind::source && used_names(part.text).count(name) > 0;
    });
  };
  values_.erase(name);
  arrays_.erase(name);
  blank_.erase(name);
  std::erase_if(values_, [&](const auto& one) { return is_made_of(one.second); });
  std::erase_if(arrays_, [&](const auto& one) {
    return std::any_of(one.second.begin(), one.second.end(), is_made_of);
  });
}

Inliner Inliner::inner(std::string_view text) const {
  Inliner made(text);
  made.others_ = others_;
  made.blank_ = blank_;
  made.assigned_ = blank_;
  for (const auto& [name, value] : values_)
    if (exported_.count(name) > 0) made.values_[name] = value;
  return made;
}

void Inliner::follow(const shell::Statement& statement, bool is_certain) {
  const shell::Command* command = simple_command(statement);
  const SetNames names = set_names(statement);
  exported_.insert(names.exported.begin(), names.exported.end());
  converted_.insert(names.converted.begin(), names.converted.end());
  for (const std::string& name : names.converted) forget(name);
  follow_arguments(statement, is_certain);
  const bool only_assigns = command != nullptr && !statement.background &&
                            (command->words.empty() || !command->assignments.empty()) &&
                            command->redirections.empty();
  Names assigned;
  if (is_certain && only_assigns)
    for (const shell::Assignment& one : command->assignments)
      if (names.variables.count(one.name) + names.arrays.count(one.name) > 0) {
        assign(one);
        assigned.insert(one.name);
        for (const std::string& other : set_within(one))
          if (other != one.name) forget(other);
      }
  for (const auto* all : {&names.variables, &names.arrays})
    for (const std::string& name : *all) {
      if (assigned.count(name) == 0) forget(name);
      assigned_.insert(name);
    }
}

void Inliner::assign(const shell::Assignment& one) {
  if (one.is_element || others_.count(one.name) + converted_.count(one.name) > 0)
    return forget(one.name);
  if (one.is_array) return assign_array(one);
  if (lacks_argument(one.value)) {
    forget(one.name);
    blank_.insert(one.name);
    return;
  }
  FlatWord value = value_of(one.value);
  spent_ += size_of(value);
  if (one.appends) {
    const auto before = values_.find(one.name);
    if (before == values_.end()) return forget(one.name);
    value.insert(value.begin(), before->second.begin(), before->second.end());
  }
  if (!is_constant(value) || has_tilde(value) || spent_ > k_most_of_values) return forget(one.name);
  if (changes_itself(one.name, value)) return forget(one.name);
  forget(one.name);
  values_[one.name] = std::move(value);
}

void Inliner::add_piece(std::vector<FlatWord>& words, const Piece& piece) {
  if (piece.kind == Piece::Kind::literal) {
    words.back().push_back(literal_segment(piece));
    return;
  }
  if (const FlatWord* known = known_value(piece); known != nullptr) {
    inlined_.insert(piece.text);
    if (!piece.quoted) return add_split(words, *known);
    for (const Segment& one : *known) {
      words.back().push_back(one);
      words.back().back().quoted = true;
    }
    if (known->empty()) words.back().push_back({SegmentKind::literal, "", true});
    return;
  }
  if (const std::vector<FlatWord>* elements = elements_of(piece); elements != nullptr) {
    inlined_.insert(piece.text);
    for (std::size_t i = 0; i < elements->size(); ++i) {
      const FlatWord& one = (*elements)[i];
      if (i > 0) words.emplace_back();
      if (piece.quoted)
        words.back().insert(words.back().end(), one.begin(), one.end());
      else
        add_split(words, one);
    }
    return;
  }
  words.back().push_back(segment_of(piece));
}

std::vector<FlatWord> Inliner::words(const shell::Word& word) {
  std::vector<FlatWord> all(1);
  std::size_t size = 0, counted = 0;  // of the last word's segments
  for (const Piece& piece : word.pieces) {
    if (all.size() >= k_most_words || size >= k_longest_command) break;
    const std::size_t before = all.size();
    add_piece(all, piece);
    if (all.size() != before) size = counted = 0;
    for (; counted < all.back().size(); ++counted) size += all.back()[counted].text.size() + 1;
  }
  if (all.back().empty() || (all.size() == 1 && makes_no_word(word))) all.pop_back();
  return all;
}

// Words that would be too many or too long are left to the shell, which has their variables.
std::vector<FlatWord> Inliner::words(const std::vector<shell::Word>& all) {
  std::vector<FlatWord> flat;
  std::size_t size = 0;
  for (const shell::Word& word : all) {
    const std::vector<FlatWord> several = words(word);
    for (const FlatWord& one : several) size += size_of(one);
    flat.insert(flat.end(), several.begin(), several.end());
    if (flat.size() >= k_most_words || size >= k_longest_command) return as_written(all);
  }
  return flat;
}

std::vector<FlatWord> Inliner::as_written(const std::vector<shell::Word>& all) {
  std::vector<FlatWord> flat;
  for (const shell::Word& word : all) {
    FlatWord& one = flat.emplace_back();
    for (const Piece& piece : word.pieces)
      one.push_back(piece.kind == Piece::Kind::literal ? literal_segment(piece)
                                                       : segment_of(piece));
  }
  return flat;
}

FlatWord Inliner::assignment(const shell::Assignment& one) {
  FlatWord word = value_of(one.value);
  word.insert(word.begin(), {SegmentKind::literal, one.name + (one.appends ? "+=" : "="), true});
  return word;
}

}  // namespace dts::convert
