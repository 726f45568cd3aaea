// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/options.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::train::bench {
namespace {

using Text = const std::string&;

struct Row {
  const char* name;
  const char* value;
  const char* help;
  bool (*set)(BenchOptions&, Text);  // false: invalid value
};

const std::vector<std::string>& all_phases() {
  static const std::vector<std::string> names{
      "cores", "gemm", "memory", "gpu", "disk", "steps", "clock", "pairs", "collectives"};
  return names;
}

const std::vector<std::string>& all_faults() {
  static const std::vector<std::string> names{
      "slow", "memory", "disk", "clock", "weight", "gradient", "momentum"};
  return names;
}

bool is_one_of(Text word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<std::uint64_t> number_up_to(std::string_view text, std::uint64_t most) {
  const auto number = parse_number(text);
  return number && *number <= most ? number : std::nullopt;
}

// WHAT[:ELEMENT[:REPEAT]][@RANK]
std::optional<Injection> parse_injection(Text text) {
  constexpr std::uint64_t k_most = 1000000;
  const auto at = text.find('@');
  const std::vector<std::string> words = split(text.substr(0, at), ':');
  Injection injection{words.front()};
  const auto rank = at == std::string::npos ? 0 : number_up_to(text.substr(at + 1), k_most);
  const bool flips = is_one_of(words.front(), {"weight", "gradient", "momentum"});
  if (!rank || !is_one_of(words.front(), all_faults()) || words.size() > (flips ? 3 : 1))
    return std::nullopt;
  injection.rank = static_cast<int>(*rank);
  if (words.size() > 1) {
    const auto element = number_up_to(words[1], k_most);
    if (!element) return std::nullopt;
    injection.element = *element;
  }
  if (words.size() > 2) {
    const auto repeat = number_up_to(words[2], k_most);
    if (!repeat) return std::nullopt;
    injection.repeat = static_cast<int>(*repeat);
  }
  return injection;
}

bool set_path(std::string& to, Text text) {
  to = text;
  return !text.empty();
}

bool add_phases(BenchOptions& o, Text text) {
  for (const std::string& name : split(text, ',')) {
    if (!is_one_of(name, all_phases())) return false;
    o.phases.push_back(name);
  }
  return true;
}

bool add_injection(BenchOptions& o, Text text) {
  const auto injection = parse_injection(text);
  if (injection) o.injections.push_back(*injection);
  return injection.has_value();
}

bool set_repeats(int& to, Text text) {
  const auto number = number_up_to(text, 1000000);
  if (number) to = static_cast<int>(*number);
  return number && *number > 0;
}

bool set_pairs(BenchOptions& o, Text text) {
  const auto number = number_up_to(text, std::uint64_t{1} << 28);
  if (number) o.pair_bytes = *number;
  return number && *number > 0;
}

bool set_gpus(BenchOptions& o, Text text) {
  const auto number = number_up_to(text, 4096);
  if (number) o.gpus = *number;
  return number.has_value();
}

bool set_share(BenchOptions& o, Text text) {
  const auto number = parse_real(text);
  if (number) o.share = *number;
  return number && *number > 0 && *number <= 1;
}

const Row k_rows[] = {
    {"--output",
     "FILE",
     "file for the measurements, JSON [$DTSUBMIT_RUN_DIR/check.json or -, stdout]",
     [](BenchOptions& o, Text t) { return set_path(o.output, t); }},
    {"--run-dir",
     "DIR",
     "measure the disk of this folder as that of runs [$DTSUBMIT_RUN_DIR]",
     [](BenchOptions& o, Text t) { return set_path(o.run_dir, t); }},
    {"--scratch",
     "DIR",
     "measure the disk of this folder as scratch [$TMPDIR or /tmp]",
     [](BenchOptions& o, Text t) { return set_path(o.scratch, t); }},
    {"--pairs", "BYTES", "size of the messages for bandwidth [4194304, quick: 1048576]", set_pairs},
    {"--steps",
     "N",
     "repeats of the training step [100, quick: 10]",
     [](BenchOptions& o, Text t) { return set_repeats(o.steps, t); }},
    {"--gpu-steps",
     "N",
     "repeats of the training step on GPUs [1000, quick: 50]",
     [](BenchOptions& o, Text t) { return set_repeats(o.gpu_steps, t); }},
    {"--gpu-model",
     "MODEL",
     "model of that step, of tokens, as in dttrain --model [a gpt2 of 18M]",
     [](BenchOptions& o, Text t) { return set_path(o.gpu_model, t); }},
    {"--gpus", "N", "GPUs that each rank should find; missing ones are reported", set_gpus},
    {"--phase", "NAME,...", "measure only these", add_phases},
    {"--inject", "WHAT", "a fault on purpose, for tests", add_injection},
    {"--alone", "PHASE", "", [](BenchOptions& o, Text t) { return set_path(o.alone, t); }},
    {"--share", "X", "", set_share},
};

Result<const Row*> find_row(Text name) {
  std::vector<std::string> names{"--quick", "--help"};
  for (const Row& row : k_rows) {
    if (name == row.name) return &row;
    names.emplace_back(row.name);
  }
  if (!name.starts_with("-"))
    return fail(Errc::usage,
                fmt::format("unexpected argument '{}'", name),
                "dttrain bench --help lists all options");
  const auto near = nearest(name, names);
  return fail(Errc::usage,
              "unknown option " + name,
              near ? "did you mean " + *near + "?" : "dttrain bench --help lists all options");
}

void read_environment(BenchOptions& options,
                      const std::function<const char*(const char*)>& environment) {
  const auto value = [&](const char* name) {
    const char* const text = environment(name);
    return std::string(text != nullptr ? text : "");
  };
  if (const std::string scratch = value("TMPDIR"); !scratch.empty()) options.scratch = scratch;
  options.run_dir = value("DTSUBMIT_RUN_DIR");
  if (options.run_dir.empty()) return;
  options.output = options.run_dir + "/check.json";
  options.planned_ranks = parse_number(value("WORLD_SIZE"));
}

}  // namespace

bool BenchOptions::wants(const std::string& phase) const {
  return phases.empty() || is_one_of(phase, phases);
}

const Injection* BenchOptions::injection(const std::string& what, int rank) const {
  for (const Injection& injection : injections)
    if (injection.what == what && injection.rank == rank) return &injection;
  return nullptr;
}

std::string to_string(const Injection& injection) {
  const bool flips = is_one_of(injection.what, {"weight", "gradient", "momentum"});
  const std::string place =
      flips ? fmt::format(":{}:{}", injection.element, injection.repeat) : std::string();
  return fmt::format("{}{}@{}", injection.what, place, injection.rank);
}

Result<BenchOptions> parse_bench_options(
    const std::vector<std::string>& arguments,
    const std::function<const char*(const char*)>& environment) {
  BenchOptions options;
  read_environment(options, environment);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    options.quick = options.quick || word == "--quick";
    options.help = options.help || word == "--help" || word == "-h";
    if (options.help) return options;
    if (word == "--quick") continue;
    const auto equals = word.find('=');
    DTS_ASSIGN(const Row* const row, find_row(word.substr(0, equals)));
    if (equals == std::string::npos && i + 1 == arguments.size())
      return fail(Errc::usage, word + " needs a value", fmt::format("{} {}", word, row->value));
    const std::string value =
        equals == std::string::npos ? arguments[++i] : word.substr(equals + 1);
    if (!row->set(options, value))
      return fail(Errc::usage,
                  fmt::format("{}: '{}' is not valid", row->name, value),
                  "dttrain bench --help explains the values");
  }
  if (options.output == "-") options.output.clear();
  return options;
}

