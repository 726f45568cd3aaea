// SPDX-License-Identifier: Apache-2.0
#include "core/spec/json.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/json_bytes.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace dts::spec {
namespace {

using nlohmann::json;

constexpr const char* k_schema = "dtsubmit/spec/1";
constexpr std::size_t k_most_bytes = std::size_t{1} << 20;
constexpr int k_deepest = 16;

// Reading one value into the spec: an error says what was expected; empty means it was read.
using Read = std::string (*)(const json& value, JobSpec& spec);

template <class T>
std::string read_number(const json& value, T& into) {
  constexpr auto k_most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > k_most)
    return fmt::format("expected a whole number of 0 to {}", k_most);
  into = static_cast<T>(value.get<std::uint64_t>());
  return {};
}

template <class T>
std::string read_number(const json& value, std::optional<T>& into) {
  return read_number(value, into.emplace());
}

std::string read_text(const json& value, std::string& into) {
  if (!value.is_string()) return "expected a text in quotes";
  into = value.get<std::string>();
  return {};
}

std::string read_time(const json& value, std::optional<std::chrono::seconds>& into) {
  std::string text;
  if (std::string problem = read_text(value, text); !problem.empty())
    return problem + R"(, e.g. "1:30:00")";
  const auto time = parse_time_limit(text);
  if (!time) return time.error().message + ": " + time.error().hint;
  into = *time;
  return {};
}

std::string read_seconds(const json& value, std::chrono::seconds& into) {
  std::uint32_t seconds = 0;
  std::string problem = read_number(value, seconds);
  into = std::chrono::seconds(seconds);
  return problem;
}

std::string read_flag(const json& value, bool& into) {
  if (!value.is_boolean()) return "expected true or false";
  into = value.get<bool>();
  return {};
}

std::string read_arguments(const json& value, std::vector<std::string>& into) {
  const std::string problem =
      R"(expected a list of texts, e.g. ["python3", "train.py"], or {"hex": "..."} for bytes)";
  into.clear();
  if (!value.is_array()) return problem;
  for (const json& word : value) {
    auto bytes = bytes_from_json(word);
    if (!bytes) return problem;
    into.push_back(*std::move(bytes));
  }
  return {};
}

std::string read_texts(const json& value, const char* example, std::vector<std::string>& into) {
  std::string problem = fmt::format("expected a list of texts, e.g. {}", example);
  into.clear();
  if (!value.is_array()) return problem;
  for (const json& word : value)
    if (!read_text(word, into.emplace_back()).empty()) return problem;
  return {};
}

struct Field {
  const char* key;
  Read read;
};

