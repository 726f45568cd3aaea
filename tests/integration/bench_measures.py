# SPDX-License-Identifier: Apache-2.0
"""`dttrain bench` alone and under a real mpirun: the form of check.json, a number for each fault, and a rank that hangs.

Usage: bench_measures.py DTTRAIN MOVED_CLOCK.so [PART...]"""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from bench_support import against_others, check_facts, measured, mpirun, run, undisturbed, value
from checks import check
from trainer_support import environment, ranks_of

PROGRAM, MOVED_CLOCK = sys.argv[1:3]
SPEEDS = ["clock", "gemm_fp32_core", "gemm_fp32", "memory"]


def shape():
    done = undisturbed(lambda: run([PROGRAM, "bench", "--quick", "--run-dir", tempfile.gettempdir()]), lambda found: json.loads(found.stdout))
    check_facts(json.loads(done.stdout), 1)
    check(done.stderr.split() == ["cores", "gemm", "memory", "gpu", "disk", "steps"], "alone: facts on stdout, progress on stderr")
    for ranks in (2, 3, 5):
        facts, progress = undisturbed(lambda ranks=ranks: measured(PROGRAM, ranks), lambda found: found[0])
        check_facts(facts, ranks)
        rounds = ranks - 1 + ranks % 2
        check(progress == ["cores", "gemm", "memory", "gpu", "disk", "steps", "clock"] +
              [f"pairs {i + 1}/{rounds}" for i in range(rounds)] + ["collectives"], f"{ranks} ranks: all facts, and one line a phase")


def slowed(fault, victims, most):
    """On one rank of three, the victims' values are lower than those of the other ranks in half of the runs, and no other value is lower in
    all of up to 40 runs. Other guests of the machine lower a rank's memory bandwidth for seconds, so only values of one run are compared."""
    phases = ["--phase", "cores,gemm,memory"]
    for rank in range(3):
        ratios = {key: [] for key in SPEEDS}
        for _ in range(40):
            facts, _ = measured(PROGRAM, 3, *phases, "--inject", f"{fault}@{rank}")
            for key in SPEEDS:
                ratios[key].append(against_others(facts, rank, key))
            found = {key: statistics.median(ratios[key]) if key in victims else max(ratios[key]) for key in SPEEDS}
            good = all(found[key] < most if key in victims else found[key] > 0.9 for key in SPEEDS)
            if good:
                break
        check(good, f"{fault} on rank {rank}: " + ", ".join(f"{key} {ratio:.2f}" for key, ratio in found.items()))


def faults_of_speed():
    slowed("slow", {"clock", "gemm_fp32_core", "gemm_fp32"}, 0.85)
    slowed("memory", {"memory"}, 0.6)


def slow_disk():
    for attempt in range(3):
        facts, _ = measured(PROGRAM, 3, "--phase", "disk", "--inject", "disk@1")
        ratios = [against_others(facts, 1, key, what) for key in ("write", "read") for what in ("run", "scratch")]
        if max(ratios) < 0.6 or attempt == 2:
            break
    check(max(ratios) < 0.6, "a slow disk: " + ", ".join(f"{ratio:.2f}" for ratio in ratios))


def flipped_bits():
    digests = set()
    for rank, (what, element, repeat) in enumerate((what, element, repeat) for what in ("weight", "gradient", "momentum")
                                                   for element, repeat in ((0, 0), (777, 2), (201000, 1))):
        rank %= 3
        facts, _ = measured(PROGRAM, 3, "--phase", "steps", "--steps", 3, "--inject", f"{what}:{element}:{repeat}@{rank}")
        odd = {node["rank"]: node["steps"]["odd_repeats"] for node in facts["nodes"] if node["steps"]["odd_repeats"]}
        # If it is the first repeat, the others are odd, and the digest differs from that of the other ranks.
        check(odd == {rank: [1, 2] if repeat == 0 else [repeat]}, f"a bit of {what} {element} in repeat {repeat} on rank {rank}: {odd}")
        digests |= {node["steps"]["digest"] for node in facts["nodes"] if node["rank"] != rank}
        own = facts["nodes"][rank]["steps"]["digest"]
        check((own in digests) == (repeat != 0), "and the digest of its first repeat")
    check(len(digests) == 1, "the other ranks agree in all runs")


