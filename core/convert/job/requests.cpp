// SPDX-License-Identifier: Apache-2.0
#include "core/convert/job/requests.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/job/sbatch_values.hpp"
#include "core/lint/script/placeholder.hpp"
#include "core/spec/options/of_sbatch.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

struct Reason {
  std::string_view name;
  const char* why;
};

// Options that dtsubmit needs no counterpart of.
constexpr Reason k_unnecessary[] = {
    {"get-user-env", "the job gets the environment of the shell that submits it"},
    {"ignore-pbs", "dtsubmit reads no #PBS lines"},
    {"open-mode", "dtsubmit keeps the logs of all attempts"},
    {"parsable", "--json prints the job's id"},
    {"quiet", "dtsubmit prints one line"},
    {"verbose", "dtsubmit submit --dry-run shows what is sent"},
};

std::string without_brackets(std::string indices) {
  std::erase_if(indices, [](char c) { return c == '[' || c == ']'; });
  return indices;
}

// sbatch(1): counts begin with a digit, indices have no letters and may be in brackets.
bool sbatch_refuses(std::string_view name, std::string_view value) {
  if (name == "array") return value.find_first_not_of("0123456789,-:%") != std::string_view::npos;
  constexpr std::string_view k_counts[] = {"nodes", "ntasks", "ntasks-per-node", "cpus-per-task"};
  return is_one_of(k_counts, name) && !value.empty() && (value[0] < '0' || value[0] > '9');
}

class RequestReader {
 public:
  RequestReader(const lint::Subject& subject, Draft& draft) : text_(subject.text), draft_(draft) {}

  void read(const lint::Directive& one) {
    Row row{{one.span}, Became::option, "", ""};
    if (one.value_span.begin >= one.span.end) row.spans.push_back(one.value_span);
    if (one.component > 0)
      lose(row, "a component of a heterogeneous job: one of [[roles]] with heterogeneous = true");
    else if (one.option == nullptr)
      foreign(one, row);
    else
      known(one, row);
    fill(one, row);
    draft_.add(std::move(row));
  }

