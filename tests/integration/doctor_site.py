# SPDX-License-Identifier: Apache-2.0
"""A private cluster with a given configuration, what `dtsubmit doctor` reported about it, and what happened. Used by doctor.py."""
import json
import subprocess
import sys
import threading
import traceback

from checks import check
from main_job_support import DTSUBMIT, Cluster

SIDE_BY_SIDE = 4


class Site:
    """A cluster, and doctor's report on it."""

    def __init__(self, name, flavour, grace, conf, tries, options=()):
        self.name, self.tries, self.options = name, tries, list(options)
        words = [word for line in conf for word in (("--conf", line) if "=" in line else (line,))]
        self.cluster = Cluster(flavour, 2, 1, grace, "--cpus-per-node", "2", *words)
        self.lines = []

    def say(self, said, happened):
        self.lines.append(f"{self.name}: said {said}; happened: {happened}")

    def answers(self, *options):
        result = self.cluster.run(DTSUBMIT, "doctor", "--json", "--nodes", "2", *self.options, *options, code=None)
        document = json.loads(result.stdout)
        answers = {one["id"]: one for one in document["partitions"][0]["answers"]}
        refuted = any(one["answer"] == "no" for one in answers.values())
        assert result.returncode == (1 if refuted else 0), f"{self.name}: exit {result.returncode}\n{result.stderr}"
        return answers

    def play(self):
        with self.cluster:
            for one in self.tries:
                one(self)


def play_all(all_sites):
    """Plays all sites side by side, since they mostly wait. Returns the problems."""
    problems, slots = [], threading.Semaphore(SIDE_BY_SIDE)

    def play(site):
        with slots:
            try:
                site.play()
            except (AssertionError, OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError):
                problems.append(f"{site.name}\n{traceback.format_exc()}")
    threads = [threading.Thread(target=play, args=(site,)) for site in all_sites]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return problems


def report(all_sites):
    """Plays the sites that the command line names, or all, and reports answers and outcomes."""
    only = sys.argv[1:]
    all_sites = [site for site in all_sites if not only or any(word in site.name for word in only)]
    problems = play_all(all_sites)
    for site in all_sites:
        print("\n".join(site.lines))
    print("\n".join(problems))
    check(not problems, f"said = happened on {len(all_sites)} clusters")
