// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/layout/record.hpp"

#include "core/base/files/files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::cluster {
namespace {
constexpr const char* k_schema = "dtsubmit/cluster-record/1";
}

std::string record_path(const std::string& folder) {
  return folder + "/cluster.json";
}

Result<void> write_record(const Layout& layout) {
  const nlohmann::ordered_json record = {{"schema", k_schema},
                                         {"name", layout.spec.name},
                                         {"nodes", layout.spec.nodes},
                                         {"proctrack", to_string(layout.spec.proctrack)},
                                         {"auth", to_string(layout.spec.auth)},
                                         {"accounting", layout.spec.accounting},
                                         {"a", layout.endpoints.a},
                                         {"b", layout.endpoints.b},
                                         {"port", layout.endpoints.port},
                                         {"user", layout.user},
                                         {"memory_mib", layout.memory_mib},
                                         {"node_prefix", layout.node_prefix},
                                         {"boot", layout.boot},
                                         {"own_host_names", layout.own_host_names}};
  return write_file(
      record_path(layout.spec.folder), record.dump(2) + "\n", 0600, Durability::deferred);
}

Result<Layout> read_record(const std::string& folder) {
  DTS_ASSIGN(const std::string text, read_file(record_path(folder), 1U << 20));
  try {
    const auto record = nlohmann::json::parse(text);
    Layout layout;
    if (record.at("schema") != k_schema)
      return fail(Errc::invalid,
                  record_path(folder) + " is of another version",
                  "end its processes and remove the folder by hand");
    layout.spec.folder = folder;
    layout.spec.name = record.at("name");
    layout.spec.nodes = record.at("nodes");
    layout.spec.proctrack = proctrack_of(record.at("proctrack").get<std::string>());
    layout.spec.auth = auth_of(record.value("auth", "none"));
    layout.spec.accounting = record.value("accounting", false);
    layout.endpoints = {record.at("a"), record.at("b"), record.at("port"), layout.spec.accounting};
    layout.user = record.at("user");
    layout.memory_mib = record.at("memory_mib");
    layout.node_prefix = record.at("node_prefix");
    layout.boot = record.at("boot");
    layout.own_host_names = record.at("own_host_names");
    return layout;
  } catch (const nlohmann::json::exception& error) {
    return fail(Errc::invalid,
                fmt::format("{} is damaged: {}", record_path(folder), error.what()),
                "end its processes and remove the folder by hand");
  }
}

}  // namespace dts::cluster
