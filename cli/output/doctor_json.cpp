// SPDX-License-Identifier: Apache-2.0
// The output of `dtsubmit doctor` for programs.
#include "cli/output/doctor.hpp"
#include "core/base/text/json_text.hpp"

#include <nlohmann/json.hpp>

namespace dts::cli {
namespace {

using json = nlohmann::ordered_json;

json answer_json(const doctor::Answered& one) {
  json wishes = json::array();
  for (const doctor::Wish& wish : one.verdict.wishes)
    wishes.push_back({{"file", wish.file},
                      {"setting", wish.setting},
                      {"now", wish.now},
                      {"wanted", wish.wanted},
                      {"reason", wish.reason}});
  return {{"id", one.question->id},
          {"question", one.question->words},
          {"answer", doctor::to_string(one.verdict.answer)},
          {"why", one.verdict.why},
          {"todo", one.verdict.todo},
          {"ask_for", std::move(wishes)}};
}

}  // namespace

std::string to_json(const std::vector<Diagnosis>& partitions) {
  json list = json::array();
  for (const Diagnosis& one : partitions) {
    json answers = json::array();
    for (const doctor::Answered& answer : one.answers) answers.push_back(answer_json(answer));
    list.push_back({{"partition", one.facts.partition.name}, {"answers", std::move(answers)}});
  }
  json document{{"schema", "dtsubmit/doctor/1"}};
  if (!partitions.empty()) {
    document["cluster"] = partitions.front().facts.site.cluster_name;
    document["scheduler"] = partitions.front().way;
  }
  document["partitions"] = std::move(list);
  return json_text(document);
}

}  // namespace dts::cli