 private:
  // The option's value, with the words of a blank that sbatch reads as others: {{ nodes }}.
  [[nodiscard]] std::string value_of(const lint::Directive& one) const {
    const std::size_t begin = one.value_span.begin;
    const std::string_view line =
        text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin);
    for (const auto& [open, close] : {std::pair{"{{", "}}"}, {"{", "}"}, {"<", ">"}, {"[", "]"}}) {
      const std::size_t at = one.value.find(open);
      if (at == std::string::npos || one.value.find(close, at) != std::string::npos) continue;
      const std::size_t end = line.find(close, line.find(open));
      if (end == std::string_view::npos) continue;
      return std::string(
          line.substr(0, line.find_first_of(" \t\"", end + std::string_view(close).size())));
    }
    return one.value;
  }

  // A blank instead of a value.
  void fill(const lint::Directive& one, Row& row) {
    const bool is_free = one.name == "comment";  // any text is one
    if (one.option == nullptr || is_free || row.became == Became::unnecessary) return;
    const std::string value = value_of(one);
    const bool is_refused = row.became == Became::lost && sbatch_refuses(one.name, value);
    if (!is_blank(value, value == one.value ? one.name : "") && !is_refused) return;
    if (row.became == Became::option && value == one.value) {
      row.why = "a blank in the script, kept as it is";
    } else if (find_option(one.name) != nullptr) {
      const auto before = draft_.settings.find(one.name);
      if (before != draft_.settings.end() && before->second.row == draft_.rows.size())
        draft_.settings.erase(before);
      row.what = shown(one.name, {value});
      row.why = is_refused ? "sbatch refuses this value, too: the script leaves it open"
                           : "a blank in the script, a comment in the job file";
      draft_.blanks.push_back({one.name, {value}, row.why});
    } else {
      return;
    }
    row.became = Became::fill_in;
  }

  static void lose(Row& row, std::string why) {
    row.became = Became::lost;
    row.why = std::move(why);
  }

  static void drop(Row& row, std::string why) {
    row.became = Became::unnecessary;
    row.why = std::move(why);
  }

  // An option of a plug-in, or one that sbatch refuses.
  void foreign(const lint::Directive& one, Row& row) {
    if (read_container_option(one.name, one.value, draft_.settings, row)) {
      for (auto& [name, asked] : draft_.settings)
        if (asked.row == k_no_row && (name.starts_with("container") || name == "mount"))
          asked.row = draft_.rows.size();
      return;
    }
    if (!lint::is_plugin_option(one.name)) return lose(row, "sbatch does not know this option");
    // It would start the batch script, and therefore dtsubmit, in that container.
    if (one.name == "environment") return lose(row, *spec::instead_of_srun("--environment"));
    accept("slurm", one.value.empty() ? one.name : one.name + "=" + one.value, row);
  }

  void known(const lint::Directive& one, Row& row) {
    // sbatch's other name of the same option.
    const std::string name(one.option->name == "tasks-per-node" ? "ntasks-per-node"
                                                                : one.option->name);
    for (const Reason& reason : k_unnecessary)
      if (reason.name == name) return drop(row, reason.why);
    if (name == "export" && in_lower_case(one.value) == "all")
      return drop(row, "the job gets the environment of the shell that submits it");
    if ((name == "output" || name == "error") && one.value == "/dev/null")
      return drop(row, "the logs are in the run directory");
    if (name == "module") return accept("slurm", "module=" + one.value, row);
    if (find_option(name) == nullptr) {
      const auto instead = spec::instead_of("--" + name);
      if (instead) return lose(row, *instead);
      return accept("slurm", one.value.empty() ? name : name + "=" + one.value, row);
    }
    if (name == "time" && is_no_limit(one.value)) return accept(name, "UNLIMITED", row);
    accept(name, name == "array" ? without_brackets(one.value) : one.value, row);
  }

  void accept(const std::string& name, const std::string& value, Row& row) {
    const spec::Option* option = find_option(name);
    const bool is_flag = *option->value.type == '\0';
    std::vector<std::string> texts;
    const bool is_host_list = name == "exclude" || name == "nodelist";
    if (!is_flag) texts.push_back(is_host_list ? without_empty_hosts(value) : value);
    if (const auto problem = problem_of(name, texts)) {
      if (name == "output" || name == "error")
        return drop(row,
                    "the logs are in the run directory, see dtsubmit logs; " + problem->message);
      return lose(row, clause_of(*problem));
    }
    row.what = shown(name, texts);
    const auto before = draft_.settings.find(name);
    if (before != draft_.settings.end() && option->value.repeats) {
      before->second.texts.push_back(value);
      return;
    }
    if (before != draft_.settings.end() && before->second.row < draft_.rows.size()) {
      Row& earlier = draft_.rows[before->second.row];
      drop(earlier, "a later line overrides it, as sbatch does");
      earlier.what.clear();
    }
    draft_.settings[name] = {texts, draft_.rows.size()};
  }

  std::string_view text_;
  Draft& draft_;
};

const char* why_stumbles(lint::HeaderProblem::Kind kind) {
  using Kind = lint::HeaderProblem::Kind;
  switch (kind) {
    case Kind::unclosed_quote:
      return "a quotation mark is not closed: sbatch reads the line differently";
    case Kind::colon:
      return "a heterogeneous job: write its components as [[roles]] with heterogeneous = true";
    case Kind::stray_word:
      return "a word that is neither an option nor a value of one: sbatch ignores it";
    case Kind::missing_value:
      return "the option has no value";
    case Kind::unknown_letter:
      break;
  }
  return "sbatch does not know this option";
}

