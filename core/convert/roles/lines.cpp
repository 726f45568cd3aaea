// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/lines.hpp"

#include "core/convert/lines/tools.hpp"
#include "core/convert/needed.hpp"
#include "core/convert/program/shell_program.hpp"
#include "core/convert/roles/made_names.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

bool exports_addresses(const Item& item, const Rendezvous& rendezvous) {
  return std::any_of(
      item.sets.exported.begin(), item.sets.exported.end(), [&](const std::string& name) {
        return !is_given(name) && rendezvous.hosts.count(name) > 0;
      });
}

// $NAME, ${NAME...}, ${#NAME[@]}
bool expands(const std::string& text, const Names& names) {
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
    std::size_t begin = at + 1;
    while (begin < text.size() && std::string_view("{#!").find(text[begin]) != std::string::npos)
      ++begin;
    std::size_t end = begin;
    while (end < text.size() && shell::is_name_char(text[end])) ++end;
    if (names.count(std::string_view(text).substr(begin, end - begin)) > 0) return true;
  }
  return false;
}

}  // namespace

void meet_by_roles(const Cast& cast, Rendezvous& rendezvous) {
  rendezvous.addresses = cast.addresses;
  const auto master = cast.addresses.find("MASTER_ADDR");
  if (master != cast.addresses.end()) {
    std::string port = master->second;
    port.replace(port.rfind("_ADDR"), 5, "_PORT");
    rendezvous.addresses["MASTER_PORT"] = port;
  }
  rendezvous.others = rendezvous.addresses;
}

void settle_lines(const Cast& cast, const Rendezvous& rendezvous, std::vector<Part>& parts) {
  for (Part& part : parts) {
    if (part.role != Role::around) continue;
    if (std::string line = address_line(part.item, rendezvous); !line.empty())
      part.verdict.text = std::move(line);
    if (cast.has_roles() && part.verdict.kind == Verdict::Kind::if_needed &&
        is_rendezvous(part.item, rendezvous))
      part.verdict.why = "roles find each other by DTSUBMIT_ROLE_NAME_ADDR";
    if (waits(part.item) && ends_only(part.item))
      part.verdict = {Verdict::Kind::unnecessary, "dtsubmit waits for the programs"};
    if (cast.has_roles() && part.verdict.kind == Verdict::Kind::if_needed &&
        exports_addresses(part.item, rendezvous))
      part.verdict = {};
  }
}

namespace {

void lose_servers(std::vector<Part>& parts) {
  const Names functions = functions_in(parts);
  for (Part& part : parts) {
    const auto& runs = part.item.runs;
    const bool starts = part.is_kept && part.role == Role::around &&
                        part.item.statement->background &&
                        std::any_of(runs.begin(), runs.end(), [&](const lint::Run* run) {
                          return does_work(*run) && functions.count(run->name()) == 0;
                        });
    if (!starts) continue;
    part.is_kept = false;
    part.verdict = {Verdict::Kind::lost,
                    "starts a program on the script's node beside the roles, whose set-ups would "
                    "all start one: start it with srun -w on the first node"};
  }
}

}  // namespace

void lose_of_roles(std::vector<Program>& programs, std::vector<Part>& parts) {
  lose_servers(parts);
  lose_values_of_roles(parts, programs);
  std::string used;  // all that is kept and lists no hosts
  for (const Program& program : programs) used += program.source() + "\n";
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->is_kept) continue;
    const std::string& text = part->verdict.text.empty() ? part->item.source : part->verdict.text;
    if (!asks_for_hosts(text)) {
      used += text + "\n";
      continue;
    }
    Names names = part->item.sets.variables;
    names.insert(part->item.sets.arrays.begin(), part->item.sets.arrays.end());
    part->is_kept = false;
    if (part->item.only_sets() && !expands(used, names))
      part->verdict = {Verdict::Kind::unnecessary, "nothing that is kept uses it"};
    else
      part->verdict = {Verdict::Kind::lost,
                       "it lists the nodes of the job, and each role sees its own: the nodes of a "
                       "role are in DTSUBMIT_ROLE_NAME_NODES"};
  }
}

void lose_steps_without_room(std::uint64_t nodes, std::vector<Program>& programs) {
  const std::string why =
      "more steps than the job has room for at once: write a sweep, whose elements wait for each "
      "other";
  for (Program& program : programs)
    std::replace(program.losses.begin(), program.losses.end(), side_by_side(nodes), why);
}

}  // namespace dts::convert
