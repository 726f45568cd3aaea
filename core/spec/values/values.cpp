// SPDX-License-Identifier: Apache-2.0
// Counts, texts, words and flags.
#include "core/spec/values/values.hpp"

#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/spec/values/json_values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <limits>

namespace dts::spec {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t k_longest_name = 1'024;  // Slurm's limit for names (job_mgr.c)

Result<unsigned> parse_count(const std::string& text) {
  const auto number = parse_number(text);
  if (!number || *number > std::numeric_limits<unsigned>::max())
    return fail(Errc::invalid, fmt::format("`{}` is not a number", text));
  return static_cast<unsigned>(*number);
}

void check_count(unsigned value, unsigned least, const std::string& option, Diagnostics& problems) {
  if (value < least) problems.push_back({option, fmt::format("at least {}, not {}", least, value)});
  if (value > k_most)
    problems.push_back({option, fmt::format("at most {}, not {}", k_most, value)});
}

// Text stored as typed, and written unless empty.
Value plain_text(std::string JobSpec::*member, const char* type) {
  Value value;
  value.type = type;
  value.parse = [member](const std::string& typed, JobSpec& spec) -> Result<void> {
    spec.*member = typed;
    return {};
  };
  value.read = [member](const json& stored, JobSpec& spec) {
    return read_text(stored, spec.*member);
  };
  value.write = [member](const JobSpec& spec) {
    return (spec.*member).empty() ? ordered_json() : ordered_json(spec.*member);
  };
  return value;
}

// Converters for a mandatory or an optional number.
template <class Member>
Value count_of(Member member, unsigned least) {
  Value value;
  value.type = "N";
  value.parse = [member](const std::string& typed, JobSpec& spec) {
    return parse_count(typed).map([&](unsigned number) { spec.*member = number; });
  };
  value.read = [member](const json& stored, JobSpec& spec) -> Result<void> {
    unsigned number = 0;
    DTS_TRY(read_number(stored, number));
    spec.*member = number;
    return {};
  };
  value.write = [member](const JobSpec& spec) {
    const std::optional<unsigned> number = spec.*member;
    return number ? ordered_json(*number) : ordered_json();
  };
  value.check = [=](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    const std::optional<unsigned> number = spec.*member;
    if (number) check_count(*number, least, option, problems);
  };
  return value;
}

}  // namespace

void check_text(const std::string& text, const std::string& option, Diagnostics& problems) {
  if (!is_printable(text) || !is_utf8(text))
    problems.push_back({option, "contains a byte that is not part of a printable UTF-8 character"});
  else if (text.size() > k_longest_name)
    problems.push_back(
        {option,
         fmt::format("is {} bytes long, Slurm accepts at most {}", text.size(), k_longest_name)});
}

Value local_text(std::string JobSpec::*member, const char* type) {
  Value value;
  value.type = type;
  value.parse = plain_text(member, type).parse;
  return value;
}

Value count(unsigned JobSpec::*member, unsigned least) {
  return count_of(member, least);
}

Value count(std::optional<unsigned> JobSpec::*member, unsigned least) {
  return count_of(member, least);
}

Value count_if_any(unsigned JobSpec::*member) {
  Value value = count(member, 0);
  value.write = [member](const JobSpec& spec) {
    return spec.*member > 0 ? ordered_json(spec.*member) : ordered_json();
  };
  return value;
}

Value count_if_any(std::optional<unsigned> JobSpec::*member) {
  return count_of(member, 1);
}

Value text(std::string JobSpec::*member, const char* type) {
  Value value = plain_text(member, type);
  value.check = [member](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    check_text(spec.*member, option, problems);
  };
  return value;
}

Value host_list(std::string JobSpec::*member) {
  Value value = plain_text(member, "LIST");
  value.check = [member](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    if ((spec.*member).empty()) return;
    if (const auto nodes = expand_hostlist(spec.*member); !nodes)
      problems.push_back({option, nodes.error().message, "for example n3 or n[1-2],m7"});
  };
  return value;
}

Value flag(bool JobSpec::*member, Written written) {
  Value value;
  value.parse = [member](const std::string&, JobSpec& spec) -> Result<void> {
    spec.*member = true;
    return {};
  };
  value.read = [member](const json& stored, JobSpec& spec) {
    return read_flag(stored, spec.*member);
  };
  value.write = [=](const JobSpec& spec) {
    return written == Written::always || spec.*member ? ordered_json(spec.*member) : ordered_json();
  };
  return value;
}

Value no_flag(bool JobSpec::*member) {
  Value value;
  value.parse = [member](const std::string&, JobSpec& spec) -> Result<void> {
    spec.*member = false;
    return {};
  };
  return value;
}

namespace {

// No duplicates, in the order of all_frameworks(); unknown names are left for the check.
std::vector<std::string> parse_frameworks(const std::string& text) {
  if (text == "all") return all_frameworks();
  std::vector<std::string> asked;
  if (text == "none") return asked;
  for (const std::string& name : split(text, ','))
    if (std::find(asked.begin(), asked.end(), name) == asked.end()) asked.push_back(name);
  const std::vector<std::string> order = all_frameworks();
  std::stable_sort(asked.begin(), asked.end(), [&](const auto& a, const auto& b) {
    return std::find(order.begin(), order.end(), a) < std::find(order.begin(), order.end(), b);
  });
  return asked;
}

void check_frameworks(const std::vector<std::string>& asked,
                      const std::string& option,
                      Diagnostics& problems) {
  const std::vector<std::string> known = all_frameworks();
  for (const std::string& name : asked) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const bool reads_torch = name == "deepspeed" || name == "accelerate" || name == "lightning";
    problems.push_back({option,
                        fmt::format("`{}` is not known", name),
                        reads_torch ? "it reads the variables of torch"
                                    : "all, none, or a list of " + join(known, ", ")});
  }
}

}  // namespace

Value texts(std::vector<std::string> JobSpec::*member, const char* type, const char* example) {
  Value value;
  value.type = type;
  value.repeats = true;
  value.parse = [member](const std::string& typed, JobSpec& spec) -> Result<void> {
    (spec.*member).push_back(typed);
    return {};
  };
  value.read = [member, example](const json& stored, JobSpec& spec) {
    return read_texts(stored, example, spec.*member);
  };
  value.write = [member](const JobSpec& spec) {
    return (spec.*member).empty() ? ordered_json() : ordered_json(spec.*member);
  };
  return value;
}

Value frameworks(std::vector<std::string> JobSpec::*member) {
  Value value;
  value.type = "LIST";
  value.parse = [member](const std::string& typed, JobSpec& spec) -> Result<void> {
    spec.*member = parse_frameworks(typed);
    return {};
  };
  value.read = [member](const json& stored, JobSpec& spec) {
    return read_texts(stored, R"(["torch", "jax"])", spec.*member);
  };
  value.write = [member](const JobSpec& spec) { return ordered_json(spec.*member); };
  value.check = [member](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    check_frameworks(spec.*member, option, problems);
  };
  return value;
}

}  // namespace dts::spec
