// SPDX-License-Identifier: Apache-2.0
#include "core/launch/program/python_files.hpp"

#include "core/base/files/trusted_file.hpp"
#include "core/base/text/text.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>

namespace dts::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_longest_name = 255;  // of a module; files have the same limit
constexpr std::size_t k_most_modules = 256;
constexpr std::size_t k_most_places = 4096;  // that are looked at
constexpr std::uint64_t k_longest_module = std::uint64_t{1} << 20;

std::string first_word(const std::string& text) {
  std::string word;
  std::istringstream(text) >> word;
  return word;
}

// "a" and "c" of "a as b, c"
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (const std::string& one : split(list, ','))
    if (std::string name = first_word(one); !name.empty()) names.push_back(std::move(name));
  return names;
}

// The line that begins at `at`, with those that continue it (a backslash, an open parenthesis), as
// one line without comments, parentheses and backslashes. Moves `at` behind it.
std::string logical_line(std::string_view text, std::size_t& at) {
  std::string line;
  bool is_open = false;
  do {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view part = text.substr(at, end - at);
    part = part.substr(0, part.find('#'));
    at = end + 1;
    is_open = (is_open || part.find('(') != part.npos) && part.find(')') == part.npos;
    const bool goes_on = trim(part).ends_with('\\');
    for (const char c : part) line += c == '(' || c == ')' || c == '\\' ? ' ' : c;
    if (!is_open && !goes_on) break;
  } while (at < text.size());
  return line;
}

// The script's modules, found as the interpreter would find them.
class Modules {
 public:
  explicit Modules(const std::string& script)
      : root_(fs::path(script).parent_path()), files_{script}, places_{{script, true}} {}

  [[nodiscard]] const std::vector<fs::path>& files() const { return files_; }

  // Adds the module that the file in `folder` imports, if it is there and new.
  void add(const std::string& module, fs::path folder) {
    const std::size_t dots = std::min(module.find_first_not_of('.'), module.size());
    if (dots == 0) folder = root_;
    for (std::size_t up = 1; up < dots; ++up) folder = folder.parent_path();
    for (const std::string& name : split(std::string_view(module).substr(dots), '.')) {
      if (name.empty()) continue;
      folder /= name;
      add_file(folder.string() + ".py");
      // Most imports are of installed packages.
      if (!is_there(folder)) return;
      add_file(folder / "__init__.py");
    }
  }

 private:
  void add_file(const fs::path& file) {
    if (files_.size() < k_most_modules && !places_.contains(file) && is_there(file))
      files_.push_back(file);
  }

  bool is_there(const fs::path& place) {
    if (const auto known = places_.find(place); known != places_.end()) return known->second;
    std::error_code ignored;
    return places_.size() < k_most_places && (places_[place] = fs::exists(place, ignored));
  }

  fs::path root_;
  std::vector<fs::path> files_;
  std::map<fs::path, bool> places_;  // true: it exists
};

}  // namespace

std::vector<std::string> imported_modules(std::string_view text) {
  std::vector<std::string> modules;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view begin = trim(text.substr(at, end - at));
    if (!begin.starts_with("import ") && !begin.starts_with("from ")) {
      at = end + 1;
      continue;
    }
    const std::string line = std::string(trim(logical_line(text, at))) + " ";
    const std::size_t list = line.find(" import ");
    if (line.starts_with("import ")) {
      for (std::string& name : names_in(line.substr(line.find(' '))))
        modules.push_back(std::move(name));
    } else if (list != line.npos) {
      const std::string from = first_word(line.substr(line.find(' ')));
      if (from.size() > k_longest_name || from.find(',') != from.npos) continue;
      modules.push_back(from);
      for (const std::string& name : names_in(line.substr(list + 8)))
        modules.push_back(from + (from.ends_with('.') ? "" : ".") + name);
    }
  }
  return modules;
}

std::vector<std::string> python_texts(const std::string& script) {
  Modules modules(script);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < modules.files().size(); ++i) {
    const fs::path file = modules.files()[i];
    auto text = read_regular_file(file.string(), k_longest_module);
    if (!text) continue;
    for (const std::string& module : imported_modules(*text))
      modules.add(module, file.parent_path());
    texts.push_back(*std::move(text));
  }
  return texts;
}

}  // namespace dts::launch
