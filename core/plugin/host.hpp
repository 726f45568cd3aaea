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

// The error of a plug-in's operation.
struct CallError : Error {
  bool other_release = false;  // the scheduler speaks another protocol than the plug-in's library
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

  // Returns the JSON text of "result" in the plug-in's reply. Its "error" becomes our error with
  // the corresponding code. A reply that has neither is Errc::internal and names the plug-in.
  [[nodiscard]] tl::expected<std::string, CallError> call(const std::string& operation,
                                                          const std::string& request) const;

 private:
  std::string path_;
  const dtsubmit_plugin* table_;
};

// The folders that are searched for plug-ins, in order: $DTSUBMIT_PLUGIN_PATH (colon-separated;
// relative and empty entries are ignored, so that the current folder never counts), then
// lib/dtsubmit beside the program's bin folder, which works both in a build tree and in an
// installation.
[[nodiscard]] std::vector<std::string> plugin_folders();

// Rejects (Errc::invalid) a plug-in file that anyone except root and us could have written or could
// replace: not a regular file, not owned by root or us, writable by group or others, or below a
// folder that is (sticky folders such as /tmp are allowed: others cannot replace our files there).
// Returns the path to load, with every symbolic link resolved.
[[nodiscard]] Result<std::string> check_plugin_file(const std::string& path);

// A function of a loaded file. The caller must know the function's type.
struct LoadedFunction {
  std::string path;  // path of the file, with every symbolic link resolved
  void* library = nullptr;
  void* address = nullptr;
};

// POSIX guarantees that dlsym's result can be converted to a function.
template <class Function>
[[nodiscard]] Function function_at(void* address) {
  Function function = nullptr;
  static_assert(sizeof function == sizeof address);
  std::memcpy(&function, &address, sizeof function);
  return function;
}

// The first file with that name in plugin_folders(). Errc::not_found says that `what` is missing,
// and names the folders.
[[nodiscard]] Result<std::string> find_plugin_file(const std::string& file,
                                                   const std::string& what);

// Checks the file with check_plugin_file(), loads it and finds the function. Errc::invalid, saying
// that the file is not `what`, if it does not have the function; Errc::unreachable if a library
// that it needs is missing on this machine.
[[nodiscard]] Result<LoadedFunction> load_function(const std::string& path,
                                                   const char* function,
                                                   const std::string& what);

// Loads the file and checks ABI version, struct size, kind and name. Errc::invalid for a file that
// is not such a plug-in, Errc::unreachable if a library that it needs is missing on this machine.
[[nodiscard]] Result<std::shared_ptr<const Plugin>> load_plugin_file(const std::string& path,
                                                                     const std::string& name);

// Loads the first dtsubmit-NAME.so in plugin_folders(). Errc::not_found, naming the folders, if
// there is none.
[[nodiscard]] Result<std::shared_ptr<const Plugin>> load_plugin(const std::string& name);

}  // namespace dts::plugin
