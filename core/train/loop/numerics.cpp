// SPDX-License-Identifier: Apache-2.0
#include "core/train/loop/numerics.hpp"

#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"

#include "version.hpp"
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace dts::train {
namespace {

constexpr std::size_t k_longest = 120;  // bytes of a name or value that are compared

struct Field {
  std::array<char, k_longest> name{};
  std::array<char, k_longest> value{};
};

std::array<char, k_longest> packed(const std::string& text) {
  std::array<char, k_longest> all{};
  std::copy_n(text.begin(), std::min(text.size(), k_longest - 1), all.begin());
  return all;
}

std::string onednn() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("{}.{}.{} {}", version.major, version.minor, version.patch, version.hash);
}

// The value of the first line "name: value" in /proc/cpuinfo.
std::string field_of(const std::string& cpuinfo, const std::string& name) {
  for (std::size_t at = 0; at < cpuinfo.size();) {
    const std::size_t end = std::min(cpuinfo.find('\n', at), cpuinfo.size());
    const std::string_view line = std::string_view(cpuinfo).substr(at, end - at);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == name)
      return std::string(trim(line.substr(colon + 1)));
    at = end + 1;
  }
  return {};
}

}  // namespace

std::string processor_of(const std::string& cpuinfo) {
  if (const std::string vendor = field_of(cpuinfo, "vendor_id"); !vendor.empty())
    return fmt::format("{} family {} model {}",
                       vendor,
                       field_of(cpuinfo, "cpu family"),
                       field_of(cpuinfo, "model"));
  if (const std::string implementer = field_of(cpuinfo, "CPU implementer"); !implementer.empty())
    return fmt::format("implementer {} part {}", implementer, field_of(cpuinfo, "CPU part"));
  return "unknown";
}

Fingerprint local_numerics(InstructionSet used, std::uint64_t data) {
  return {{"cpu", processor_of(read_file("/proc/cpuinfo").value_or(""))},
          {k_instruction_set, to_string(used)},
          {"onednn", onednn()},
          {"libc", std::string("glibc ") + gnu_get_libc_version()},
          {"compiler", __VERSION__},
          {"trainer", cli::k_version},
          {"data", to_hex(data)}};
}

std::string disagreement(const std::string& name, const std::vector<std::string>& values) {
  std::vector<std::pair<std::string, std::vector<unsigned>>> groups;  // ordered by first rank
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    auto group = std::find_if(
        groups.begin(), groups.end(), [&](const auto& one) { return one.first == values[rank]; });
    if (group == groups.end()) group = groups.insert(groups.end(), {values[rank], {}});
    group->second.push_back(static_cast<unsigned>(rank));
  }
  if (groups.size() < 2) return {};
  std::string text = name + ":";
  for (const auto& [value, ranks] : groups)
    text += fmt::format(
        "{} {} on rank {}", &value == &groups.front().first ? "" : ";", value, fold_numbers(ranks));
  return text;
}

namespace {

// Collective; all ranks must have the same number of fields.
tl::unexpected<Error> differences_of(Comm& comm, const Fingerprint& fields) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::string all;
  for (const auto& [name, value] : fields) {  // ranks of one release have the same names
    const Field mine{packed(name), packed(value)};
    std::vector<Field> theirs(ranks);
    comm.post_gather(&mine, theirs.data(), sizeof mine);
    comm.barrier();
    std::vector<std::string> values;
    for (const Field& one : theirs)
      values.emplace_back(one.name == mine.name ? one.value.data() : "nothing");
    const std::string found = disagreement(name, values);
    if (!found.empty()) all += (all.empty() ? "" : "; ") + found;
  }
  if (comm.rank() != 0) return fail(Errc::invalid, "");
  return fail(Errc::invalid,
              "the ranks do not agree on " + (all.empty() ? "the names of their options" : all),
              "start all ranks with the same program, options and data on machines of one kind, or "
              "with --numerics any if only the machines differ");
}

}  // namespace

Result<void> agree_on(Comm& comm, const Fingerprint& fields) {
  std::string whole;
  for (const auto& [name, value] : fields) whole += name + '\0' + value + '\0';
  using Summary = std::array<std::uint64_t, 2>;
  const Summary mine{hash64(whole), fields.size()};
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<Summary> summaries(ranks, mine);
  if (comm.size() > 1) comm.post_gather(&mine, summaries.data(), sizeof mine);
  comm.barrier();
  if (std::all_of(summaries.begin(), summaries.end(), [&](const Summary& s) { return s == mine; }))
    return {};
  const bool comparable = std::all_of(
      summaries.begin(), summaries.end(), [&](const Summary& s) { return s[1] == mine[1]; });
  if (!comparable)
    return fail(Errc::invalid,
                comm.rank() == 0 ? "the ranks run programs of several releases of dttrain" : "");
  return differences_of(comm, fields);
}

}  // namespace dts::train
