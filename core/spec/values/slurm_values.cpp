// SPDX-License-Identifier: Apache-2.0
#include "core/spec/values/slurm_values.hpp"

#include "core/base/text/array_indices.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/spec/exports.hpp"
#include "core/spec/values/json_values.hpp"
#include "core/spec/values/values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <functional>

namespace dts::spec {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Converts the typed text into what is passed on.
using Normalise = std::function<Result<std::string>(const std::string& typed)>;

Value checked(const char* name, const char* type, Normalise normalise) {
  Value value = for_slurm(name, type);
  value.parse = [=](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(spec.slurm[name], normalise(typed));
    return {};
  };
  value.read = [=](const json& stored, JobSpec& spec) -> Result<void> {
    std::string given;
    DTS_TRY(read_text(stored, given));
    DTS_ASSIGN(spec.slurm[name], normalise(given));
    return {};
  };
  return value;
}

Result<std::string> one_of(const std::string& typed, const std::vector<std::string>& words) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return in_lower_case(word) == in_lower_case(typed);
  });
  if (found != words.end()) return *found;
  return fail(
      Errc::invalid, fmt::format("`{}` is not known", typed), "one of " + join(words, ", "));
}

Result<std::int64_t> signed_number(const std::string& typed) {
  std::int64_t number = 0;
  const char* end = typed.data() + typed.size();
  const auto [rest, error] = std::from_chars(typed.data(), end, number);
  if (error != std::errc() || rest != end)
    return fail(Errc::invalid, fmt::format("`{}` is not a whole number", typed));
  return number;
}

// "afterok:12:13", "after:5+10", "singleton"
Result<void> check_condition(const std::string& condition) {
  static const std::vector<std::string> kinds{"after",
                                              "afterany",
                                              "afterburstbuffer",
                                              "aftercorr",
                                              "afternotok",
                                              "afterok",
                                              "expand",
                                              "singleton"};
  const std::vector<std::string> parts = split(condition, ':');
  const std::string kind = parts.front();
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    return fail(Errc::invalid,
                fmt::format("`{}` is not a kind of dependency", kind),
                "one of " + join(kinds, ", ") + ", e.g. afterok:1234");
  if ((kind == "singleton") != (parts.size() == 1))
    return fail(Errc::invalid,
                fmt::format("`{}` {}", kind, parts.size() > 1 ? "takes no job id" : "names no job"),
                "for example singleton, or afterok:1234:1235");
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i].empty() || parts[i].find_first_not_of("0123456789_+*") != std::string::npos)
      return fail(Errc::invalid,
                  fmt::format("`{}` is not a job id", parts[i]),
                  "for example afterok:1234, or aftercorr:1234_7");
  return {};
}

Result<std::string> normal_dependency(const std::string& typed) {
  const bool any = typed.find('?') != std::string::npos;
  if (any && typed.find(',') != std::string::npos)
    return fail(Errc::invalid,
                "`,` (all of them) and `?` (any of them) in one dependency",
                "use one of both");
  for (const std::string& condition : split(typed, any ? '?' : ',')) {
    DTS_TRY(check_condition(condition));
  }
  return typed;
}

}  // namespace

Value for_slurm(const char* name, const char* type) {
  Value value;
  value.type = type;
  value.parse = [name](const std::string& typed, JobSpec& spec) -> Result<void> {
    spec.slurm[name] = typed;
    return {};
  };
  value.read = [name](const json& stored, JobSpec& spec) -> Result<void> {
    std::string given;
    DTS_TRY(read_text(stored, given));
    if (!given.empty()) spec.slurm[name] = given;
    return {};
  };
  value.write = [name](const JobSpec& spec) {
    const auto found = spec.slurm.find(name);
    return found == spec.slurm.end() ? ordered_json() : ordered_json(found->second);
  };
  value.check = [name](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    if (const auto found = spec.slurm.find(name); found != spec.slurm.end())
      check_text(found->second, option, problems);
  };
  return value;
}

