// SPDX-License-Identifier: Apache-2.0
// Options: one program run as many jobs.
#include "core/base/text/text.hpp"
#include "core/spec/after.hpp"
#include "core/spec/values/slurm_values.hpp"
#include "core/spec/values/values.hpp"

#include <nlohmann/json.hpp>

namespace dts::spec {
namespace {

Value list_of_runs() {
  Value value = texts(&JobSpec::after, "RUN[:ok|any|fail]", R"(["4711:ok"])");
  value.check = [](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    for (const std::string& one : spec.after)
      if (const auto after = parse_after(one); !after)
        problems.push_back({option, after.error().message, after.error().hint});
  };
  return value;
}

Result<unsigned> chain_length(const std::string& typed) {
  if (typed == "until-done") return k_endless_chain;
  const auto jobs = parse_number(typed);
  if (jobs && *jobs >= 2 && *jobs < k_endless_chain) return static_cast<unsigned>(*jobs);
  return fail(Errc::invalid, "expected 2 to 999 jobs, or until-done");
}

Value number_of_jobs() {
  Value value;
  value.type = "N|until-done";
  value.parse = [](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(spec.chain, chain_length(typed));
    return {};
  };
  value.read = [](const nlohmann::json& stored, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(spec.chain,
               chain_length(stored.is_string() ? stored.get<std::string>() : stored.dump()));
    return {};
  };
  value.write = [](const JobSpec& spec) {
    if (spec.chain == 0) return nlohmann::ordered_json();
    return spec.chain == k_endless_chain ? nlohmann::ordered_json("until-done")
                                         : nlohmann::ordered_json(spec.chain);
  };
  return value;
}

}  // namespace

std::vector<Option> sweep_options() {
  return {
      {.names = "-a,--array",
       .value = slurm_array("array"),
       .help = "as many jobs as there are indices, e.g. 0-9, 1,3,5, 0-15:4 or 0-99%10",
       .manual =
           R"(Run one job of the program for each index, in one job array of Slurm, each with its own run directory.
The indices are written as for
.BR sbatch (1):
.BR 0\-9 ,
.BR 1,3,5 ,
.BR 0\-15:4 ;
.BI % N
after them lets at most
.I N
of them run at the same time.
With
.B \-\-sweep
the indices select elements of the sweep, and
.BI % N
alone selects all.
See SWEEPS.
)",
       .variable = "SBATCH_ARRAY_INX",
       .is_for_first_job = true},
      {.names = "--sweep",
       .value = texts(&JobSpec::sweep, "NAME=VALUES|FILE.csv", R"(["lr=0.1,0.01", "seed=1..3"])"),
       .help = "a parameter with its values, e.g. lr=0.1,0.01 or seed=1..3; repeat for more",
       .manual = R"(A parameter with its values, for example
.BR lr=0.1,0.01 ,
.B seed=1..3
or
.BR seed=0..100:20 ;
can be repeated.
The program is started once for each combination, as one job array;
.BI { NAME }
in its arguments is replaced by the value.
Or a CSV file, whose first line names the parameters and each further line is an element.
See SWEEPS.
)"},
      {.names = "--sweep-mode",
       .value = text(&JobSpec::sweep_mode, "grid|zip|random:N[:SEED]"),
       .help = "how values are combined [grid]",
       .manual = R"(How the values of several parameters are combined:
.BR grid ,
the default, is every combination;
.B zip
takes the first values, then the second ones, and so on;
.BI random: N
draws
.I N
different combinations, or values from intervals such as
.B lr=log(1e\-5..1e\-1)
and
.BR p=uniform(0..0.5) .
What is drawn depends on the seed alone, 0 unless
.BI random: N : SEED
says otherwise.
)"},
      {.names = "--after",
       .value = list_of_runs(),
       .help = "wait for the end of another run: RUN:ok if it is done, RUN:fail if not, RUN:any",
       .manual =
           R"(Wait for the end of another run, given by its directory, name or job id; can be repeated, then for all of them.
With
.BR :ok ,
the default, this run starts only if the other one is done, with
.B :fail
only if it ended otherwise, with
.B :any
in both cases.
A run is over when nothing continues it, not when one of its jobs ends: one that was preempted, or goes on under another id, is
waited for until its end; a sweep until all elements are over.
A run that has ended already is judged at once.
Otherwise Slurm waits for its newest job, and the agent looks again before anything starts: it goes back into the queue if the
other run goes on, and ends the run, with the reason, if that ended in another way.
A job id that no run of yours has is passed on to Slurm, as
.BR afterok ,
.B afternotok
or
.B afterany
of
.BR \-\-dependency .
)"},
      {.names = "--chain",
       .value = number_of_jobs(),
       .help = "keep the next job waiting in the queue, N jobs in all, for runs longer than a job",
       .manual =
           R"(For a run that is longer than the time limit of a job: while one of its jobs runs, the next one waits in the queue, and
goes on where that ends at its time limit.
The chain has at most
.I N
jobs, or with
.B until\-done
as many as the run needs.
Without it the job is requeued at its time limit, and waits anew: Slurm holds a requeued job back for two minutes and forgets its
age.
The waiting job depends on the end of the running one, so it gains age only where the site counts it for such jobs
.RI ( PriorityFlags=ACCRUE_ALWAYS ).
It is submitted when a job begins, and cancelled when the run is done or stopped.
A preempted job is requeued as without this option.
)"},
  };
}

}  // namespace dts::spec
