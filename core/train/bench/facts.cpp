// SPDX-License-Identifier: Apache-2.0
// check.json, and the messages between ranks.
#include "core/train/bench/facts.hpp"

#include "core/base/text/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace dts::train::bench {
namespace {

using Json = nlohmann::ordered_json;

Json measure_json(const Measure& measure) {
  Json json{{"key", measure.key}};
  if (measure.numa) json["numa"] = *measure.numa;
  if (measure.gpu) json["gpu"] = *measure.gpu;
  if (measure.peer) json["peer"] = *measure.peer;
  if (!measure.model.empty()) json["model"] = measure.model;
  if (!measure.path.empty()) json["path"] = measure.path;
  if (!measure.what.empty()) json["what"] = measure.what;
  json["value"] = measure.value;
  json["unit"] = measure.unit;
  if (measure.others) json["others"] = std::round(*measure.others * 1000) / 1000;
  return json;
}

Measure measure_of(const Json& json) {
  Measure measure{json.at("key"), json.at("value"), json.at("unit")};
  if (json.contains("numa")) measure.numa = json.at("numa").get<int>();
  if (json.contains("gpu")) measure.gpu = json.at("gpu").get<int>();
  if (json.contains("peer")) measure.peer = json.at("peer").get<int>();
  measure.model = json.value("model", "");
  measure.path = json.value("path", "");
  measure.what = json.value("what", "");
  if (json.contains("others")) measure.others = json.at("others").get<double>();
  return measure;
}

Json steps_json(const Steps& steps) {
  return {{"repeats", steps.repeats}, {"digest", steps.digest}, {"odd_repeats", steps.odd}};
}

Steps steps_of(const Json& json) {
  return {json.at("repeats"), json.at("digest"), json.at("odd_repeats")};
}

Json rank_json(const RankFacts& facts, const std::string& name) {
  Json json{{"node", name}, {"rank", facts.rank}, {"cpu", facts.cpu}, {"cores", facts.cores}};
  json["measures"] = Json::array();
  for (const Measure& measure : facts.measures) json["measures"].push_back(measure_json(measure));
  if (facts.steps) json["steps"] = steps_json(*facts.steps);
  for (const GpuSteps& one : facts.gpu_steps) {
    Json steps{{"gpu", one.gpu}, {"model", one.model}, {"path", one.path}};
    steps.update(steps_json(one.steps));
    json["gpu_steps"].push_back(std::move(steps));
  }
  json["notes"] = facts.notes;
  return json;
}

Json collective_json(const CollectiveFact& fact, int ranks) {
  const double rate = fact.time > 0 ? static_cast<double>(fact.bytes) / fact.time : 0;
  return {{"operation", fact.operation},
          {"bytes", fact.bytes},
          {"time", fact.time},
          {"algbw", rate},
          {"busbw", rate * bus_factor(fact.operation, ranks)}};
}

// Names by rank; for a rank that sent nothing the name of its node is unknown.
std::string name_of(const std::vector<RankFacts>& ranks, int rank) {
  const auto of_rank = [&](const RankFacts& facts) { return facts.rank == rank; };
  const auto own = std::find_if(ranks.begin(), ranks.end(), of_rank);
  if (own == ranks.end() || own->node.empty()) return "rank " + std::to_string(rank);
  const auto same = [&](const RankFacts& facts) { return facts.node == own->node; };
  const bool shared = std::count_if(ranks.begin(), ranks.end(), same) > 1;
  return shared ? own->node + ":" + std::to_string(rank) : own->node;
}

Json pair_json(const Facts& facts, const PairFact& pair) {
  Json json{{"a", name_of(facts.ranks, pair.a)},
            {"b", name_of(facts.ranks, pair.b)},
            {"latency", pair.latency},
            {"bandwidth", pair.bandwidth}};
  if (pair.disturbed) json["disturbed"] = true;
  return json;
}

RankFacts rank_of(const Json& json) {
  RankFacts facts{json.at("node"), json.at("rank"), json.at("cpu"), json.at("cores")};
  for (const Json& measure : json.at("measures")) facts.measures.push_back(measure_of(measure));
  if (json.contains("steps")) facts.steps = steps_of(json.at("steps"));
  for (const Json& one : json.value("gpu_steps", Json::array()))
    facts.gpu_steps.push_back({one.at("gpu"), one.at("model"), one.at("path"), steps_of(one)});
  for (const Json& pair : json.at("pairs"))
    facts.pairs.push_back({pair.at(0), pair.at(1), pair.at(2), pair.at(3), pair.at(4)});
  for (const Json& note : json.at("notes")) facts.notes.push_back(note);
  return facts;
}

}  // namespace

void RankFacts::append(RankFacts other) {
  if (!other.cpu.empty()) cpu = std::move(other.cpu);
  if (other.cores > 0) cores = other.cores;
  if (other.steps) steps = std::move(other.steps);
  std::move(other.measures.begin(), other.measures.end(), std::back_inserter(measures));
  std::move(other.gpu_steps.begin(), other.gpu_steps.end(), std::back_inserter(gpu_steps));
  std::move(other.pairs.begin(), other.pairs.end(), std::back_inserter(pairs));
  std::move(other.notes.begin(), other.notes.end(), std::back_inserter(notes));
}

double bus_factor(std::string_view operation, int ranks) {
  const double part = (ranks - 1.0) / ranks;
  if (operation == "all_reduce") return 2 * part;
  return operation == "all_gather" ? part : 1;
}

std::string encode(const Facts& facts, std::string_view trainer) {
  Json json{{"schema", 1},
            {"trainer", trainer},
            {"began", facts.began},
            {"seconds", facts.seconds},
            {"quick", facts.quick}};
  if (facts.gpus_asked > 0) json["gpus_asked"] = facts.gpus_asked;
  for (const char* const list : {"nodes", "pairs", "collectives"}) json[list] = Json::array();
  for (const RankFacts& rank : facts.ranks) {
    json["nodes"].push_back(rank_json(rank, name_of(facts.ranks, rank.rank)));
    for (const PairFact& pair : rank.pairs) json["pairs"].push_back(pair_json(facts, pair));
  }
  const auto ranks = static_cast<int>(facts.ranks.size());
  for (const CollectiveFact& fact : facts.collectives)
    json["collectives"].push_back(collective_json(fact, ranks));
  json["notes"] = facts.notes;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string encode(const RankFacts& facts) {
  Json json = rank_json(facts, facts.node);
  json["pairs"] = Json::array();
  for (const PairFact& pair : facts.pairs)
    json["pairs"].push_back({pair.a, pair.b, pair.latency, pair.bandwidth, pair.disturbed});
  return json_line(json);
}

Result<RankFacts> decode_rank(std::string_view text) {
  try {
    return rank_of(Json::parse(text));
  } catch (const Json::exception& error) {
    return fail(Errc::invalid, std::string("facts of a rank: ") + error.what());
  }
}

}  // namespace dts::train::bench
