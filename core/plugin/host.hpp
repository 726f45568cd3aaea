// SPDX-License-Identifier: Apache-2.0
// Finds, checks and loads plug-ins (dtsubmit_plugin.h), and calls them.
#pragma once

#include "core/base/result.hpp"
#include "core/plugin/dtsubmit_plugin.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace dts::plugin {

// What a plug-in's operation failed with.
struct CallError : Error {
  bool other_release = false;  // the scheduler does not speak the protocol of the plug-in's library
};

// A loaded plug-in. It stays loaded for the life of the process, since libraries behind it may have
// started threads or registered exit handlers. Thread-safe.
class Plugin {
 public:
  Plugin(std::string path, const dtsubmit_plugin& table) : path_(std::move(path)), table_(&table) {}

  [[nodiscard]] const std::string& path() const { return path_; }

  [[nodiscard]] const char* name() const { return table_->name; }

  [[nodiscard]] const char* version() const { return table_->version; }

  [[nodiscard]] const char* description() const { return table_->description; }

  // The JSON text of "result" in the plug-in's reply. Its "error" becomes ours, code for code; a
  // reply that is neither is Errc::internal and names the plug-in.
  [[nodiscard]] tl::expected<std::string, CallError> call(const std::string& operation,
                                                          const std::string& request) const;

 private:
  std::string path_;
  const dtsubmit_plugin* table_;
};

// Where plug-ins are looked for, in order: $DTSUBMIT_PLUGIN_PATH (colon-separated; relative and
// empty entries are ignored, so that the current folder never counts), then lib/dtsubmit beside the
// program's bin folder, which works for a build tree and for an installation.
[[nodiscard]] std::vector<std::string> plugin_folders();

// Rejects (Errc::invalid) a plug-in file that anyone except root and us could have written or could
// replace: not a regular file, not owned by root or us, writable by group or others, or below a
// folder that is (sticky folders such as /tmp are allowed: others cannot replace our files there).
// Returns the path to load, with every symbolic link resolved.
[[nodiscard]] Result<std::string> check_plugin_file(const std::string& path);

// A function of a loaded file; it is for the caller to know its type.
struct LoadedFunction {
  std::string path;  // of the file, with every symbolic link resolved
  void* library = nullptr;
  void* address = nullptr;
};

// POSIX allows it: dlsym returns a function.
template <class Function>
[[nodiscard]] Function function_at(void* address) {
  Function function = nullptr;
  static_assert(sizeof function == sizeof address);
  std::memcpy(&function, &address, sizeof function);
  return function;
}

// The first file of that name in plugin_folders(); Errc::not_found, naming `what` is missing and
// the folders, if there is none.
[[nodiscard]] Result<std::string> find_plugin_file(const std::string& file,
                                                   const std::string& what);

// Checks the file as above, loads it and finds the function. Errc::invalid, saying that it is not
// `what`, if it has none; Errc::unreachable if a library that it needs is missing on this machine.
[[nodiscard]] Result<LoadedFunction> load_function(const std::string& path,
                                                   const char* function,
                                                   const std::string& what);

// Loads the file and checks ABI version, struct size, kind and name. Errc::invalid for a file that
// is not such a plug-in, Errc::unreachable if a library that it needs is missing on this machine.
[[nodiscard]] Result<std::shared_ptr<const Plugin>> load_plugin_file(const std::string& path,
                                                                     const std::string& name);

// The first dtsubmit-NAME.so of plugin_folders(). Errc::not_found, naming the folders, if there is
// none.
[[nodiscard]] Result<std::shared_ptr<const Plugin>> load_plugin(const std::string& name);

}  // namespace dts::plugin
