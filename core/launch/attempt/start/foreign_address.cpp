// SPDX-License-Identifier: Apache-2.0
#include "core/launch/attempt/start/foreign_address.hpp"

#include "core/plan/program/own_launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace dts::launch {
namespace {

using plan::OwnLauncher;

struct GivenPlace {
  std::string option;
  std::string host;
};

// "n1:29500" and "[fe80::1]:29500" without the port.
std::string host_in(std::string_view place) {
  if (place.starts_with('[')) return std::string(place.substr(1, place.find(']') - 1));
  const bool has_port = std::ranges::count(place, ':') == 1;  // otherwise of IPv6
  return std::string(has_port ? place.substr(0, place.find(':')) : place);
}

std::vector<std::string_view> options_of_place(const OwnLauncher& launcher) {
  if (launcher.kind == OwnLauncher::Kind::torchrun) return {"--rdzv-endpoint", "--master-addr"};
  std::vector<std::string_view> names;
  for (const plan::PlaceOption& option : launcher.place_options)
    if (option.what == plan::PlaceOption::Fact::address) names.push_back(option.names);
  return names;
}

std::optional<GivenPlace> given_place(const OwnLauncher& launcher) {
  // A server of etcd is on another machine.
  if (option_of(launcher, "--rdzv-backend").value_or("").starts_with("etcd")) return std::nullopt;
  for (const std::string_view names : options_of_place(launcher))
    if (const auto place = option_of(launcher, names); place && !place->empty())
      return GivenPlace{std::string(names.substr(0, names.find(' '))), host_in(*place)};
  return std::nullopt;
}

// A node's name is known with its domain, or without.
bool is_among(const std::string& host, const std::set<std::string>& own) {
  return own.contains(host) || own.contains(host.substr(0, host.find('.')));
}

}  // namespace

std::string foreign_address(const std::vector<std::string>& command,
                            const std::set<std::string>& own) {
  const auto given = given_place(plan::find_own_launcher(command));
  const bool is_text = given && given->host.find_first_of("$`{") == std::string::npos;
  if (!is_text || given->host.empty() || is_among(given->host, own)) return {};
  return fmt::format(
      "{} {} is no address or name of these ranks' nodes: unless it is another name of one, the "
      "ranks wait for it in vain; omit it, as they learn of the rendezvous from the job",
      given->option,
      given->host);
}

}  // namespace dts::launch
