# SPDX-License-Identifier: Apache-2.0
"""Job files and settings.

job_file.py saved [SETS]   generated command lines: the job file that --save writes has the same plan and script
job_file.py schema [KINDS] the published schema and dtsubmit agree on job files; each key with as many values, or with all
job_file.py slurm          a job file, a project's file and a cluster's profile on a real Slurm"""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from checks import check, skip
from main_job_support import DTSUBMIT, Cluster
from sbatch_options import option_set


class Person:
    """A user in an empty folder, without settings of the site or of their own."""

    def __init__(self, place):
        self.place = place
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "DTSUBMIT_"))}
        self.environment |= {"HOME": place, "DTSUBMIT_SITE_FOLDER": place + "/site", "SLURM_CONF": "/nonexistent"}
        self.environment.pop("XDG_CONFIG_HOME", None)

    def dtsubmit(self, *words):
        return subprocess.run([DTSUBMIT, *words], env=self.environment, cwd=self.place, capture_output=True, text=True)

    def write(self, name, text):
        os.makedirs(os.path.dirname(f"{self.place}/{name}"), exist_ok=True)
        with open(f"{self.place}/{name}", "w") as file:
            file.write(text)

    def planned(self, words, command=()):
        """Exit code, plan and script of a dry run, without the run's name."""
        done = self.dtsubmit(*words, "--dry-run", "--json", *command)
        return done.returncode, re.sub(r"-\d{8}T\d{6}-[0-9a-f]+", "-RUN", done.stdout)


MORE = [["--stop-signal=USR2"], ["--hang-timeout", "20"], ["--bind", "map:0;1"], ["--framework=torch,jax"], ["--no-requeue"], ["--requeue"],
        ["--on", "crash=restart:5"], ["--setup", "export A='b c'", "--setup", "ulimit -n"], ["--container", "/a.sif", "--mount", "/a:/b:ro"],
        ["--signal=B:USR1@90"], ["--slurm", "my-key=a b", "--slurm", "my-flag"], ["--preflight", "off"], ["--spares", "1"], ["-J", "my: job %1"],
        ["--log-timestamps"], ["--umask", "027"], ["--ulimit", "nofile=65536"], ["-o", "logs/%x-%j.out"], []]
PROGRAMS = [["true"], ["python3", "-c", "print('a b')"], ["bash", "-c", "echo $HOME | tr a b"], ["a", "", "\t\n", "it's \"so\" \\", "é", "\x7f"]]


def saved(sets=300):
    chance = random.Random(7)
    compared = 0
    with tempfile.TemporaryDirectory() as place:
        person = Person(place)
        for turn in range(int(sets)):
            words, _ = option_set(chance)
            words += chance.choice(MORE) + chance.choice(MORE)
            command = ["--", *chance.choice(PROGRAMS)]
            code, plan = person.planned(words, command)
            if code != 0:
                continue
            name = f"{turn}." + ("toml", "json")[turn % 2]
            done = person.dtsubmit("config", *words, "--save", name, *command)
            if done.returncode != 0:
                check(False, f"{turn}: {words}: saved: {done.stderr}")
            again = person.planned([name])
            if again != (code, plan):
                check(False, f"{turn}: {words}\n{open(place + '/' + name).read()}\n{plan}\n{again}")
            compared += 1
        check(compared > int(sets) * 0.7, f"{compared} of {sets} command lines have the plan and script of their job files")


VALID = [
    {}, {"nodes": 2}, {"nodes": "2"}, {"nodes": "4-4"}, {"time": 90}, {"time": "1:30:00"}, {"time": ""}, {"mem": "32gb"}, {"memory_mib": 2048},
    {"gpus_per_node": "a100:4"}, {"gpus_per_node": 4}, {"requeue": False}, {"no_requeue": True}, {"exclusive": True}, {"exclusive": "user"},
    {"nice": -5}, {"nice": True}, {"module": ["a", "b"]}, {"modules": "a"}, {"framework": ["torch"]}, {"framework": "torch,jax"},
    {"slurm": {"power-x": "level"}}, {"slurm": ["power-x=level", "y-z"]}, {"slurm": "power-x"}, {"command": "python3 a.py 'b c'"},
    {"command": ["python3", {"hex": "e9"}]}, {"command": []}, {"launcher": "srun"}, {"bind_threads": "gnu"}, {"schema": "dtsubmit/spec/1", "nodes": 1},
    {"$schema": "job.schema.json"}, {"signal": "USR1@60"}, {"stop_signal": 10}, {"container": "/a.sif", "mount": ["/a:/b:ro"], "command": "true"}, {"runs": "/scratch"},
    {"container": "/a.sif", "container_runtime": "podman", "command": "true"}, {"comment": 1.5}, {"ntasks": 4, "gpus": 4}, {"setup": ["a"], "teardown": "b"},
]
INVALID = [
    [], "nodes", 1, None, {"node": 1}, {"Nodes": 1}, {"nodes": True}, {"nodes": [1]}, {"nodes": {}}, {"nodes": None}, {"nodes": 1.5},
    {"time": True}, {"time": ["1"]}, {"requeue": "yes"}, {"requeue": 1}, {"no_requeue": []}, {"mem": 1, "memory_mib": 1},
    {"module": ["a"], "modules": ["b"]}, {"module": {"a": 1}}, {"module": [["a"]]}, {"module": True}, {"setup": [True]}, {"framework": [1]},
    {"framework": {}}, {"slurm": {"power-x": 1}}, {"slurm": True}, {"command": 1}, {"command": {"a": 1}}, {"command": [1]}, {"command": [{"hex": 1}]},
    {"command": [{"hex": "00", "b": 1}]}, {"launcher": "rsh"}, {"launcher": True}, {"bind_threads": "x"}, {"container_runtime": "lxc"},
    {"schema": "dtsubmit/spec/2"}, {"$schema": 1}, {"job_name": ["a"]}, {"partition": False}, {"runs": {}}, {"stop_signal": [10]}, {"gpus": True},
]


