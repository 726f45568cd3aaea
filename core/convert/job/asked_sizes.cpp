// SPDX-License-Identifier: Apache-2.0
#include "core/convert/job/asked_sizes.hpp"

namespace dts::convert {

bool AskedSizes::is_own(const std::string& name) const {
  return own_.count(name) > 0;
}

bool AskedSizes::has(const std::string& name) const {
  return is_own(name) || (draft_.settings.count(name) > 0 && dropped_.count(name) == 0);
}

std::optional<std::uint64_t> AskedSizes::number(const std::string& name) const {
  return is_own(name) ? number_in(own_, name) : of_job(name);
}

std::optional<std::uint64_t> AskedSizes::of_job(const std::string& name) const {
  return dropped_.count(name) > 0 ? std::nullopt : number_in(draft_.settings, name);
}

void AskedSizes::set(const std::string& name, std::uint64_t value) {
  Asked asked{{std::to_string(value)}, k_no_row};
  const auto before = draft_.settings.find(name);
  if (before != draft_.settings.end() && before->second.row < draft_.rows.size()) {
    asked.row = before->second.row;
    draft_.rows[asked.row].what = shown(name, asked.texts);
  }
  own_[name] = asked;
}

void AskedSizes::drop(const std::string& name, const std::string& why) {
  own_.erase(name);
  if (draft_.settings.count(name) > 0) dropped_[name] = why;
}

}  // namespace dts::convert
