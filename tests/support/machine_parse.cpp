// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "tests/support/machine_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace dts::tests {
namespace {

constexpr const char* k_lines =
    "lines at the margin begin with a part of the machine, number, kind, offline, disallowed, "
    "allowed, distances, host, nvlink or xgmi";

// The parts of a machine that lines may refer to.
struct Contents {
  std::set<unsigned> pus, numas;
  unsigned counts[7] = {};           // of each kind of part
  std::vector<unsigned> package_of;  // by NUMA node with processors, in order

  explicit Contents(const std::vector<Part>& parts) { add(parts, 0); }

 private:
  void add(const std::vector<Part>& parts, unsigned package) {
    for (const Part& part : parts) {
      const unsigned number = counts[static_cast<unsigned>(part.kind)]++;
      if (part.kind == Part::Kind::package) package = number;
      if (part.kind == Part::Kind::numa) {
        numas.insert(part.os);
        package_of.push_back(package);
      }
      pus.insert(part.pus.begin(), part.pus.end());
      add(part.inside, package);
    }
  }
};

class Reader {
 public:
  explicit Reader(const std::string& file) : problems_(file), parts_(problems_) {}

  Result<Machine> read(std::string_view text) {
    const std::vector<Line> lines = read_lines(text, problems_);
    for (const Line& line : lines) read_line(line);
    if (problems_.all().empty()) {
      machine_.parts = parts_.build(by_core_);
      if (machine_.parts.empty() && problems_.all().empty())
        return fail(Errc::invalid, "a machine without a core");
    }
    for (const Line& line : lines) check_kinds(line);
    if (problems_.all().empty()) {
      const Contents contents(machine_.parts);
      for (const auto& check : checks_) check(contents);
    }
    if (problems_.all().empty()) return std::move(machine_);
    return tl::unexpected(to_error(problems_.all()));
  }

 private:
  void read_line(const Line& line) {
    const std::string& word = line.words[0].text;
    if (PartReader::is_part(line)) return parts_.read(line);
    if (word == "host") return read_host_line(line);
    if (word == "distances") return read_distances(line);
    Arguments arguments(line, problems_);
    if (word == "number")
      read_numbering(arguments);
    else if (word == "kind")
      read_kind(arguments);
    else if (word == "offline" || word == "disallowed" || word == "allowed")
      read_processors(line, arguments);
    else if (word == "nvlink" || word == "xgmi")
      read_links(line, arguments);
    else
      return problems_.add(
          line, line.words[0].column, fmt::format("`{}` is no keyword", word), k_lines);
    if (arguments.more()) arguments.unknown("no more");
    if (!line.below.empty())
      problems_.add(line.below[0],
                    line.below[0].words[0].column,
                    fmt::format("nothing is within `{}`", word));
  }

  void read_numbering(Arguments& arguments) {
    by_core_ = arguments.take("by-core");
    if (!by_core_ && !arguments.take("by-thread")) arguments.unknown("by-core, by-thread");
  }

