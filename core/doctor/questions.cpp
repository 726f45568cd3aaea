// SPDX-License-Identifier: Apache-2.0
#include "core/doctor/questions.hpp"

#include "core/base/text/names.hpp"

#include <algorithm>

namespace dts::doctor {

const char* to_string(Answer answer) {
  constexpr Names<Answer, 4> k_answers{{{Answer::yes, "yes"},
                                        {Answer::partly, "partly"},
                                        {Answer::no, "no"},
                                        {Answer::unknown, "unknown"}}};
  return name_of(k_answers, answer);
}

Verdict not_known() {
  return {Answer::unknown, "the scheduler does not report its settings"};
}

const std::vector<Question>& questions() {
  static const std::vector<Question> all{
      {"exit-codes", "its exit codes mean what dtsubmit means", judge_exit_codes},
      {"preemption", "survives a preemption", judge_preemption},
      {"time-limit", "survives its time limit", judge_time_limit},
      {"lost-node", "survives a lost node", judge_lost_node},
      {"cores", "is confined to its cores, and others are kept off them", judge_cores},
      {"memory", "is confined to its memory, and others are kept off it", judge_memory},
      {"gpus", "is confined to its GPUs, and others are kept off them", judge_gpus},
      {"leftovers", "leaves no process behind", judge_leftovers},
      {"prolog", "starts on nodes that are ready", judge_prolog},
      {"ranks", "finds its ranks", judge_ranks},
      {"array", "fits the site's job arrays", judge_array},
      {"run-folder", "writes where all of its nodes can read", judge_run_folder},
      {"locked-memory", "can lock memory for its network", judge_locked_memory},
  };
  return all;
}

const std::vector<Question>& probe_questions() {
  static const std::vector<Question> all{
      {"probe-start", "probe: starts on its nodes", judge_probe_start},
      {"probe-ranks", "probe: its ranks find each other", judge_probe_ranks},
      {"probe-run-folder", "probe: all of its nodes see its run directory", judge_probe_folder},
      {"probe-clocks", "probe: the clocks of its nodes agree", judge_probe_clocks},
      {"probe-names", "probe: its nodes know each other's names", judge_probe_names},
      {"probe-ssh", "probe: ssh works between its nodes", judge_probe_ssh},
      {"probe-limits", "probe: its resource limits suffice", judge_probe_limits},
      {"probe-cores", "probe: cannot leave its cores", judge_probe_cores},
      {"probe-warning",
       "probe: its ranks get the warning before its time limit",
       judge_probe_warning},
      {"probe-scratch", "probe: has room for temporary files", judge_probe_scratch},
  };
  return all;
}

std::vector<Answered> examine(const Facts& facts) {
  std::vector<Answered> answers;
  for (const Question& question : questions())
    answers.push_back({&question, question.judge(facts)});
  if (facts.probed)
    for (const Question& question : probe_questions())
      answers.push_back({&question, question.judge(facts)});
  return answers;
}

bool is_refuted(const std::vector<Answered>& answers) {
  return std::any_of(answers.begin(), answers.end(), [](const Answered& one) {
    return one.verdict.answer == Answer::no;
  });
}

}  // namespace dts::doctor