constexpr Field k_fields[] = {
    {"schema",
     [](const json& v, JobSpec&) {
       return v == k_schema ? std::string() : fmt::format("expected \"{}\"", k_schema);
     }},
    {"job_name", [](const json& v, JobSpec& s) { return read_text(v, s.job_name); }},
    {"nodes", [](const json& v, JobSpec& s) { return read_number(v, s.nodes); }},
    {"gpus_per_node", [](const json& v, JobSpec& s) { return read_number(v, s.gpus_per_node); }},
    {"ntasks_per_node",
     [](const json& v, JobSpec& s) { return read_number(v, s.ntasks_per_node); }},
    {"cpus_per_task", [](const json& v, JobSpec& s) { return read_number(v, s.cpus_per_task); }},
    {"partition", [](const json& v, JobSpec& s) { return read_text(v, s.partition); }},
    {"exclude", [](const json& v, JobSpec& s) { return read_text(v, s.exclude); }},
    {"spares", [](const json& v, JobSpec& s) { return read_number(v, s.spares); }},
    {"account", [](const json& v, JobSpec& s) { return read_text(v, s.account); }},
    {"qos", [](const json& v, JobSpec& s) { return read_text(v, s.qos); }},
    {"time", [](const json& v, JobSpec& s) { return read_time(v, s.time); }},
    {"memory_mib", [](const json& v, JobSpec& s) { return read_number(v, s.memory_mib); }},
    {"requeue", [](const json& v, JobSpec& s) { return read_flag(v, s.requeue); }},
    {"signal_margin", [](const json& v, JobSpec& s) { return read_seconds(v, s.signal_margin); }},
    {"on", [](const json& v, JobSpec& s) { return read_text(v, s.on); }},
    {"hang_timeout", [](const json& v, JobSpec& s) { return read_time(v, s.hang_timeout); }},
    {"time_total",
     [](const json& v, JobSpec& s) {
       std::optional<std::chrono::seconds> time;
       std::string problem = read_time(v, time);
       s.time_total = time.value_or(s.time_total);
       return problem;
     }},
    {"launcher", [](const json& v, JobSpec& s) { return read_text(v, s.launcher); }},
    {"start_timeout", [](const json& v, JobSpec& s) { return read_seconds(v, s.start_timeout); }},
    {"preflight", [](const json& v, JobSpec& s) { return read_seconds(v, s.preflight); }},
    {"strict_binding", [](const json& v, JobSpec& s) { return read_flag(v, s.strict_binding); }},
    {"log_timestamps", [](const json& v, JobSpec& s) { return read_flag(v, s.log_timestamps); }},
    {"hosts", [](const json& v, JobSpec& s) { return read_text(v, s.hosts); }},
    {"ssh_command", [](const json& v, JobSpec& s) { return read_text(v, s.ssh_command); }},
    {"stop_signal", [](const json& v, JobSpec& s) { return read_number(v, s.stop_signal); }},
    {"frameworks",
     [](const json& v, JobSpec& s) { return read_texts(v, R"(["torch", "jax"])", s.frameworks); }},
    {"bind", [](const json& v, JobSpec& s) { return read_text(v, s.bind); }},
    {"smt", [](const json& v, JobSpec& s) { return read_number(v, s.smt); }},
    {"cores_per_rank", [](const json& v, JobSpec& s) { return read_number(v, s.cores_per_rank); }},
    {"bind_threads", [](const json& v, JobSpec& s) { return read_text(v, s.bind_threads); }},
    {"command", [](const json& v, JobSpec& s) { return read_arguments(v, s.command); }},
};

// The line and column of a byte, and the line itself for the caret.
Diagnostic at_byte(std::string_view text,
                   std::size_t byte,
                   const std::string& file,
                   std::string message) {
  byte = std::min(byte, text.size());
  const std::string_view before = text.substr(0, byte);
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = byte - start + 1;
  std::string source(text.substr(start, text.find('\n', start) - start));
  if (source.size() > 160 || !is_printable(source)) source.clear();
  return {fmt::format("{}:{}:{}", file, line, column),
          std::move(message),
          "",
          source,
          source.empty() ? 0 : static_cast<int>(column)};
}

// A bomb of brackets is refused before anything is built from it. The byte of the bracket too deep.
std::optional<std::size_t> too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (quoted)
      continue;
    else if ((c == '[' || c == '{') && ++depth > k_deepest)
      return i;
    else if (c == ']' || c == '}')
      --depth;
  }
  return std::nullopt;
}

// Parses into `value`; keys given twice at the top go to `repeated`.
std::optional<Diagnostic> parse(std::string_view text,
                                const std::string& file,
                                json& value,
                                std::set<std::string>& repeated) {
  if (text.size() > k_most_bytes)
    return Diagnostic{file,
                      fmt::format("{} bytes, at most {} are read", text.size(), k_most_bytes)};
  if (const auto byte = too_deep(text))
    return at_byte(text, *byte, file, fmt::format("nested deeper than {}", k_deepest));
  std::set<std::string> keys;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1 &&
        !keys.insert(parsed.get<std::string>()).second)
      repeated.insert(parsed.get<std::string>());
    return true;
  };
  try {
    value = json::parse(text, watch);
    return std::nullopt;
  } catch (const json::parse_error& error) {
    std::string what =
        error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const std::size_t colon = what.find(": "); colon != std::string::npos)
      what.erase(0, colon + 2);
    return at_byte(text, error.byte > 0 ? error.byte - 1 : 0, file, "not JSON: " + what);
  } catch (const json::exception& error) {
    return Diagnostic{file, std::string("not JSON: ") + error.what()};
  }
}

