// SPDX-License-Identifier: Apache-2.0
// The values that are known of numbers and variables.
#include "core/base/text/text.hpp"
#include "core/convert/words/flat.hpp"
#include "core/convert/words/known_text.hpp"
#include "core/shell/arithmetic.hpp"

#include <algorithm>

namespace dts::convert {

using shell::Piece;

namespace {

constexpr std::size_t k_most_elements = 4096;
constexpr std::size_t k_longest_array = std::size_t{1} << 20;

// Means itself, in whatever quotes.
bool is_word_char(char c) {
  return shell::is_name_char(c) || std::string_view("./-+:,@%").find(c) != std::string_view::npos;
}

// "8", or "$SLURM_NNODES", which the job knows.
std::optional<std::string> number_in(const FlatWord& value) {
  if (const auto text = plain(value))
    return !text->empty() && text->find_first_not_of("0123456789") == std::string::npos
               ? text
               : std::nullopt;
  const bool is_size = value.size() == 1 && value[0].kind == Segment::Kind::source &&
                       !value[0].is_of_script &&
                       (value[0].text.starts_with("$SLURM_") ||
                        (value[0].text.starts_with("${SLURM_") && value[0].text.ends_with('}'))) &&
                       value[0].text.find_first_of(":-#%/") == std::string::npos;
  return is_size ? std::optional(value[0].text) : std::nullopt;
}

// An element at a place of its own: [key]=value.
bool has_index(const shell::Word& element) {
  const auto is_bare = [](const Piece& one) {
    return one.kind == Piece::Kind::literal && !one.quoted;
  };
  return !element.pieces.empty() && is_bare(element.pieces[0]) &&
         element.pieces[0].text.starts_with('[') &&
         std::any_of(element.pieces.begin(), element.pieces.end(), [&](const Piece& one) {
           return is_bare(one) && one.text.find("]=") != std::string::npos;
         });
}

}  // namespace

std::size_t size_of(const FlatWord& word) {
  std::size_t size = word.size();
  for (const Segment& one : word) size += one.text.size();
  return size;
}

// $NAME of a variable, $2 of an argument, ${2:-x} of one that is not given; null: not known.
const FlatWord* Inliner::known_value(const Piece& piece) {
  if (piece.kind != Piece::Kind::parameter) return nullptr;
  const auto number = parse_number(piece.text);
  const bool has_default = piece.operation.starts_with("-") || piece.operation.starts_with(":-");
  const auto arguments = arrays_.find("@");
  if (number && *number > 0 && arguments != arrays_.end() &&
      (piece.operation.empty() || has_default) && piece.words.empty()) {
    if (*number <= arguments->second.size()) return &arguments->second[*number - 1];
    if (!has_default) return nullptr;
    const std::string other = piece.operation.substr(piece.operation.find('-') + 1);
    if (other.find_first_of("$`'\"\\~") != std::string::npos) return nullptr;
    FlatWord value;
    if (!other.empty()) value.push_back({Segment::Kind::literal, other, true});
    return &(defaults_[piece.text + piece.operation] = std::move(value));
  }
  const auto known = values_.find(piece.text);
  return piece.operation.empty() && known != values_.end() ? &known->second : nullptr;
}

// NAME="$NAME -x": behind the line, which the set-up may run, $NAME is another value.
// NAME=${NAME:-x} may be evaluated again: the second time it gives the same value, unless the
// script has set NAME before.
bool Inliner::changes_itself(const std::string& name, const FlatWord& value) const {
  bool uses_itself = false;
  std::size_t parts = 0;
  std::size_t defaults = 0;
  for (const Segment& part : value) {
    if (part.text.empty()) continue;
    const bool is_source = part.kind == Segment::Kind::source;
    uses_itself = uses_itself || (is_source && used_names(part.text).count(name) > 0);
    const std::string_view text = part.text;
    constexpr std::string_view k_defaults[] = {":-", "-", ":=", "="};
    const bool is_default =
        is_source && text.starts_with("${" + name) &&
        std::any_of(std::begin(k_defaults), std::end(k_defaults), [&](auto sign) {
          return text.substr(name.size() + 2).starts_with(sign);
        });
    ++parts;
    defaults += is_default ? 1 : 0;
  }
  const bool is_only_default = parts == 1 && defaults == 1;
  return uses_itself && (!is_only_default || assigned_.count(name) > 0);
}

void Inliner::add_home(FlatWord& value) const {
  const auto known = values_.find("HOME");
  if (known == values_.end())
    value.push_back({Segment::Kind::source, "$HOME", true, assigned_.count("HOME") > 0});
  else
    value.insert(value.end(), known->second.begin(), known->second.end());
}

// A literal of an assignment's value: ~ at its beginning and behind a colon is the home folder, and
// ~bob is one that only the shell knows.
void Inliner::add_literal(FlatWord& value, const Piece& piece, const shell::Word& word) const {
  const std::string& text = piece.text;
  std::size_t from = 0;
  for (std::size_t at = text.find('~'); !piece.quoted && at != std::string::npos;
       at = text.find('~', at + 1)) {
    const bool begins = at > 0 ? text[at - 1] == ':' : &piece == &word.pieces.front();
    const std::size_t end = std::min(text.find_first_of("/:", at), text.size());
    const bool ends = end < text.size() || &piece == &word.pieces.back();
    if (!begins || !ends || size_of(value) > k_longest_value) continue;
    if (at > from) value.push_back({Segment::Kind::literal, text.substr(from, at - from), true});
    const bool is_own = end == at + 1;
    from = is_own ? end : std::min(end + 1, text.size());
    if (is_own)
      add_home(value);
    else
      value.push_back({Segment::Kind::pattern, text.substr(at, from - at), false});
  }
  if (from == 0 || from < text.size())
    value.push_back({Segment::Kind::literal, text.substr(from), true});
}

FlatWord Inliner::value_of(const shell::Word& word) {
  FlatWord value;
  for (const Piece& piece : word.pieces) {
    if (size_of(value) > k_longest_value) break;  // is_constant() refuses it
    if (piece.kind == Piece::Kind::literal) {
      add_literal(value, piece, word);
    } else if (const FlatWord* known = known_value(piece); known != nullptr) {
      value.insert(value.end(), known->begin(), known->end());
      inlined_.insert(piece.text);
    } else if (const std::vector<FlatWord>* elements = elements_of(piece); elements != nullptr) {
      // bash(1): where words are not split, "$@" and "${NAME[@]}" are joined by blanks.
      inlined_.insert(piece.text);
      for (std::size_t i = 0; i < elements->size() && size_of(value) <= k_longest_value; ++i) {
        if (i > 0) value.push_back({Segment::Kind::literal, " ", true});
        value.insert(value.end(), (*elements)[i].begin(), (*elements)[i].end());
      }
    } else {
      value.push_back(segment_of(piece));
      value.back().quoted = true;
    }
  }
  return value;
}

void Inliner::assign_array(const shell::Assignment& one) {
  std::vector<FlatWord> elements;
  if (one.appends) {
    const auto before = arrays_.find(one.name);
    if (before == arrays_.end()) return forget(one.name);
    elements = before->second;
  }
  std::size_t size = 0;
  for (const FlatWord& before : elements) size += size_of(before);
  const std::size_t size_before = size;
  bool is_known = true;
  for (const shell::Word& word : one.elements) {
    is_known = is_known && !has_index(word) && size < k_longest_array && spent_ < k_most_of_values;
    if (!is_known) return forget(one.name);
    for (FlatWord& part : words(word)) {
      size += size_of(part);
      is_known = is_known && is_constant(part);
      elements.push_back(std::move(part));
    }
  }
  spent_ += size - size_before;
  forget(one.name);
  if (is_known && elements.size() < k_most_elements) arrays_[one.name] = std::move(elements);
}

// The expression with the numbers that the script gives to names in it.
std::string Inliner::with_numbers(std::string_view expression) {
  if (!shell::names_set_by(expression).empty()) return std::string(expression);
  std::string text;
  for (std::size_t at = 0; at < expression.size();) {
    const std::string_view rest = expression.substr(at);
    const std::size_t sign = rest.starts_with("${") ? 2 : rest[0] == '$' ? 1 : 0;
    std::size_t end = sign;
    while (end < rest.size() && shell::is_name_char(rest[end])) ++end;
    const std::string name(rest.substr(sign, end - sign));
    const bool is_closed = sign < 2 || (end < rest.size() && rest[end] == '}');
    const auto known = values_.find(name);
    const auto number = known == values_.end() ? std::nullopt : number_in(known->second);
    if (is_closed && number) {
      text += *number;
      inlined_.insert(name);
      at += end + (sign == 2 ? 1 : 0);
      continue;
    }
    text += rest.substr(0, std::max<std::size_t>(end, 1));
    at += std::max<std::size_t>(end, 1);
  }
  return text;
}

// The text of an expansion, with what the script certainly gives to variables in it.
std::string Inliner::source_of(const Piece& piece) {
  const std::string_view source = text_.substr(piece.span.begin, piece.span.end - piece.span.begin);
  if (piece.kind == Piece::Kind::arithmetic)
    return with_numbers(source.starts_with("$[") ? "$((" + piece.text + "))" : std::string(source));
  if (has_one_folder_ && (source == "$(pwd)" || source == "`pwd`")) return "$PWD";
  if (piece.kind != Piece::Kind::parameter) return std::string(source);
  const bool is_element = piece.operation.starts_with("[");
  const auto other = others_.find(piece.text + (is_element ? piece.operation : ""));
  if (other != others_.end() &&
      (piece.operation.empty() || is_element || piece.operation[0] == ':'))
    return "$" + other->second;
  std::string text(source);
  // ${NAME:-$OTHER}
  for (auto word = piece.words.rbegin(); word != piece.words.rend(); ++word)
    for (auto inner = word->pieces.rbegin(); inner != word->pieces.rend(); ++inner) {
      const FlatWord* known = known_value(*inner);
      const auto value = known == nullptr ? std::nullopt : plain(*known);
      const bool fits = value && inner->span.begin >= piece.span.begin &&
                        inner->span.end <= piece.span.end &&
                        std::all_of(value->begin(), value->end(), is_word_char);
      if (!fits) continue;
      text.replace(
          inner->span.begin - piece.span.begin, inner->span.end - inner->span.begin, *value);
      inlined_.insert(inner->text);
    }
  return text;
}

Segment Inliner::segment_of(const Piece& piece) {
  const std::string source = source_of(piece);
  const Names used = used_names(source);
  const auto is_renamed = [this](const std::string& name) {
    return std::any_of(
        others_.begin(), others_.end(), [&](const auto& one) { return one.second == name; });
  };
  const bool is_of_script = std::any_of(used.begin(), used.end(), [&](const std::string& name) {
    return assigned_.count(name) > 0 && !is_renamed(name);
  });
  const bool is_blank = std::any_of(
      used.begin(), used.end(), [&](const auto& name) { return blank_.count(name) > 0; });
  return {Segment::Kind::source, source, piece.quoted, is_of_script, is_blank};
}

}  // namespace dts::convert
