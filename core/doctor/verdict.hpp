// SPDX-License-Identifier: Apache-2.0
// The questions that `dtsubmit doctor` answers, one row each in questions.cpp. Pure.
#pragma once

#include "core/doctor/facts.hpp"

#include <string>
#include <vector>

namespace dts::doctor {

enum class Answer {
  yes,
  partly,  // yes, at a price that `why` states
  no,
  unknown,  // not known from here; `todo` says how to find out
};

[[nodiscard]] const char* to_string(Answer answer);

// A setting of the site that would change an answer.
struct Wish {
  std::string file;     // "slurm.conf"
  std::string setting;  // "KillWait"; for a partition: "PartitionName=low GraceTime"
  std::string now;      // its current value; empty: not set
  std::string wanted;
  std::string reason;
};

struct Verdict {
  Answer answer = Answer::unknown;
  std::string why{};   // a sentence or two, with numbers
  std::string todo{};  // what the user can do; may be empty
  std::vector<Wish> wishes{};
};

struct Question {
  const char* id;     // "preemption": never changes, scripts rely on it
  const char* words;  // "survives a preemption"
  Verdict (*judge)(const Facts& facts);
};

[[nodiscard]] const std::vector<Question>& questions();

// The questions that only a job can answer; they need Facts::probed.
[[nodiscard]] const std::vector<Question>& probe_questions();

struct Answered {
  const Question* question = nullptr;
  Verdict verdict;
};

// All questions in order with their answers, the probe's only if there was one.
[[nodiscard]] std::vector<Answered> examine(const Facts& facts);

// True if at least one answer is `no`.
[[nodiscard]] bool is_refuted(const std::vector<Answered>& answers);

}  // namespace dts::doctor