def wrong_clock():
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/moved", "w", encoding="ascii") as file:
            file.write("2")
        bench = [PROGRAM, "bench", "--quick", "--phase", "clock", "--output", f"{folder}/check.json"]
        moved = ["env", f"LD_PRELOAD={MOVED_CLOCK}", f"DTS_MOVED_CLOCK={folder}/moved"]
        run(mpirun(1) + bench + [":", "-np", "1"] + moved + bench + [":", "-np", "1"] + bench)
        with open(f"{folder}/check.json", encoding="utf-8") as file:
            facts = json.load(file)
        offsets = [value(node, "clock_offset") for node in facts["nodes"][1:]]
        check(abs(offsets[0] - 2) < 0.2 and abs(offsets[1]) < 0.2, f"a clock that is 2 s ahead: {offsets}")
    facts, _ = measured(PROGRAM, 2, "--phase", "clock", "--inject", "clock@1")
    check(abs(value(facts["nodes"][1], "clock_offset") - 2) < 0.2, "the same by --inject")


def has_entry(pid, entry):
    with open(f"/proc/{pid}/environ", encoding="utf-8") as environ:
        return entry in environ.read().split("\0")


def hanging_rank():
    with tempfile.TemporaryDirectory() as folder:
        words = mpirun(3) + [PROGRAM, "bench", "--quick", "--phase", "cores,clock,pairs,collectives", "--output", f"{folder}/check.json"]
        start = time.monotonic()
        with subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as launcher:
            launcher.stdout.readline()  # it is rank 0's turn, and the others wait for theirs
            victim = next(pid for pid in ranks_of(launcher.pid) if has_entry(pid, "OMPI_COMM_WORLD_RANK=2"))
            os.kill(victim, signal.SIGSTOP)
            try:
                out, _ = launcher.communicate(timeout=250)
            finally:
                launcher.kill()
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
        check(launcher.returncode != 0, f"a rank that hangs: exit {launcher.returncode} after {time.monotonic() - start:.0f} s")
        if not os.path.exists(f"{folder}/check.json"):
            raise AssertionError(out)
        with open(f"{folder}/check.json", encoding="utf-8") as file:
            facts = json.load(file)
        check(all(value(facts["nodes"][rank], "clock") > 0 for rank in (0, 1)), "what the others measured is written")
        check("rank 2" in " ".join(facts["notes"] + facts["nodes"][0]["notes"]), f"the notes name it: {facts['notes']}")


def refusals():
    done = run(mpirun(2) + [PROGRAM, "bench", "--quick", "--phase", "cores", "--output", "/proc/here/check.json"], expect=74)
    check(done.stderr.count("/proc/here") == 1, "an output that cannot be written")
    done = run([PROGRAM, "bench", "--quick", "--phase", "disk", "--scratch", "/nowhere"])
    node = json.loads(done.stdout)["nodes"][0]
    check(node["measures"] == [] and "/nowhere" in node["notes"][0], "a folder that is not there is a note")
    done = run([PROGRAM, "bench", "--quick"], env={"DTSUBMIT_RUN_DIR": "/tmp", "WORLD_SIZE": "4"}, expect=3)
    check("4 ranks, but MPI knows of 1" in done.stderr, "a launcher without MPI")
    run([PROGRAM, "bench", "--qick"], expect=2)
    check("--inject" in run([PROGRAM, "bench", "--help"]).stdout, "--help")


def main():
    parts = [shape, faults_of_speed, slow_disk, flipped_bits, wrong_clock, hanging_rank, refusals]
    for part in parts:
        if len(sys.argv) < 4 or part.__name__ in sys.argv[3:]:
            part()


if __name__ == "__main__":
    main()
