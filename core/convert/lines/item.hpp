// SPDX-License-Identifier: Apache-2.0
// The statements of a script's outermost list, with what they use, set and start. Pure.
#pragma once

#include "core/convert/job/account.hpp"
#include "core/convert/words/names.hpp"
#include "core/lint/script/subject.hpp"

#include <string>
#include <vector>

namespace dts::convert {

struct Item {
  const shell::Statement* statement = nullptr;
  std::vector<Span> spans;  // of the statement, and of its here-documents behind it
  std::string source;       // with its here-documents
  std::string tail;         // these alone, with the line break before them
  Names used;               // by its text, sources of here-documents included
  Names words;
  SetNames sets;
  std::vector<const lint::Run*> runs;    // commands of its own, in no substitution
  std::vector<const lint::Run*> inside;  // those of substitutions, and of texts for other shells
  std::vector<const lint::Run*> mains;   // of these: programs that do the job's work
  // It calls a function that the script defines, or may call one of a file that was read before.
  bool calls_function = false;
  bool calls_own_function = false;  // of the script itself
  bool follows_file = false;        // such a file was read before
  bool is_alone = false;  // nothing that is kept uses what it sets: only what it does is wanted

  [[nodiscard]] const Span& span() const { return spans.front(); }

  // Only sets variables or defines functions.
  [[nodiscard]] bool only_sets() const;
};

// NAME of NAME=value and nothing else; null: more than that.
[[nodiscard]] const std::string* only_variable(const Item& item);

// Its substitutions change nothing.
[[nodiscard]] bool only_computes(const Item& item);

// `subject` must outlive them.
[[nodiscard]] std::vector<Item> items_of(const lint::Subject& subject);

// True for --lr 0.1: options of the command before it, which no backslash continues.
[[nodiscard]] bool begins_with_option(const Item& item);

// True if it waits for background programs.
[[nodiscard]] bool waits(const Item& item);

// True if it leaves a program in the background, by its own & or within it, without waiting.
[[nodiscard]] bool leaves_running(const Item& item);

// True if it starts torchrun or the like, directly or in a text for a shell.
[[nodiscard]] bool starts_processes(const Item& item, const lint::Subject& subject);

// The base name of the program that the run starts, "echo"; "bash" for `bash -c TEXT`.
[[nodiscard]] std::string verb_of(const lint::Run& run);

}  // namespace dts::convert
