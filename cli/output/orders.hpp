// SPDX-License-Identifier: Apache-2.0
// What became of an order to runs: `dtsubmit stop`, `cancel` and `requeue`.
#pragma once

#include "core/base/job_id.hpp"
#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace dts::cli {

struct Ordered {
  std::string name{};  // as the user wrote it; empty: not shown
  std::string run_directory{};
  JobId job{};           // empty: it has none
  const char* result{};  // "cancelled", ...: listed in the command's manual page
  std::string text{};    // the same as lines for a person
  std::string detail{};  // why the order failed, or what the job waits for; empty: nothing
};

// Tells the user what became of each run: as text at once, or in one JSON document at the end.
class OrderReport {
 public:
  OrderReport(std::string command, bool json) : command_(std::move(command)), json_(json) {}

  void add(Ordered ordered);

  // An error that the caller also returns or reports, since only the document shows this.
  void add_failed(Ordered ordered, const Error& error);

  // For a person only.
  void note(const std::string& text) const;

  // Prints the document unless that was done before.
  void finish();

 private:
  std::string command_;
  bool json_ = false;
  bool is_finished_ = false;
  std::vector<Ordered> all_;
};

}  // namespace dts::cli