  void read_kind(Arguments& arguments) {
    CoreKind kind;
    kind.name = arguments.word("its name");
    while (arguments.more())
      if (arguments.take("type"))
        kind.type = arguments.word("a type");
      else if (arguments.take("capacity"))
        kind.capacity = arguments.number("a capacity", 1024);
      else if (arguments.take("mhz"))
        kind.mhz = arguments.number("a frequency", 100'000);
      else
        arguments.unknown("type WORD, capacity N, mhz N");
    machine_.kinds.push_back(std::move(kind));
  }

  // Checks that the kinds of cores are described.
  void check_kinds(const Line& line) {
    for (std::size_t i = 1; line.words[0].text == "core" && i + 1 < line.words.size(); ++i) {
      const std::string& name = line.words[i + 1].text;
      if (line.words[i].text == "kind" &&
          std::none_of(machine_.kinds.begin(), machine_.kinds.end(), [&](const CoreKind& kind) {
            return kind.name == name;
          }))
        problems_.add(line,
                      line.words[i + 1].column,
                      fmt::format("there is no kind `{}`", name),
                      "say kind NAME at the left margin");
    }
    for (const Line& one : line.below) check_kinds(one);
  }

  void read_processors(const Line& line, Arguments& arguments) {
    std::vector<unsigned> list = arguments.numbers(k_highest_cpu);
    std::vector<unsigned>& where =
        line.words[0].text == "offline" ? machine_.offline : machine_.disallowed;
    const bool allowed = line.words[0].text == "allowed";
    checks_.push_back([this, line, list, allowed, &where](const Contents& contents) {
      for (const unsigned pu : list)
        if (!contents.pus.contains(pu))
          problems_.add(line, line.words[1].column, fmt::format("there is no processor {}", pu));
      const std::set<unsigned> named(list.begin(), list.end());
      for (const unsigned pu : contents.pus)
        if (named.contains(pu) != allowed) where.push_back(pu);
    });
  }

  void read_links(const Line& line, Arguments& arguments) {
    const std::string name = line.words[0].text == "nvlink" ? "NVLinkBandwidth" : "XGMIBandwidth";
    if (!machine_.link_name.empty() && machine_.link_name != name)
      problems_.add(line, line.words[0].column, "links of two kinds");
    machine_.link_name = name;
    const unsigned weight = arguments.number("MB/s", 100'000'000).value_or(0);
    std::vector<std::string> gpus;
    for (std::size_t i = 2; i < line.words.size(); ++i) gpus.push_back(arguments.word("a GPU"));
    if (gpus.size() < 2)
      problems_.add(line,
                    line.words[0].column,
                    "which GPUs are linked to each other?",
                    "nvlink MB/s nvml0 nvml1 ...: each to each");
    for (std::size_t a = 0; a < gpus.size(); ++a)
      for (std::size_t b = a + 1; b < gpus.size(); ++b)
        machine_.links.push_back({gpus[a], gpus[b], weight});
    checks_.push_back([this, line, gpus](const Contents&) { check_gpus(line, gpus); });
  }

  void check_gpus(const Line& line, const std::vector<std::string>& gpus) {
    std::set<std::string> known;
    const std::function<void(const PciObject&)> look = [&](const PciObject& object) {
      for (const OsDevice& device : object.names) known.insert(device.name);
      for (const PciObject& one : object.below) look(one);
    };
    for (const Host& host : machine_.hosts) look(host.bridge);
    for (std::size_t i = 0; i < gpus.size(); ++i)
      if (!known.contains(gpus[i]))
        problems_.add(line, line.words[i + 2].column, fmt::format("there is no GPU `{}`", gpus[i]));
  }

  void read_host_line(const Line& line) {
    const Host host = read_host(line, problems_);
    machine_.hosts.push_back(host);
    if (!host.at.kind) return;
    checks_.push_back([this, line, at = host.at](const Contents& contents) {
      const bool there = at.kind == Part::Kind::numa
                             ? contents.numas.contains(at.number)
                             : at.number < contents.counts[static_cast<unsigned>(*at.kind)];
      if (!there)
        problems_.add(line,
                      line.words[2].column,
                      fmt::format("there is no {} {}", line.words[2].text, at.number));
    });
  }

  // "distances SELF PACKAGE OTHER", or below it a row of numbers for each NUMA node.
  void read_distances(const Line& line) {
    std::vector<std::uint64_t> numbers;
    const auto read = [&](const Line& row, std::size_t first) {
      for (std::size_t i = first; i < row.words.size(); ++i) {
        const auto number = parse_number(row.words[i].text);
        if (!number || *number == 0 || *number > 255)
          problems_.add(row,
                        row.words[i].column,
                        fmt::format("a distance is 1 to 255, not `{}`", row.words[i].text));
        numbers.push_back(number.value_or(10));
      }
    };
    read(line, 1);
    for (const Line& row : line.below) read(row, 0);
    checks_.push_back([this, line, numbers](const Contents& contents) {
      const std::size_t nodes = contents.package_of.size();
      machine_.latencies = numbers;
      if (line.below.empty() && numbers.size() == 3) {
        machine_.latencies.clear();
        for (std::size_t a = 0; a < nodes; ++a)
          for (std::size_t b = 0; b < nodes; ++b)
            machine_.latencies.push_back(
                numbers[a == b                                             ? 0
                        : contents.package_of[a] == contents.package_of[b] ? 1
                                                                           : 2]);
      } else if (numbers.size() != nodes * nodes) {
        problems_.add(line,
                      line.words[0].column,
                      fmt::format("{} numbers for {} NUMA nodes", numbers.size(), nodes),
                      "distances SELF PACKAGE OTHER, or a row below it for each node");
      }
    });
  }

  Problems problems_;
  PartReader parts_;
  bool by_core_ = false;
  Machine machine_;
  std::vector<std::function<void(const Contents&)>> checks_;  // of references between lines
};

}  // namespace

Result<Machine> parse_machine(std::string_view text, const std::string& file) {
  return Reader(file).read(text);
}

}  // namespace dts::tests
