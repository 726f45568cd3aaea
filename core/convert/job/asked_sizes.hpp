// SPDX-License-Identifier: Apache-2.0
// What a program of the script asks for by options: its own, and those of the job that it has not
// dropped. Pure.
#pragma once

#include "core/convert/job/draft.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace dts::convert {

// Refers to all three, which must outlive it.
class AskedSizes {
 public:
  AskedSizes(Settings& own, std::map<std::string, std::string>& dropped, Draft& draft)
      : own_(own), dropped_(dropped), draft_(draft) {}

  [[nodiscard]] bool is_own(const std::string& name) const;
  [[nodiscard]] bool has(const std::string& name) const;

  // The program's number, otherwise the job's.
  [[nodiscard]] std::optional<std::uint64_t> number(const std::string& name) const;
  [[nodiscard]] std::optional<std::uint64_t> of_job(const std::string& name) const;

  void set(const std::string& name, std::uint64_t value);
  void drop(const std::string& name, const std::string& why);

 private:
  Settings& own_;
  std::map<std::string, std::string>& dropped_;
  Draft& draft_;
};

}  // namespace dts::convert