std::string bench_usage() {
  std::string text =
      "Usage: dttrain bench [options], alone or under mpirun or srun\n\n"
      "Measures nodes and the links between them, and runs the same training step on each node.\n"
      "`dtsubmit check` judges the measurements.\n\n"
      "  --quick            a rough measurement in a few seconds\n";
  for (const Row& row : k_rows)
    if (*row.help != '\0')
      text += fmt::format("  {:<18} {}\n", fmt::format("{} {}", row.name, row.value), row.help);
  return text + "\nPhases: " + join(all_phases(), ", ") +
         ".\n\n"
         "Faults for tests (--inject WHAT[@RANK], for rank 0 if none is named; can be repeated):\n"
         "  slow               each thread loses a fifth of its time, in cores and gemm\n"
         "  memory             the bandwidth is halved, in memory\n"
         "  disk               writes and reads take five times as long\n"
         "  clock              the rank's clock is 2 s ahead\n"
         "  weight[:E[:R]], gradient[:E[:R]], momentum[:E[:R]]\n"
         "                     one bit of element E [0] is flipped in repeat R [3] of the step\n"
         "\nExit codes: 0 measured; 2 usage; 74 the facts could not be written; 93 a rank does "
         "not\n"
         "answer: the measurements of the others are written.\n";
}

}  // namespace dts::train::bench
