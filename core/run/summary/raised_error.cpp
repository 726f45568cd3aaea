// SPDX-License-Identifier: Apache-2.0
#include "core/run/summary/raised_error.hpp"

#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/run/summary/evidence.hpp"
#include "core/run/summary/progress_bar.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace dts::run {
namespace {

using Lines = std::vector<std::string>;

template <std::size_t count>
bool has_any(std::string_view line, const std::array<std::string_view, count>& words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view one) {
    return line.find(one) != std::string_view::npos;
  });
}

template <std::size_t count>
bool begins_with_any(std::string_view line, const std::array<std::string_view, count>& words) {
  return std::any_of(
      words.begin(), words.end(), [&](std::string_view one) { return line.starts_with(one); });
}

std::string_view without_rank(std::string_view line) {
  if (!line.starts_with("[rank")) return line;
  const std::size_t end = line.find("]: ");
  return end == std::string_view::npos ? line : line.substr(end + 3);
}

bool begins_traceback(const std::string& line) {
  return without_rank(line).starts_with("Traceback (most recent call last):");
}

// Errors with these words may have been caused by another rank.
bool may_be_of_peers(std::string_view line) {
  constexpr std::array<std::string_view, 23> k_words{
      "peer",   "rank",   "Rank",    "onnect",    "ocket",   "NCCL",     "nccl",    "Gloo",
      "gloo",   "MPI",    "Horovod", "UNAVAIL",   "Unavail", "ABORTED",  "Aborted", "ancell",
      "CANCEL", "arrier", "remote",  "coordinat", "died",    "DEADLINE", "EOFError"};
  return has_any(line, k_words);
}

// What stands before an error outside the program's main thread.
bool announces_error_elsewhere(std::string_view line) {
  constexpr std::array<std::string_view, 2> k_words{"Exception ignored in", "Exception in thread"};
  return has_any(line, k_words) || (line.starts_with("Process ") && line.ends_with(':'));
}

// What stands before the traceback of an error that does not end the program.
bool announces_survivor(std::string_view line) {
  return announces_error_elsewhere(line) || line.find("ERROR") != std::string_view::npos;
}

// True if the traceback that begins with `line` is of the thread that puts what a program gives to
// a queue of multiprocessing into its pipe. It prints errors without announcing them, and goes on.
bool is_of_feeder(const Lines& lines, Lines::const_iterator line) {
  const auto first = std::next(line);
  return first != lines.end() && first->find("queues.py\", line") != std::string::npos &&
         first->ends_with(", in _feed");
}

// The line between two tracebacks of a chain of errors.
bool joins_errors(std::string_view line) {
  return line.find("he above exception") != std::string_view::npos;
}

// Of a chain of errors that led to one another, the first; `last` begins its last traceback.
Lines::const_reverse_iterator first_of_chain(const Lines& lines,
                                             Lines::const_reverse_iterator last) {
  while (true) {
    const auto joint = std::find_if(std::next(last), lines.rend(), [](const std::string& line) {
      return !without_rank(line).empty();
    });
    if (joint == lines.rend() || !joins_errors(*joint)) return last;
    const auto earlier = std::find_if(joint, lines.rend(), begins_traceback);
    if (earlier == lines.rend()) return last;
    last = earlier;
  }
}

// What is printed after the error while the program ends.
bool belongs_to_end(std::string_view line) {
  constexpr std::array<std::string_view, 5> k_begins{
      " ", "\t", "-----", "For simplicity, JAX has removed", "wandb: "};
  return line.empty() || begins_with_any(line, k_begins);
}

bool is_about_peers(const std::string& line) {
  const auto shown = read_evidence({line});
  return shown && (shown->cause == Cause::comm_timeout || shown->cause == Cause::rendezvous);
}

}  // namespace

bool is_own_error(std::string_view line) {
  constexpr std::array<std::string_view, 7> k_of_peers{"torch.distributed.Dist",
                                                       "c10d",
                                                       "process group",
                                                       "store->",
                                                       "store based barrier",
                                                       "imed out",
                                                       "imeout"};
  return is_error(line) && !has_any(line, k_of_peers);
}

