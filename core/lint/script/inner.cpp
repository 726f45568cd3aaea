// SPDX-License-Identifier: Apache-2.0
#include "core/lint/script/inner.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace dts::lint {
namespace {

constexpr std::size_t k_most_scripts = 100;
constexpr std::string_view k_expanded = "${EXPANDED_BY_THE_OUTER_SCRIPT}";

// The words of a command line of sbatch.
struct SbatchLine {
  std::vector<const ExpandedWord*> options;
  const ExpandedWord* script = nullptr;  // null: it is read from standard input
};

bool takes_next_word(const std::string& word) {
  const bool is_long = word.starts_with("--");
  if (is_long ? word.find('=') != std::string::npos : word.size() != 2) return false;
  const SbatchOption* option =
      is_long ? find_sbatch_option(std::string_view(word).substr(2)) : find_sbatch_option(word[1]);
  return option != nullptr && option->takes == Takes::value;
}

std::optional<SbatchLine> sbatch_line(const Run& run) {
  if (base_name(run.name()) != "sbatch") return std::nullopt;
  SbatchLine line;
  for (std::size_t i = 1; i < run.words.size(); ++i) {
    const std::string& word = run.words[i].value.text;
    if (!word.starts_with('-')) {
      line.script = &run.words[i];
      return line;
    }
    if (word.starts_with("--wrap")) return std::nullopt;
    line.options.push_back(&run.words[i]);
    if (takes_next_word(word) && i + 1 < run.words.size()) line.options.push_back(&run.words[++i]);
  }
  return line;
}

// Writes an inner script, one stretch after another.
class Writer {
 public:
  explicit Writer(std::string_view outer) : outer_(outer) {}

  void copy(std::size_t from, std::size_t to) {
    if (from >= to) return;
    script_.stretches.push_back({script_.text.size(), from, false});
    script_.text += outer_.substr(from, to - from);
  }

  void put(std::string_view text, std::size_t origin) {
    script_.stretches.push_back({script_.text.size(), origin, true});
    script_.text += text;
    script_.is_verbatim = false;
  }

  void leave_out() { script_.is_verbatim = false; }

  [[nodiscard]] InnerScript take() { return std::move(script_); }

