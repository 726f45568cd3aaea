// SPDX-License-Identifier: Apache-2.0
#include "core/train/rehearsal/rehearsal_plan.hpp"

#include "core/base/text/duration.hpp"
#include "core/base/text/names.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace dts::train {
namespace {

constexpr double k_largest = 1e18;  // bytes or parameters: far from overflow

struct Unit {
  std::string_view name;
  double factor;
};

constexpr Unit k_counts[] = {{"", 1}, {"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}};
constexpr Unit k_sizes[] = {{"", 1},
                            {"K", 1e3},
                            {"M", 1e6},
                            {"G", 1e9},
                            {"T", 1e12},
                            {"Ki", 0x1p10},
                            {"Mi", 0x1p20},
                            {"Gi", 0x1p30},
                            {"Ti", 0x1p40}};

constexpr Names<Amount::Per, 3> k_per{
    {{Amount::Per::job, ""}, {Amount::Per::node, "/node"}, {Amount::Per::rank, "/rank"}}};

template <std::size_t N>
std::optional<double> quantity(std::string_view text, const Unit (&units)[N]) {
  const auto end = text.find_last_of("0123456789.");
  if (end == std::string_view::npos) return std::nullopt;
  const auto number = parse_real(text.substr(0, end + 1));
  for (const Unit& unit : units)
    if (number && unit.name == text.substr(end + 1) && *number >= 0 &&
        *number * unit.factor <= k_largest)
      return *number * unit.factor;
  return std::nullopt;
}

bool set_parameters(RehearsalPlan& plan, std::string_view text) {
  const auto count = quantity(text, k_counts);
  plan.parameters = count.value_or(0);
  return count.has_value();
}

bool set_precision(RehearsalPlan& plan, std::string_view text) {
  plan.parameter_bytes = text == "fp32" ? 4 : 2;
  return text == "bf16" || text == "fp16" || text == "fp32";
}

bool set_step(RehearsalPlan& plan, std::string_view text) {
  constexpr double k_longest = 86400;
  const bool is_milliseconds = text.ends_with("ms");
  const auto time = parse_duration(is_milliseconds ? text.substr(0, text.size() - 2) : text);
  if (!time) return false;
  plan.step = time->count() / (is_milliseconds ? 1000 : 1);
  return plan.step <= k_longest;
}

}  // namespace

std::optional<double> parse_bytes(std::string_view text) {
  if (text.ends_with("B")) text.remove_suffix(1);
  return quantity(text, k_sizes);
}

namespace {

bool set_amount(Amount& amount, std::string_view text) {
  const auto slash = text.find('/');
  const auto per = value_of(k_per, slash == text.npos ? std::string_view() : text.substr(slash));
  const auto bytes = parse_bytes(text.substr(0, slash));
  if (!per || !bytes) return false;
  amount = {std::ceil(*bytes), *per};
  return true;
}

struct Key {
  std::string_view name;
  bool (*set)(RehearsalPlan&, std::string_view);
  const char* example;
};

constexpr Key k_keys[] = {
    {"params", set_parameters, "params=7B"},
    {"precision", set_precision, "precision=bf16, fp16 or fp32"},
    {"step", set_step, "step=2.5s"},
    {"checkpoint",
     [](RehearsalPlan& plan, std::string_view text) { return set_amount(plan.checkpoint, text); },
     "checkpoint=84G/node, 10G/rank or 700G in all"},
    {"memory",
     [](RehearsalPlan& plan, std::string_view text) { return set_amount(plan.memory, text); },
     "memory=200G/node"}};

Result<void> apply_word(RehearsalPlan& plan, std::string_view word) {
  const auto equals = word.find('=');
  std::string known;
  for (const Key& key : k_keys) {
    known += (known.empty() ? "" : "; ") + std::string(key.example);
    if (equals == std::string_view::npos || key.name != word.substr(0, equals)) continue;
    if (key.set(plan, word.substr(equals + 1))) return {};
    return fail(Errc::usage,
                fmt::format("--rehearse: '{}' is not valid", word),
                fmt::format("for example {}", key.example));
  }
  return fail(
      Errc::usage, fmt::format("--rehearse: '{}' is not known", word), "there are " + known);
}

std::string text_of(const Amount& amount) {
  return fmt::format("{:.0f}{}", amount.bytes, name_of(k_per, amount.per));
}

}  // namespace

std::uint64_t Amount::of_rank(int ranks, int node_size) const {
  const int sharing = per == Per::rank ? 1 : per == Per::node ? node_size : ranks;
  return static_cast<std::uint64_t>(std::ceil(bytes / sharing));
}

double RehearsalPlan::sent_bytes(int ranks) const {
  return 2.0 * parameters * parameter_bytes * (ranks - 1) / ranks;
}

std::string RehearsalPlan::text() const {
  return fmt::format("params={:.0f},precision={},step={}s,checkpoint={},memory={}",
                     parameters,
                     parameter_bytes == 2 ? "bf16" : "fp32",
                     step,
                     text_of(checkpoint),
                     text_of(memory));
}

Result<RehearsalPlan> parse_rehearsal(std::string_view words) {
  RehearsalPlan plan;
  for (const std::string& word : split(words, ',')) DTS_TRY(apply_word(plan, word));
  return plan;
}

}  // namespace dts::train
