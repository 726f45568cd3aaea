// SPDX-License-Identifier: Apache-2.0
// Loading a plug-in, and the JSON envelope of its replies.
#include "core/plugin/host.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::plugin {
namespace {

using nlohmann::json;

constexpr const char* k_path_variable = "DTSUBMIT_PLUGIN_PATH";

Errc code_of(const std::string& word) {
  if (word == "rejected") return Errc::rejected;
  if (word == "unreachable") return Errc::unreachable;
  if (word == "not_found") return Errc::not_found;
  if (word == "invalid") return Errc::invalid;
  return Errc::internal;
}

// dlopen's message for a missing dependency: "libslurm.so.38: cannot open shared object file: ...".
tl::unexpected<Error> load_failure(const std::string& path, const std::string& words) {
  const std::string missing = words.substr(0, words.find(':'));
  const bool dependency = words.find("cannot open shared object file") != std::string::npos &&
                          words.compare(0, path.size(), path) != 0;
  if (!dependency)
    return fail(Errc::invalid, fmt::format("cannot load the plug-in {}: {}", path, words));
  if (missing.compare(0, 11, "libslurm.so") == 0)
    return fail(Errc::unreachable,
                fmt::format("{} is not here, which {} needs", missing, path),
                "install Slurm's client library of that version (Debian 12: libslurm38), or set "
                "LD_LIBRARY_PATH to the folder that has it");
  return fail(Errc::unreachable,
              fmt::format("the plug-in {} needs the library {}, which is not here", path, missing),
              "install it, or set LD_LIBRARY_PATH to the folder that has it");
}

Result<void> check_table(const dtsubmit_plugin* table,
                         const std::string& path,
                         const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    return fail(Errc::invalid,
                fmt::format("the plug-in {} {}", path, why),
                "build it against this dtsubmit's dtsubmit_plugin.h");
  };
  if (table == nullptr) return refuse("describes no plug-in");
  if (table->abi_version != DTSUBMIT_PLUGIN_ABI)
    return refuse(fmt::format(
        "has ABI version {}, this program speaks {}", table->abi_version, DTSUBMIT_PLUGIN_ABI));
  if (table->struct_size < sizeof(dtsubmit_plugin))
    return refuse(fmt::format("has a table of {} bytes, at least {} are needed",
                              table->struct_size,
                              sizeof(dtsubmit_plugin)));
  if (table->kind != DTSUBMIT_PLUGIN_SCHEDULER)
    return refuse(fmt::format("is of kind {}, not a scheduler", table->kind));
  if (table->name == nullptr || table->version == nullptr || table->description == nullptr ||
      table->call == nullptr || table->release == nullptr)
    return refuse("leaves a member of its table empty");
  if (name != table->name) return refuse(fmt::format("calls itself '{}'", table->name));
  return {};
}

}  // namespace

tl::expected<std::string, CallError> Plugin::call(const std::string& operation,
                                                  const std::string& request) const {
  const auto broken = [&](const char* what) {
    return tl::unexpected<CallError>(
        CallError{{Errc::internal, fmt::format(fmt::runtime(what), path_, operation), ""}});
  };
  char* text = table_->call(operation.c_str(), request.c_str());
  if (text == nullptr) return broken("the plug-in {} gave no reply to '{}'");
  const json reply = json::parse(text, nullptr, false);
  table_->release(text);
  if (reply.is_object() && reply.contains("result")) return reply["result"].dump();
  if (!reply.is_object() || !reply.contains("error") || !reply["error"].is_object())
    return broken("the plug-in {} gave a reply to '{}' that is not JSON with result or error");
  const json& error = reply["error"];
  const auto member = [&](const char* key) {
    const auto found = error.find(key);
    return found != error.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto other = error.find("other_release");
  return tl::unexpected<CallError>(
      CallError{{code_of(member("code")), member("message"), member("hint")},
                other != error.end() && other->is_boolean() && other->get<bool>()});
}

std::vector<std::string> plugin_folders() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv(k_path_variable))
    for (const std::string& folder : split(path, ':'))
      if (!folder.empty() && folder.front() == '/') folders.push_back(folder);
  folders.push_back(library_folder());
  return folders;
}

Result<std::string> find_plugin_file(const std::string& file, const std::string& what) {
  const std::vector<std::string> folders = plugin_folders();
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + file;
    if (exists(path)) return path;
  }
  return fail(Errc::not_found,
              fmt::format("no {} ({}) in {}", what, file, join(folders, ", ")),
              fmt::format("install it, or name its folder in {}", k_path_variable));
}

Result<LoadedFunction> load_function(const std::string& path,
                                     const char* function,
                                     const std::string& what) {
  // The resolved path has no symbolic link and only parents that nobody else can change, so the
  // file that was checked is the one that is loaded, and debuggers see a real file name (unlike
  // /proc/self/fd/N, which glibc would also take for the same library once the descriptor's number
  // is reused).
  LoadedFunction loaded;
  DTS_ASSIGN(loaded.path, check_plugin_file(path));
  loaded.library = dlopen(loaded.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded.library == nullptr) {
    const char* words = dlerror();
    return load_failure(loaded.path, words == nullptr ? "unknown error" : words);
  }
  loaded.address = dlsym(loaded.library, function);
  if (loaded.address != nullptr) return loaded;
  dlclose(loaded.library);
  return fail(Errc::invalid, fmt::format("{} is not {}: no {}", loaded.path, what, function));
}

Result<std::shared_ptr<const Plugin>> load_plugin_file(const std::string& path,
                                                       const std::string& name) {
  DTS_ASSIGN(const LoadedFunction loaded,
             load_function(path, DTSUBMIT_PLUGIN_SYMBOL, "a dtsubmit plug-in"));
  const dtsubmit_plugin* const table = function_at<dtsubmit_plugin_entry>(loaded.address)();
  if (auto good = check_table(table, loaded.path, name); !good) {
    dlclose(loaded.library);
    return tl::unexpected<Error>(std::move(good).error());
  }
  return std::make_shared<const Plugin>(loaded.path, *table);
}

Result<std::shared_ptr<const Plugin>> load_plugin(const std::string& name) {
  if (!is_safe_name(name))
    return fail(Errc::invalid, fmt::format("'{}' is not a plug-in's name", name));
  DTS_ASSIGN(
      const std::string path,
      find_plugin_file(fmt::format("dtsubmit-{}.so", name), fmt::format("plug-in '{}'", name)));
  return load_plugin_file(path, name);
}

}  // namespace dts::plugin