namespace {

bool is_of_traceback(const std::string& line) {
  return without_rank(line).starts_with(' ');
}

// The line of an error that neither a peer nor the machine explains.
bool is_of_program(const std::string& line, bool may_be_broken_pipe) {
  if (may_be_broken_pipe && without_rank(line).starts_with("BrokenPipeError")) return true;
  return is_own_error(line) && !may_be_of_peers(without_rank(line)) && !read_evidence({line});
}

// "[rank1]: KeyError" of "[rank1]: KeyError: 'x'".
std::string_view kind_of_error(std::string_view line) {
  const std::size_t own = line.size() - without_rank(line).size();
  return line.substr(0, line.find(':', own));
}

// True if the program has raised an error of this kind before and went on: it catches them. One
// that is logged and raised again has nothing but errors and tracebacks behind it.
bool is_survived(const Lines& lines, Lines::const_iterator chain, const std::string& error) {
  const auto earlier = std::find_if(lines.begin(), chain, [&](const std::string& line) {
    return is_error(line) && kind_of_error(line) == kind_of_error(error);
  });
  return std::any_of(earlier, chain, [](const std::string& line) {
    return !trim(without_rank(line)).empty() && !is_error(line) && !is_of_traceback(line);
  });
}

}  // namespace

std::optional<RaisedError> raised_error(const Lines& last_lines, bool may_be_broken_pipe) {
  const auto last = std::find_if(last_lines.rbegin(), last_lines.rend(), begins_traceback);
  if (last == last_lines.rend() || is_of_feeder(last_lines, std::prev(last.base())))
    return std::nullopt;
  const auto first = first_of_chain(last_lines, last);
  const auto before = std::next(first);
  if (before != last_lines.rend() && announces_survivor(*before)) return std::nullopt;
  const auto error = std::find_if_not(last.base(), last_lines.end(), is_of_traceback);
  if (error == last_lines.end() || !is_of_program(*error, may_be_broken_pipe)) return std::nullopt;
  if (is_survived(last_lines, std::prev(first.base()), *error)) return std::nullopt;
  const bool led_by_another = std::any_of(first.base(), error, [&](const std::string& line) {
    return !is_of_traceback(line) && is_error(line) && !is_of_program(line, may_be_broken_pipe);
  });
  if (led_by_another) return std::nullopt;
  const auto next =
      std::find_if_not(std::next(error), last_lines.end(), [&](const std::string& line) {
        if (length_of_bar(line) == 0) return belongs_to_end(without_rank(line));
        return std::any_of(before, last_lines.rend(), [&](const std::string& earlier) {
          return is_redrawn(line, earlier);
        });
      });
  const bool is_followed = next != last_lines.end();
  if (is_followed && !is_about_peers(*next)) return std::nullopt;
  return RaisedError{printable(trim(*error), k_longest_error),
                     static_cast<std::size_t>(error - last_lines.begin()) + 1,
                     is_followed};
}

namespace {

// True if `lines` ended in an error outside the main thread, which was then removed.
bool remove_error_elsewhere(Lines& lines) {
  const auto announced = std::find_if(lines.crbegin(), lines.crend(), announces_error_elsewhere);
  if (announced == lines.crend()) return false;
  const auto traceback = std::find_if(lines.crbegin(), announced, begins_traceback);
  const bool has_traceback = traceback != announced;
  if (has_traceback && std::next(first_of_chain(lines, traceback)) != announced) return false;
  const auto error = std::find_if_not(traceback.base(), lines.cend(), is_of_traceback);
  if (error == lines.cend() || !is_error(*error)) return false;
  const bool is_last = std::all_of(std::next(error), lines.cend(), [](const std::string& line) {
    return belongs_to_end(without_rank(line));
  });
  if (is_last) lines.erase(std::prev(announced.base()), lines.cend());
  return is_last;
}

}  // namespace

std::string error_of_stop(std::vector<std::string> last_lines) {
  constexpr std::array<std::string_view, 4> k_stops{"SignalException",   // of torchrun
                                                    "SIGTERMException",  // of Lightning
                                                    "exit status 143",  // of subprocess, of a shell
                                                    "exit status -15"};
  while (remove_error_elsewhere(last_lines)) {
  }
  auto raised = raised_error(last_lines, true);
  const bool is_own = raised && !has_any(last_lines[raised->end - 1], k_stops);  // not yet cut
  return is_own ? std::move(raised->line) : std::string{};
}

}  // namespace dts::run
