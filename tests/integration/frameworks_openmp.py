#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the threads of an OpenMP program run: each on a core of its own with --bind-threads, among all cores
of the rank without, and where the user says if he says so."""
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
static void put(const char* name, const cpu_set_t* set) {
  printf("\"%s\": [", name);
  for (int cpu = 0, any = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, set)) printf(any++ ? ", %d" : "%d", cpu);
  printf("]");
}
int main(void) {
  static cpu_set_t of[CPU_SETSIZE];
  int threads = 0;
  #pragma omp parallel
  {
    sched_getaffinity(0, sizeof *of, &of[omp_get_thread_num()]);
    #pragma omp single
    threads = omp_get_num_threads();
  }
  printf("@MARK@{\"rank\": %s, \"threads\": %d, \"gnu\": %d, \"intel\": %d", getenv("RANK"), threads,
         getenv("GOMP_CPU_AFFINITY") != 0, getenv("KMP_AFFINITY") != 0);
  for (int thread = 0; thread < threads; ++thread) {
    char name[32];
    snprintf(name, sizeof name, "cpus-%d", thread);
    printf(", ");
    put(name, &of[thread]);
  }
  puts("}");
}
"""


def build(place):
    compiler = shutil.which("gcc")
    if compiler is None:
        skip("no gcc")
    program = place + "/threads"
    with open(program + ".c", "w") as file:
        file.write(SOURCE.replace("@MARK@", MARK))
    done = subprocess.run([compiler, "-fopenmp", "-o", program, program + ".c"], capture_output=True, text=True)
    if done.returncode != 0:
        skip(f"gcc -fopenmp does not work: {done.stderr[-300:]}")
    return program


def run(place, program, ranks, *options, preload=None, **environment):
    """What each rank told, with the cores that it was placed on as `placed`."""
    runs = tempfile.mkdtemp(dir=place)
    told = [program] if preload is None else ["env", "LD_PRELOAD=" + preload, program]
    words = [DTSUBMIT, "run", "--ntasks-per-node", str(ranks), "--runs", runs, *options, "--", *told]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_"))}
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, env={**clean, **environment})
    check(done.returncode == 0, f"{' '.join([*options, *environment])} with {ranks} ranks ends well {done.stderr}")
    folder = glob.glob(runs + "/*")[0]
    with open(folder + "/attempt-1/placement.json") as file:
        placed = {one["rank"]: one["cpus"] for one in json.load(file)["ranks"]}
    results = heard(folder)
    for result in results:
        result["placed"] = placed[result["rank"]]
        result["cpus"] = [result[f"cpus-{thread}"] for thread in range(result["threads"])]
    return results


def check_own_cores(results, variable, cores):
    for told in results:
        check(told[variable] == 1 and told["gnu"] + told["intel"] == 1, f"rank {told['rank']} is told for {variable} only")
        taken = [cpus[0] for cpus in told["cpus"] if len(cpus) == 1]
        check(len(taken) == told["threads"] == len(set(taken)) == cores and set(taken) <= set(told["placed"]),
              f"its {told['threads']} threads are on {told['cpus']}, one core each of {told['placed']}")
    every = [cpu for told in results for cpus in told["cpus"] for cpu in cpus]
    check(len(every) == len(set(every)), "no two ranks share one")


def main():
    place = tempfile.mkdtemp(prefix="dts-openmp-")
    try:
        program = build(place)
        cores = len(os.sched_getaffinity(0))
        one = run(place, program, 1)[0]
        width = one["threads"]
        check(one["gnu"] + one["intel"] == 0 and all(cpus == one["placed"] for cpus in one["cpus"]),
              f"unasked, {width} threads move freely on {one['placed']}")
        for ranks in (1, width):
            check_own_cores(run(place, program, ranks, "--bind-threads", "gnu"), "gnu", width // ranks)
        if LLVM:
            check_own_cores(run(place, program, 1, "--bind-threads", "intel", preload=LLVM[0]), "intel", width)
        else:
            print("not tried: --bind-threads intel (no libomp5)")
        last = str(max(os.sched_getaffinity(0)))
        for variable, value in (("OMP_PROC_BIND", "false"), ("GOMP_CPU_AFFINITY", last)):
            told = run(place, program, 1, "--bind-threads", "gnu", **{variable: value})[0]
            expected = one["placed"] if variable == "OMP_PROC_BIND" else [int(last)]
            check(all(cpus == expected for cpus in told["cpus"]), f"the user's own {variable}={value} stays: {told['cpus']} of {cores}")
    finally:
        shutil.rmtree(place, ignore_errors=True)


main()