void read_field(const std::string& file,
                const std::string& key,
                const json& value,
                JobSpec& spec,
                Diagnostics& problems) {
  std::vector<std::string> known;
  for (const Field& field : k_fields) {
    if (key == field.key) {
      if (std::string problem = field.read(value, spec); !problem.empty())
        problems.push_back({fmt::format("{}: /{}", file, key), std::move(problem)});
      return;
    }
    known.emplace_back(field.key);
  }
  const auto near = nearest(key, known);
  problems.push_back(
      {file,
       fmt::format("unknown key `{}`", key),
       near ? fmt::format("did you mean `{}`?", *near) : "known are: " + join(known, ", ")});
}

}  // namespace

std::string to_json(const JobSpec& spec) {
  nlohmann::ordered_json value = {
      {"schema", k_schema}, {"job_name", spec.job_name}, {"nodes", spec.nodes}};
  const auto put = [&](const char* key, const auto& optional) {
    if (optional) value[key] = *optional;
  };
  put("gpus_per_node", spec.gpus_per_node);
  put("ntasks_per_node", spec.ntasks_per_node);
  put("cpus_per_task", spec.cpus_per_task);
  value["partition"] = spec.partition;
  if (!spec.exclude.empty()) value["exclude"] = spec.exclude;
  if (spec.spares > 0) value["spares"] = spec.spares;
  value["account"] = spec.account;
  value["qos"] = spec.qos;
  if (spec.time) value["time"] = format_time_limit(*spec.time);
  put("memory_mib", spec.memory_mib);
  value["requeue"] = spec.requeue;
  value["signal_margin"] = spec.signal_margin.count();
  if (!spec.on.empty()) value["on"] = spec.on;
  if (spec.hang_timeout) value["hang_timeout"] = format_time_limit(*spec.hang_timeout);
  if (spec.time_total.count() > 0) value["time_total"] = format_time_limit(spec.time_total);
  value["launcher"] = spec.launcher;
  value["start_timeout"] = spec.start_timeout.count();
  value["preflight"] = spec.preflight.count();
  value["log_timestamps"] = spec.log_timestamps;
  if (!spec.hosts.empty()) value["hosts"] = spec.hosts;
  if (!spec.ssh_command.empty()) value["ssh_command"] = spec.ssh_command;
  value["stop_signal"] = spec.stop_signal;
  value["frameworks"] = spec.frameworks;
  value["bind"] = spec.bind;
  if (spec.smt > 0) value["smt"] = spec.smt;
  if (spec.cores_per_rank > 0) value["cores_per_rank"] = spec.cores_per_rank;
  value["bind_threads"] = spec.bind_threads;
  if (spec.strict_binding) value["strict_binding"] = true;
  value["command"] = bytes_to_json(spec.command);
  // validate() refuses other texts that are not UTF-8; `replace` only keeps a caller who forgot it
  // from an exception.
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<JobSpec> from_json(std::string_view text, const std::string& file) {
  json value;
  std::set<std::string> repeated;
  if (auto problem = parse(text, file, value, repeated))
    return tl::unexpected(to_error({std::move(*problem)}));
  if (!value.is_object()) return fail(Errc::invalid, file + ": expected an object { ... }");
  Diagnostics problems;
  JobSpec spec;
  for (const std::string& key : repeated)
    problems.push_back({file, fmt::format("key `{}` is given twice", key)});
  if (!value.contains("schema"))
    problems.push_back({file, "no \"schema\"", fmt::format("add \"schema\": \"{}\"", k_schema)});
  for (const auto& [key, field] : value.items()) read_field(file, key, field, spec, problems);
  if (!problems.empty()) return tl::unexpected(to_error(problems));
  return spec;
}

}  // namespace dts::spec
