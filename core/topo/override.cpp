// SPDX-License-Identifier: Apache-2.0
#include "core/topo/override.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/topo/doubts.hpp"
#include "core/topo/restrict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::topo {
namespace {

struct Word {
  std::string text;
  int column = 1;
};

// The words before any `#`.
std::vector<Word> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<Word> words;
  constexpr const char* k_blank = " \t\r";
  for (std::size_t at = line.find_first_not_of(k_blank); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(k_blank, at), line.size());
    words.push_back({std::string(line.substr(at, end - at)), static_cast<int>(at) + 1});
    at = line.find_first_not_of(k_blank, end);
  }
  return words;
}

class Reader {
 public:
  Reader(NodeTopology& node, const std::string& file) : node_(node), file_(file) {}

  void read(std::string_view line) {
    ++number_;
    line_ = line;
    const std::vector<Word> words = words_of(line);
    if (words.empty()) return;
    if (words[0].text == "device")
      device(words);
    else if (words[0].text == "reserve")
      reserve(words);
    else
      complain(words[0].column,
               fmt::format("`{}` is not a keyword", words[0].text),
               "lines begin with device or reserve");
  }

  Result<void> finish() {
    if (problems_.empty() && !reserved_.empty()) close();
    if (problems_.empty()) return {};
    return tl::unexpected(to_error(problems_));
  }

 private:
  void complain(int column, std::string message, std::string hint) {
    problems_.push_back({fmt::format("{}:{}:{}", file_, number_, column),
                         std::move(message),
                         std::move(hint),
                         std::string(line_),
                         column});
  }

  void device(const std::vector<Word>& words) {
    if (words.size() != 4 || words[2].text != "numa")
      return complain(
          words[0].column, "not `device NAME numa N`", "for example: device 0000:3b:00.0 numa 3");
    const auto os = parse_number(words[3].text);
    const auto numa = std::find_if(node_.numas.begin(), node_.numas.end(), [&](const NumaNode& n) {
      return os && n.os == *os;
    });
    if (numa == node_.numas.end())
      return complain(words[3].column,
                      fmt::format("this node has no NUMA node `{}`", words[3].text),
                      "numactl --hardware lists them");
    for (auto* devices : {&node_.gpus, &node_.nics})
      for (Device& one : *devices)
        if (one.pci == words[1].text || one.name == words[1].text) {
          one.numa = static_cast<unsigned>(numa - node_.numas.begin());
          one.package = numa->package;
          one.l3.reset();
          one.group.clear();
        }
  }

  void reserve(const std::vector<Word>& words) {
    const auto pus =
        words.size() == 2 ? parse_number_list(words[1].text, k_highest_cpu) : std::nullopt;
    if (!pus)
      return complain(words.back().column, "not `reserve LIST`", "for example: reserve 0-1,64-65");
    reserved_.insert(reserved_.end(), pus->begin(), pus->end());
  }

  void close() {
    std::vector<unsigned> left;
    for (const Core& core : node_.cores)
      for (const unsigned pu : core.pus)
        if (std::find(reserved_.begin(), reserved_.end(), pu) == reserved_.end())
          left.push_back(pu);
    if (left.empty())
      problems_.push_back(
          {file_, "every core that may be used is reserved", "reserve fewer, or ask for more"});
    else
      node_ = restrict_to(std::move(node_), left);
  }

  NodeTopology& node_;
  const std::string& file_;
  std::string_view line_;
  int number_ = 0;
  std::vector<unsigned> reserved_;
  Diagnostics problems_;
};

}  // namespace

Result<NodeTopology> apply_override(NodeTopology node,
                                    std::string_view text,
                                    const std::string& file) {
  const std::vector<std::string> firmware = find_doubts(node);
  std::erase_if(node.doubts, [&](const std::string& doubt) {
    return std::find(firmware.begin(), firmware.end(), doubt) != firmware.end();
  });
  Reader reader(node, file);
  for (const std::string& line : split(text, '\n')) reader.read(line);
  DTS_TRY(reader.finish());
  const std::vector<std::string> left = find_doubts(node);
  node.doubts.insert(node.doubts.begin(), left.begin(), left.end());
  return node;
}

}  // namespace dts::topo