Value slurm_number(const char* name, std::int64_t least, std::int64_t most) {
  return checked(name, "N", [=](const std::string& typed) -> Result<std::string> {
    DTS_ASSIGN(const std::int64_t number, signed_number(typed));
    if (number < least || number > most)
      return fail(Errc::invalid, fmt::format("{} is not within {} to {}", number, least, most));
    return std::to_string(number);
  });
}

Value slurm_count(const char* name) {
  return slurm_number(name, 1, k_most);
}

Value slurm_time(const char* name) {
  return checked(name, "TIME", [](const std::string& typed) {
    return parse_time_limit(typed).map(format_time_limit);
  });
}

Value slurm_size(const char* name) {
  return checked(name, "SIZE", [](const std::string& typed) {
    return parse_memory_mib(typed).map([](std::uint64_t mib) { return fmt::format("{}M", mib); });
  });
}

Value slurm_word(const char* name, const char* type, std::vector<std::string> words) {
  return checked(name, type, [words = std::move(words)](const std::string& typed) {
    return one_of(typed, words);
  });
}

Value slurm_words(const char* name, const char* type, std::vector<std::string> words) {
  return checked(
      name, type, [words = std::move(words)](const std::string& typed) -> Result<std::string> {
        std::vector<std::string> normal;
        for (const std::string& word : split(typed, ',')) {
          DTS_ASSIGN(normal.emplace_back(), one_of(word, words));
        }
        return join(normal, ",");
      });
}

Value slurm_array(const char* name) {
  return checked(name, "INDICES", [](const std::string& typed) {
    return parse_array_indices(typed).map([](const ArrayIndices& array) { return to_text(array); });
  });
}

Value slurm_nodes(const char* name) {
  return checked(name, "LIST", [](const std::string& typed) -> Result<std::string> {
    if (const auto nodes = expand_hostlist(typed); !nodes)
      return fail(Errc::invalid, nodes.error().message, "for example n3 or n[1-2],m7");
    return typed;
  });
}

Value slurm_moment(const char* name) {
  return checked(name, "TIME", [](const std::string& typed) -> Result<std::string> {
    constexpr const char* k_parts =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ:+-/. ";
    if (typed.find_first_not_of(k_parts) != std::string::npos)
      return fail(Errc::invalid,
                  fmt::format("`{}` is not a point in time", typed),
                  "for example 16:00, tomorrow, now+1hour or 2027-01-20T12:34:00");
    return typed;
  });
}

Value slurm_dependency(const char* name) {
  return checked(name, "LIST", normal_dependency);
}

Value slurm_exports(const char* name) {
  return checked(name, "LIST", [](const std::string& typed) -> Result<std::string> {
    DTS_TRY(parse_exports(typed));
    return typed;
  });
}

Value slurm_flag(const char* name, const char* passed_on) {
  Value value;
  value.parse = [=](const std::string&, JobSpec& spec) -> Result<void> {
    spec.slurm[name] = passed_on;
    return {};
  };
  value.read = [=](const json& stored, JobSpec& spec) -> Result<void> {
    bool set = false;
    DTS_TRY(read_flag(stored, set));
    if (set) spec.slurm[name] = passed_on;
    return {};
  };
  value.write = [name](const JobSpec& spec) {
    return spec.slurm.count(name) > 0 ? ordered_json(true) : ordered_json();
  };
  return value;
}

Value or_flag(Value value, const char* name) {
  const Value flag = slurm_flag(name);
  value.parse = [=](const std::string& typed, JobSpec& spec) {
    return typed == k_bare ? flag.parse(typed, spec) : value.parse(typed, spec);
  };
  value.read = [=](const json& stored, JobSpec& spec) {
    return stored.is_boolean() ? flag.read(stored, spec) : value.read(stored, spec);
  };
  value.write = [=](const JobSpec& spec) {
    const auto found = spec.slurm.find(name);
    return found != spec.slurm.end() && found->second.empty() ? ordered_json(true)
                                                              : value.write(spec);
  };
  value.may_be_bare = true;
  return value;
}

}  // namespace dts::spec
