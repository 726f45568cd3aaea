// SPDX-License-Identifier: Apache-2.0
#include "cli/output/orders.hpp"

#include "core/base/text/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <utility>

namespace dts::cli {

void OrderReport::add(Ordered ordered) {
  if (json_) return all_.push_back(std::move(ordered));
  fmt::print("{}", ordered.text);
  std::fflush(stdout);
}

void OrderReport::add_failed(Ordered ordered, const Error& error) {
  ordered.result = "failed";
  ordered.detail = error.message;
  if (json_) all_.push_back(std::move(ordered));
}

void OrderReport::note(const std::string& text) const {
  if (!json_) fmt::print("{}", text);
}

void OrderReport::finish() {
  if (!json_ || std::exchange(is_finished_, true)) return;
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const Ordered& one : all_) {
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    if (!one.name.empty()) row["name"] = one.name;
    row["run_directory"] = one.run_directory;
    row["job"] = one.job;
    row["result"] = one.result;
    row["detail"] = one.detail;
    runs.push_back(std::move(row));
  }
  const nlohmann::ordered_json document{{"schema", "dtsubmit/" + command_ + "/1"},
                                        {"runs", std::move(runs)}};
  fmt::print("{}", json_text(document));
  std::fflush(stdout);
}

}  // namespace dts::cli
