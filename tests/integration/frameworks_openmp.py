#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the threads of an OpenMP program run: each on a core of its own with --bind-threads, among all cores of the rank without it, and
where the user wants them if the user says so. With --bind-threads auto, the main thread and the processes that it forks have all cores,
with any runtime."""
import glob
import json
import os
import shutil
import subprocess
import tempfile

from frameworks_support import DTSUBMIT, LLVM, MARK, check, heard, skip

SOURCE = r"""
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void put(const char* name, const cpu_set_t* set) {
  printf("\"%s\": [", name);
  for (int cpu = 0, any = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, set)) printf(any++ ? ", %d" : "%d", cpu);
  printf("]");
}
static cpu_set_t of_child(void) {
  int ends[2];
  cpu_set_t set;
  CPU_ZERO(&set);
  if (pipe(ends) == 0 && fork() == 0) {
    sched_getaffinity(0, sizeof set, &set);
    _exit(write(ends[1], &set, sizeof set) != sizeof set);
  }
  close(ends[1]);
  if (read(ends[0], &set, sizeof set) != sizeof set) CPU_ZERO(&set);
  return set;
}
int main(void) {
  static const char* const names[] = {"GOMP_CPU_AFFINITY", "KMP_AFFINITY", "KMP_WARNINGS", "OMP_PLACES", "OMP_PROC_BIND"};
  static cpu_set_t of[CPU_SETSIZE];
  int threads = 0;
  #pragma omp parallel
  {
    sched_getaffinity(0, sizeof *of, &of[omp_get_thread_num()]);
    #pragma omp single
    threads = omp_get_num_threads();
  }
  const cpu_set_t child = of_child();
  printf("@MARK@{\"rank\": %s, \"threads\": %d, ", getenv("RANK"), threads);
  for (int i = 0; i < 5; ++i)
    if (getenv(names[i])) printf("\"%s\": \"%s\", ", names[i], getenv(names[i]));
  put("child", &child);
  for (int thread = 0; thread < threads; ++thread) {
    char name[32];
    snprintf(name, sizeof name, "cpus-%d", thread);
    printf(", ");
    put(name, &of[thread]);
  }
  puts("}");
}
"""


BOTH = ["KMP_AFFINITY", "KMP_WARNINGS", "OMP_PLACES"]


def build(place, compiler):
    """Compiles the program; otherwise the reason why this is impossible."""
    if shutil.which(compiler) is None:
        return None, f"no {compiler}"
    program = f"{place}/threads-{compiler}"
    with open(program + ".c", "w") as file:
        file.write(SOURCE.replace("@MARK@", MARK))
    done = subprocess.run([compiler, "-fopenmp", "-o", program, program + ".c"], capture_output=True, text=True)
    if done.returncode != 0:
        return None, f"{compiler} -fopenmp does not work: {done.stderr[-300:]}"
    return program, None


def run(place, program, ranks, *options, before=(), preload=None, **environment):
    """What each rank reported, with the cores that it was placed on as `placed`."""
    runs = tempfile.mkdtemp(dir=place)
    told = [program] if preload is None else ["env", "LD_PRELOAD=" + preload, program]
    words = [*before, DTSUBMIT, "run", "--ntasks-per-node", str(ranks), "--runs", runs, *options, "--", *told]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_"))}
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, env={**clean, **environment})
    check(done.returncode == 0, f"{' '.join([*options, *environment])} with {ranks} ranks ends well {done.stderr}")
    folder = glob.glob(runs + "/*")[0]
    with open(folder + "/attempt-1/placement.json") as file:
        placed = {one["rank"]: one["cpus"] for one in json.load(file)["ranks"]}
    for log in glob.glob(folder + "/attempt-1/rank-*.log"):
        text = open(log).read()
        check("OMP: " not in text and "libgomp: " not in text, f"no runtime complains {text if 'omp' in text else ''}")
    results = heard(folder)
    for result in results:
        result["placed"] = placed[result["rank"]]
        result["set"] = [name for name in (*BOTH, "GOMP_CPU_AFFINITY", "OMP_PROC_BIND") if name in result]
        result["cpus"] = [result[f"cpus-{thread}"] for thread in range(result["threads"])]
    return results


def check_own_cores(results, variable, cores):
    for told in results:
        check(told["set"] == [variable], f"rank {told['rank']} is told {variable}={told.get(variable)} only")
        taken = [cpus[0] for cpus in told["cpus"] if len(cpus) == 1]
        check(len(taken) == told["threads"] == len(set(taken)) == cores and set(taken) <= set(told["placed"]),
              f"its {told['threads']} threads are on {told['cpus']}, one core each of {told['placed']}")
    every = [cpu for told in results for cpus in told["cpus"] for cpu in cpus]
    check(len(every) == len(set(every)), "no two ranks share one")


def check_auto(results, variables, width):
    for told in results:
        check(told["set"] == variables, f"rank {told['rank']} is told {', '.join(f'{name}={told[name]}' for name in told['set'])}")
        first, *others = told["cpus"]
        taken = [cpus[0] for cpus in others if len(cpus) == 1]
        check(told["threads"] == width and first == told["placed"] and len(taken) == len(others) == len(set(taken)) and set(taken) <= set(first),
              f"its {width} threads are on {told['cpus']}: the main one on all of {told['placed']}, each other on one")
        check(told["child"] == told["placed"], f"and what it forks on {told['child']}")


def try_auto(place, program, variable, width, last):
    """A program linked with the runtime that reads `variable`."""
    for ranks in (1, width):
        check_auto(run(place, program, ranks, "--bind-threads", "auto"), [variable], width // ranks)
    check_auto(run(place, program, 1, "--bind-threads", "auto", before=["taskset", "-c", last]), [variable], 1)
    script = program + ".sh"
    with open(script, "w") as file:
        file.write(f"#!/bin/sh\n{program}\n")
    os.chmod(script, 0o755)
    check_auto(run(place, script, 1, "--bind-threads", "auto"), BOTH, width)
    if LLVM:
        check_auto(run(place, program, 1, "--bind-threads", "auto", preload=LLVM[0]), BOTH, width)
    told = run(place, program, 1, "--bind-threads", "auto", OMP_PROC_BIND="false")[0]
    check(told["set"] == ["OMP_PROC_BIND"] and all(cpus == told["placed"] for cpus in told["cpus"]), "the user's own OMP_PROC_BIND stays alone")


def main():
    place = tempfile.mkdtemp(prefix="dts-openmp-")
    try:
        program, why_none = build(place, "gcc")
        if program is None:
            skip(why_none)
        cores = len(os.sched_getaffinity(0))
        one = run(place, program, 1)[0]
        width = one["threads"]
        check(one["set"] == [] and all(cpus == one["placed"] for cpus in one["cpus"]),
              f"unasked, {width} threads move freely on {one['placed']}")
        for ranks in (1, width):
            check_own_cores(run(place, program, ranks, "--bind-threads", "gnu"), "GOMP_CPU_AFFINITY", width // ranks)
        if LLVM:
            check_own_cores(run(place, program, 1, "--bind-threads", "intel", preload=LLVM[0]), "KMP_AFFINITY", width)
        else:
            print("not tried: --bind-threads intel (no libomp5)")
        last = str(max(os.sched_getaffinity(0)))
        try_auto(place, program, "OMP_PLACES", width, last)
        other, why_none = build(place, "clang")
        if other:
            try_auto(place, other, "KMP_AFFINITY", width, last)
        else:
            print(f"not tried: --bind-threads auto for libomp ({why_none})")
        for variable, value in (("OMP_PROC_BIND", "false"), ("GOMP_CPU_AFFINITY", last)):
            told = run(place, program, 1, "--bind-threads", "gnu", **{variable: value})[0]
            expected = one["placed"] if variable == "OMP_PROC_BIND" else [int(last)]
            check(all(cpus == expected for cpus in told["cpus"]), f"the user's own {variable}={value} stays: {told['cpus']} of {cores}")
    finally:
        shutil.rmtree(place, ignore_errors=True)


main()