std::string_view line_around(std::string_view text, std::size_t at) {
  const std::size_t begin = text.substr(0, at).rfind('\n') + 1;  // npos + 1 is 0
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

void stumbles(const lint::Subject& subject, const lint::HeaderProblem& problem, Draft& draft) {
  const bool is_stray = problem.kind == lint::HeaderProblem::Kind::stray_word;
  if (is_stray && lint::is_placeholder(line_around(subject.text, problem.span.begin)))
    draft.add(problem.span, Became::fill_in, "", "part of a blank in the script");
  else
    draft.add(problem.span,
              is_stray ? Became::unnecessary : Became::lost,
              "",
              why_stumbles(problem.kind));
}

bool overlaps(const std::vector<Row>& rows, const Span& span) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return std::any_of(row.spans.begin(), row.spans.end(), [&](const Span& one) {
      return one.begin < span.end && span.begin < one.end;
    });
  });
}

const char* why_no_option(const lint::Subject& subject, const Span& line) {
  if (line.begin >= subject.header.end) return "sbatch reads no options after the first command";
  const std::string_view text = subject.text.substr(line.begin, line.end - line.begin);
  return text.find("hetjob") != std::string_view::npos ||
                 text.find("packjob") != std::string_view::npos
             ? "begins the next component of a heterogeneous job"
             : "the line has no option";
}

// Lines of options that sbatch does not read, or in which it finds none.
void read_other_lines(const lint::Subject& subject, Draft& draft) {
  const std::string_view text = subject.text;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const Span line{begin, end};
    const auto& comments = subject.script.comments;
    const bool is_comment =  // and not a part of a here-document
        !subject.is_shell || std::any_of(comments.begin(), comments.end(), [&](const Span& one) {
          return one.begin <= begin && begin < one.end;
        });
    if (is_comment && text.substr(begin, end - begin).starts_with("#SBATCH") &&
        !overlaps(draft.rows, line))
      draft.add(line, Became::unnecessary, "", why_no_option(subject, line));
    begin = end + 1;
  }
}

// Slurm takes --cpus-per-gpu of a job that asks for no GPUs, and gives no core for it.
void drop_cores_of_no_gpu(const lint::Subject& subject, Draft& draft) {
  const auto asked = draft.settings.find("cpus-per-gpu");
  if (asked == draft.settings.end() || subject.job.has_gpus || subject.says("--gpus") ||
      subject.says("gres"))
    return;
  draft.take_back("cpus-per-gpu",
                  "the job asks for no GPUs, and Slurm gives no cores without them");
}

}  // namespace

bool is_blank(std::string_view value, std::string_view option) {
  return lint::is_placeholder(value, option) || value.find("...") != std::string_view::npos;
}

void read_requests(const lint::Subject& subject, Draft& draft) {
  RequestReader reader(subject, draft);
  for (const lint::Directive& one : subject.header.directives)
    if (!overlaps(draft.rows, one.span)) reader.read(one);
  for (const lint::HeaderProblem& problem : subject.header.problems)
    if (problem.span.begin < problem.span.end && !overlaps(draft.rows, problem.span))
      stumbles(subject, problem, draft);
  read_other_lines(subject, draft);
  drop_cores_of_no_gpu(subject, draft);
}

bool read_container_option(const std::string& name,
                           const std::string& value,
                           Settings& settings,
                           Row& row) {
  if (!name.starts_with("container-") && !name.starts_with("no-container-")) return false;
  const auto set = [&](const std::string& option, const std::vector<std::string>& texts) {
    for (const std::string& text : texts)
      if (const auto problem = problem_of(option, {text})) {
        row.became = Became::lost;
        row.why = clause_of(*problem);
        return;
      }
    Asked& asked = settings[option];
    const bool adds = find_option(option)->value.repeats && option != "container";
    if (!adds) asked.texts.clear();
    asked.texts.insert(asked.texts.end(), texts.begin(), texts.end());
    row.what = shown(option, asked.texts);
  };
  if (name == "container-image") {
    set("container-runtime", {"pyxis"});
    set("container", {value});
  } else if (name == "container-mounts") {
    set("mount", split(value, ','));
  } else if (name == "container-env") {
    set("container-env", split(value, ','));
  } else {
    const auto instead = spec::instead_of_srun("--" + name);
    row.became = Became::unnecessary;
    row.why = instead ? *instead : "dtsubmit starts the container itself";
  }
  return true;
}

}  // namespace dts::convert
