// SPDX-License-Identifier: Apache-2.0
#include "core/run/index/quarantine_file.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/run/directory/file_lock.hpp"
#include "core/run/ledger/ledger.hpp"

namespace dts::run {
namespace {

constexpr std::size_t k_large_file = std::size_t{256} << 10;
constexpr std::uint64_t k_largest_file = std::uint64_t{16} << 20;
constexpr std::string_view k_ending = ".jsonl";

}  // namespace

Result<std::string> quarantine_path(const std::string& cluster) {
  if (!is_safe_name(cluster))
    return fail(Errc::invalid, "the cluster's name `" + cluster + "` cannot be a file name");
  DTS_ASSIGN(const std::string state, state_folder());
  return state + "/quarantine/" + cluster + std::string(k_ending);
}

std::vector<std::string> quarantine_clusters() {
  std::vector<std::string> clusters;
  const auto state = state_folder();
  if (!state) return clusters;
  for (const std::string& name : list_folder(*state + "/quarantine"))
    if (name.size() > k_ending.size() &&
        name.compare(name.size() - k_ending.size(), k_ending.size(), k_ending) == 0)
      clusters.push_back(name.substr(0, name.size() - k_ending.size()));
  return clusters;
}

Result<std::vector<Strike>> read_strikes(const std::string& path) {
  const auto text = read_own_file(path, k_largest_file);
  if (text) return parse_strikes(*text);
  if (text.error().code == Errc::not_found) return std::vector<Strike>();
  return tl::unexpected<Error>(text.error());
}

std::string strikes_damage(const std::string& path) {
  return damage_words(
      read_own_file(path, k_largest_file).value_or(""), path, [](std::string_view line) {
        return !parse_strikes(std::string(line)).empty();
      });
}

Result<void> add_strikes(const std::string& path, std::vector<Strike> strikes, WallTime now) {
  if (strikes.empty()) return {};
  DTS_TRY(make_folders(path.substr(0, path.rfind('/'))));
  const UniqueFd locked = lock_beside(path);
  const std::string text = read_own_file(path, k_largest_file).value_or("");
  // A line that a crash truncated must not swallow the next one.
  bool torn = !text.empty() && text.back() != '\n';
  for (Strike& strike : strikes) {
    strike.time = format_utc(now);
    DTS_TRY(append_line(path, (torn ? "\n" : "") + to_line(strike)));
    torn = false;
  }
  if (text.size() < k_large_file || !locked.valid()) return {};
  DTS_ASSIGN(const std::vector<Strike> all, read_strikes(path));
  std::string kept;
  for (const Strike& strike : worth_keeping(all, now)) kept += to_line(strike) + "\n";
  return write_file(path, kept);
}

}  // namespace dts::run
