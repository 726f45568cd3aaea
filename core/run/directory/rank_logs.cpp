// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/rank_logs.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/text/alike.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace dts::run {
namespace {

constexpr std::uint64_t k_most_at_once = std::uint64_t{1} << 20;
constexpr unsigned k_most_ranks = 1'000'000;

std::string prefix_of(unsigned rank) {
  return fmt::format("[{}] ", rank);
}

}  // namespace

Result<RankSelection> parse_ranks(const std::string& text) {
  if (text == "all") return RankSelection{true, {}};
  RankSelection selection{false, {}};
  for (const std::string& item : split(text, ',')) {
    const std::size_t dash = item.find('-');
    const auto first = parse_number(item.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_number(item.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= k_most_ranks)
      return fail(Errc::usage,
                  fmt::format("--ranks: `{}` does not name ranks", text),
                  "write all, a number, or a list such as 0,4-7");
    const std::size_t before = selection.ranks.size();
    selection.ranks.resize(before + *last - *first + 1);
    std::iota(selection.ranks.begin() + static_cast<std::ptrdiff_t>(before),
              selection.ranks.end(),
              static_cast<unsigned>(*first));
  }
  make_set(selection.ranks);
  return selection;
}

bool is_selected(const RankSelection& selection, unsigned rank) {
  return selection.all || std::binary_search(selection.ranks.begin(), selection.ranks.end(), rank);
}

std::string set_up_log(const RunDirectory& run, unsigned attempt, std::string node) {
  std::replace(node.begin(), node.end(), '/', '_');
  return run.attempt(attempt) + "/set-up-" + node + ".log";
}

std::string stage_record(const RunDirectory& run, unsigned attempt, std::string node) {
  std::replace(node.begin(), node.end(), '/', '_');
  return run.attempt(attempt) + "/stage-" + node;
}

std::vector<std::string> last_lines(const std::string& path, std::size_t lines) {
  constexpr off_t k_most_bytes = 64 << 10;
  const auto file = open_own_file(path, Others::may_write);
  if (!file) return {};
  const off_t from = std::max<off_t>(0, ::lseek(file->get(), 0, SEEK_END) - k_most_bytes);
  std::string text(k_most_bytes, '\0');
  const ssize_t size = ::pread(file->get(), text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, size)));
  if (text.ends_with('\n')) text.pop_back();
  if (text.empty()) return {};
  std::vector<std::string> found = split(text, '\n');
  if (found.size() > lines)
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(lines));
  return found;
}

std::vector<std::string> last_lines_of_set_up(const std::string& path, std::size_t most) {
  constexpr std::size_t k_longest_report = 30;
  std::vector<std::string> lines = last_lines(path, k_longest_report);
  while (!lines.empty() && trim(lines.back()).empty()) lines.pop_back();
  const auto is_report = [](const std::string& line) {
    return line.starts_with("Lmod has detected the following error:");
  };
  const auto after = std::find_if(lines.rbegin(), lines.rend(), is_report);
  if (after != lines.rend()) {
    lines.erase(lines.begin(), std::prev(after.base()));
    lines.resize(std::min(lines.size(), most));
  }
  if (lines.size() > most)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most));
  return lines;
}

std::vector<std::string> launcher_lines(const RunDirectory& run,
                                        unsigned attempt,
                                        std::size_t lines) {
  constexpr std::size_t k_all = SIZE_MAX;
  std::vector<std::string> found = last_lines(run.agent_log(attempt), k_all);
  std::erase_if(found, [](const std::string& line) {
    return parse_utc(line.substr(0, line.find(' '))).has_value();
  });
  if (found.size() > lines)
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(lines));
  return found;
}

RankLogs::RankLogs(const RunDirectory& run, unsigned attempt, RankSelection selection)
    : run_(run), attempt_(attempt), all_(selection.all) {
  const bool alone = !all_ && selection.ranks.size() == 1;
  if (!all_)
    for (const unsigned rank : selection.ranks)
      logs_.try_emplace(rank, run.rank_log(attempt, rank), alone ? "" : prefix_of(rank));
}

void RankLogs::find_new() {
  constexpr std::string_view k_before = "rank-", k_after = ".log";
  for (const std::string& name : list_folder(run_.attempt(attempt_))) {
    if (!name.starts_with(k_before) || !name.ends_with(k_after)) continue;
    const auto rank =
        parse_number(name.substr(k_before.size(), name.size() - k_before.size() - k_after.size()));
    if (!rank || *rank >= k_most_ranks) continue;
    const auto number = static_cast<unsigned>(*rank);
    logs_.try_emplace(number, run_.rank_log(attempt_, number), prefix_of(number));
  }
}

Result<bool> RankLogs::copy_to(int fd) {
  if (all_) find_new();
  bool any = false;
  for (auto& [rank, log] : logs_) {
    DTS_ASSIGN(const bool is_new, log.copy_to(fd, k_most_at_once));
    any = any || is_new;
  }
  return any;
}

Result<void> RankLogs::copy_rest(int fd) {
  if (all_) find_new();
  for (auto& [rank, log] : logs_) DTS_TRY(log.copy_rest(fd));
  return {};
}

}  // namespace dts::run