 private:
  std::string_view outer_;
  InnerScript script_;
};

// Replaces what the outer shell expands, and handles `\$`, `\``, `\\` and joined lines, which it
// writes without the backslash.
void write_expanded(std::string_view text, const shell::HereDocument& document, Writer& writer) {
  std::size_t at = document.span.begin;
  const auto copy_literal = [&](std::size_t to) {
    for (std::size_t i = at; i + 1 < to; ++i) {
      const bool is_escape =
          text[i] == '\\' && std::string_view("$`\\\n").find(text[i + 1]) != std::string_view::npos;
      if (!is_escape) continue;
      writer.copy(at, i);
      writer.leave_out();
      at = text[i + 1] == '\n' ? i + 2 : i + 1;
      ++i;
    }
    writer.copy(at, to);
  };
  for (const shell::Piece& piece : document.text.pieces) {
    if (piece.kind == shell::Piece::Kind::literal || piece.span.begin < at) continue;
    copy_literal(piece.span.begin);
    writer.put(k_expanded, piece.span.begin);
    at = piece.span.end;
  }
  copy_literal(document.span.end);
}

// For `<<-`: removes the tabs at the beginning of lines.
InnerScript without_tabs(const InnerScript& script) {
  InnerScript stripped;
  stripped.is_verbatim = false;
  bool at_begin = true;
  std::size_t next = 0;
  for (std::size_t i = 0; i < script.text.size(); ++i) {
    while (next < script.stretches.size() && script.stretches[next].begin == i) {
      stripped.stretches.push_back(script.stretches[next++]);
      stripped.stretches.back().begin = stripped.text.size();
    }
    if (at_begin && script.text[i] == '\t') {
      if (!stripped.stretches.empty() && stripped.stretches.back().begin == stripped.text.size())
        ++stripped.stretches.back().origin;
      continue;
    }
    const bool began = at_begin && i > 0 && script.text[i - 1] == '\t';
    if (began && !stripped.stretches.empty() && !stripped.stretches.back().is_foreign)
      stripped.stretches.push_back({stripped.text.size(), script.in_outer({i, i}).begin, false});
    stripped.text += script.text[i];
    at_begin = script.text[i] == '\n';
  }
  return stripped;
}

// The #SBATCH line with the options of the command line; empty if one of the words does not fit.
std::string line_of(const SbatchLine& line) {
  if (line.options.empty()) return {};
  std::string text = "#SBATCH";
  for (const ExpandedWord* word : line.options) {
    const std::string& value = word->value.text;
    const bool is_plain = value.find_first_of(" \t\n'\"\\#") == std::string::npos;
    if (!is_plain && value.find_first_of("\n'\\") != std::string::npos) return {};
    text += is_plain ? " " + value : " '" + value + "'";
  }
  return text + "\n";
}

void insert_line(InnerScript& script, std::size_t at, const std::string& line, std::size_t origin) {
  script.has_command_line = true;
  const std::size_t rest = script.in_outer({at, at}).begin;
  const std::string added = at > 0 && script.text[at - 1] != '\n' ? "\n" + line : line;
  script.text.insert(at, added);
  const auto behind = std::find_if(script.stretches.begin(),
                                   script.stretches.end(),
                                   [at](const auto& one) { return one.begin >= at; });
  for (auto one = behind; one != script.stretches.end(); ++one) one->begin += added.size();
  const bool begins_there = behind != script.stretches.end() && behind->begin == at + added.size();
  auto place = script.stretches.insert(behind, {at, origin, true});
  if (!begins_there) script.stretches.insert(place + 1, {at + added.size(), rest, false});
}

// True if unknown text is where options may be.
bool may_have_other_options(const InnerScript& script, const Header& header) {
  const auto is_unknown = [](const HeaderProblem& one) {
    return one.word.find(k_expanded) != std::string::npos;
  };
  return std::any_of(header.problems.begin(), header.problems.end(), is_unknown) ||
         std::string_view(script.text).substr(header.end).starts_with(k_expanded);
}

// A command that submits a script.
struct Submission {
  const Run* run = nullptr;
  SbatchLine line;
};

std::vector<Submission> submissions_in(const Subject& outer) {
  std::vector<Submission> all;
  for (const Run& run : outer.runs.runs)
    if (auto line = sbatch_line(run)) all.push_back({&run, *std::move(line)});
  return all;
}

// The name of the file that `run` writes; empty: it writes none.
std::string written_file(const Subject& outer, const Run& run) {
  std::string file;
  if (base_name(run.name()) == "tee" && run.words.size() > 1)
    return base_name(run.words.back().value.text);
  for (const shell::Redirection* one : run.redirections)
    if (one->sign.starts_with('>'))
      file = base_name(expanded_value(one->target, outer.runs.variables, outer.text).text);
  return file;
}

// How the script in a here-document of `run` is submitted; nullptr: not by sbatch, as far as the
// outer script shows.
const SbatchLine* submission_of(const Subject& outer,
                                const std::vector<Submission>& all,
                                const Run& run) {
  const std::string file = written_file(outer, run);
  for (const Submission& one : all) {
    const ExpandedWord* script = one.line.script;
    if (one.run == &run) return script == nullptr ? &one.line : nullptr;
    if (script == nullptr ? one.run->pipeline == run.pipeline
                          : !file.empty() && base_name(script->value.text) == file)
      return &one.line;
  }
  return nullptr;
}

std::optional<InnerScript> script_in(const Subject& outer,
                                     const std::vector<Submission>& submissions,
                                     const Run& run,
                                     const shell::Redirection& redirection) {
  const auto index = static_cast<std::size_t>(redirection.here_document);
  if (index >= outer.script.here_documents.size()) return std::nullopt;
  const SbatchLine* submission = submission_of(outer, submissions, run);
  const std::string name = base_name(run.name());
  if (submission == nullptr && name != "cat" && name != "tee") return std::nullopt;
  const shell::HereDocument& document = outer.script.here_documents[index];
  Writer writer(outer.text);
  if (document.is_literal)
    writer.copy(document.span.begin, document.span.end);
  else
    write_expanded(outer.text, document, writer);
  InnerScript script = writer.take();
  if (redirection.sign == "<<-") script = without_tabs(script);
  if (script.text.empty()) return std::nullopt;
  const Header header = read_header(script.text);
  if (!header.has_lines && submission == nullptr) return std::nullopt;
  if (may_have_other_options(script, header)) return std::nullopt;
  if (submission != nullptr)
    if (const std::string line = line_of(*submission); !line.empty())
      insert_line(script, header.end, line, run.span.begin);
  return script;
}

}  // namespace

Span InnerScript::in_outer(Span span) const {
  const auto place = [this](std::size_t at) {
    const auto behind = std::upper_bound(
        stretches.begin(), stretches.end(), at, [](std::size_t value, const Stretch& one) {
          return value < one.begin;
        });
    if (behind == stretches.begin()) return std::size_t{0};
    const Stretch& one = *std::prev(behind);
    return one.is_foreign ? one.origin : one.origin + (at - one.begin);
  };
  const std::size_t begin = place(span.begin);
  if (span.end <= span.begin) return {begin, begin};
  return {begin, std::max(begin, place(span.end - 1) + 1)};
}

bool InnerScript::touches_foreign(Span span) const {
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const std::size_t end = i + 1 < stretches.size() ? stretches[i + 1].begin : text.size();
    const bool meets = stretches[i].begin < std::max(span.end, span.begin + 1) && span.begin < end;
    if (stretches[i].is_foreign && meets) return true;
  }
  return false;
}

std::vector<InnerScript> inner_scripts(const Subject& outer) {
  std::vector<InnerScript> scripts;
  const std::vector<Submission> submissions = submissions_in(outer);
  for (const Run& run : outer.runs.runs)
    for (const shell::Redirection* one : run.redirections)
      if (one->here_document >= 0 && scripts.size() < k_most_scripts)
        if (auto script = script_in(outer, submissions, run, *one))
          scripts.push_back(*std::move(script));
  return scripts;
}

}  // namespace dts::lint