def schema(most=None):
    try:
        import jsonschema
    except ImportError:
        skip("no module jsonschema (Debian 12: apt install python3-jsonschema)")
    with tempfile.TemporaryDirectory() as place:
        person = Person(place)
        published = json.loads(person.dtsubmit("config", "--schema").stdout)
        jsonschema.Draft7Validator.check_schema(published)
        validator = jsonschema.Draft7Validator(published)

        def accepted(document):
            person.write("job.json", json.dumps(document))
            return person.dtsubmit("config", "job.json").returncode == 0

        for document in VALID:
            if not (validator.is_valid(document) and accepted(document)):
                check(False, f"valid: {document}: {[e.message for e in validator.iter_errors(document)]} {person.dtsubmit('config', 'job.json').stderr}")
        for document in INVALID:
            if validator.is_valid(document) or accepted(document):
                check(False, f"invalid: {document}: schema {validator.is_valid(document)}, dtsubmit {accepted(document)}")
        print(f"ok: {len(VALID)} examples are valid for both, {len(INVALID)} are refused by both")

        # Each key alone with values of every kind: the schema must allow what dtsubmit accepts.
        kinds = ["1", "yes", "", 1, -1, 2.5, True, False, None, [], ["1"], [1], [[]], {}, {"a-b": "c"}, {"a-b": 1}]
        chance = random.Random(7)
        for key in published["properties"]:
            for value in chance.sample(kinds, int(most)) if most else kinds:
                if accepted({key: value}) and not validator.is_valid({key: value}):
                    check(False, f"dtsubmit takes {key} = {value}, the schema does not")
        print(f"ok: what dtsubmit takes for its {len(published['properties'])} keys, the schema allows")


def slurm():
    with Cluster("linuxproc", 2, 4, 5, "--gpu-type", "a100") as cluster:
        person = Person(cluster.place)
        person.environment = {**cluster.environment, "HOME": cluster.place + "/home", "DTSUBMIT_SITE_FOLDER": cluster.place + "/site"}
        name = re.search(r"ClusterName\s*=\s*(\S+)", person_run(person, "scontrol", "show", "config")).group(1)
        person.write("site/config.toml", 'comment = "of the site"\naccount = "site"\nruns = "site-runs"\n')
        person.write(f"site/clusters/{name}.toml", 'account = "cluster"\nnice = 3\nqos = "cluster"\n')
        person.write("site/clusters/other.toml", "nodes = 99\n")
        person.write("home/.config/dtsubmit/config.toml", f'qos = ""\nruns = "{cluster.runs}"\nlicenses = ""\n')
        person.write(".dtsubmit.toml", 'nice = 7\ntime = 10\n')
        person.write("job.toml", 'nodes = 2\ngpus_per_node = "a100:2"\ncommand = "true"\ntime = "0:20:00"\n')

        shown = json.loads(person.dtsubmit("config", "--json", "job.toml").stdout)["values"]
        for key, origin in (("comment", "site/config.toml:1:11"), ("account", f"site/clusters/{name}.toml:1:11"), ("qos", "home/.config/dtsubmit/config.toml:1:7"),
                            ("nice", "/.dtsubmit.toml:1:8"), ("time", "job.toml:4:8"), ("nodes", "job.toml:1:9")):
            check(shown[key]["origin"].endswith(origin), f"{key} is from {origin}: {shown[key]}")

        done = person.dtsubmit("job.toml", "--json", "--wait", "--ntasks-per-node", "1")
        check(done.returncode == 0, f"a job file alone is submitted, and runs to its end: {done.stderr}")
        made = json.loads(done.stdout[:done.stdout.index("\n}") + 2])
        job = person_run(person, "scontrol", "show", "job", str(made["job"]))
        for field in ("Account=cluster", "Nice=7", "Comment=of the site", "TimeLimit=00:20:00", "NumNodes=2", "gres:gpu:a100:2"):
            check(field in job, f"the controller has {field}" + ("" if field in job else f"\n{job}"))
        check(made["run_directory"].startswith(cluster.runs + "/"), "the run is where the user's settings say")
        check(person.dtsubmit("status", str(made["job"])).returncode == 0, "and is found by its job")

        done = person.dtsubmit("run", "job.toml", "--nodes", "1", "--gpus-per-node", "0")
        check(done.returncode == 0, f"the same file runs here, without Slurm: {done.stderr}")

        person.environment["SLURM_CONF"] = "/nonexistent/slurm.conf"
        done = person.dtsubmit("job.toml", "--dry-run")
        check(done.returncode == 0 and "no cluster profile is used" in done.stderr, f"an unknown cluster is said: {done.stderr}")


def person_run(person, *words):
    return subprocess.run(words, env=person.environment, cwd=person.place, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    {f.__name__: f for f in (saved, schema, slurm)}[sys.argv[1]](*sys.argv[2:])
