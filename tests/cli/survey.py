# SPDX-License-Identifier: Apache-2.0
"""How many of the jobs that people submit can be said in dtsubmit: the public scripts of tests/data/survey, each planned by the real
program. A script is expressed if dtsubmit accepts it, if the job has all options of the script, and if as many processes train.

   survey.py [REPOSITORY...]   all of them, or those whose repository and path contain one of these words"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

try:
    import tomllib
except ImportError:
    print("skipped: no module tomllib (Python 3.11)")
    sys.exit(77)

DTSUBMIT = os.environ["DTSUBMIT"]
ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/survey/scripts.toml")
LEAST = 95.0  # per cent
# What a program that has it accepts. What is not here is an option.
PROBES = {"steps": '[[steps]]\nname = "a"\ncommand = "true"\n', "roles": '[[roles]]\nname = "a"\ncommand = "true"\n'}


class Program:
    """dtsubmit in an empty folder: without settings, without Slurm."""

    def __init__(self, place):
        self.place = place
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "SBATCH_", "DTSUBMIT_"))}
        self.environment |= {"HOME": place, "DTSUBMIT_SITE_FOLDER": place + "/site", "SLURM_CONF": "/nonexistent"}
        self.help = self.run("submit", "--help-all").stdout
        self.known = {}

    def run(self, *words):
        return subprocess.run([DTSUBMIT, *words], env=self.environment, cwd=self.place, capture_output=True, text=True)

    def write(self, name, text):
        with open(os.path.join(self.place, name), "w", encoding="utf-8") as file:
            file.write(text)

    def has(self, capability):
        if capability not in self.known:
            if capability in PROBES:
                self.write("probe.toml", PROBES[capability])
                self.known[capability] = self.run("submit", "probe.toml", "--dry-run").returncode == 0
            else:
                self.known[capability] = f"--{capability} " in self.help
        return self.known[capability]

    def plan(self, row):
        """Its dry run; its message instead if it is refused."""
        for name, text in row.get("files", {}).items():
            self.write(name, text)
        os.makedirs(os.path.join(self.place, said(row, "chdir", "D")), exist_ok=True)
        words = row.get("arguments", [])
        if "job" in row:
            self.write("job.toml", row["job"])
            words = ["job.toml", *words]
        done = self.run("submit", "--dry-run", "--json", *words)
        return json.loads(done.stdout) if done.returncode == 0 else re.sub(r"dtsubmit: (warning|error): ", "", done.stderr).strip()


def minutes(text):
    days, _, clock = text.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    if days:
        hours, minute, second = (parts + [0, 0])[:3]
    elif len(parts) == 3:
        hours, minute, second = parts
    else:
        hours, minute, second = 0, parts[0], (parts + [0])[1]
    return int(days or 0) * 1440 + hours * 60 + minute + second / 60


def mebibytes(text):
    number, unit = re.fullmatch(r"(\d+)([kmgt]?)b?", text.lower()).groups()
    return int(number) * {"k": 1 / 1024, "": 1, "m": 1, "g": 1024, "t": 1024 * 1024}[unit]


def hosts(text):
    """Of a list such as n[1-3,7],m."""
    names = set()
    for word in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        prefix, bracket, ranges = word.rstrip("]").partition("[")
        for one in ranges.split(",") if bracket else [""]:
            first, _, last = one.partition("-")
            names |= {prefix + str(n) for n in range(int(first), int(last or first) + 1)} if bracket else {prefix}
    return names


def gpus(text):
    """("a100", 4) of a100:4."""
    kind, _, number = text.rpartition(":")
    return kind, int(number)


def said(row, key, letter):
    """What the row says of an option that is not in the rendered script."""
    words = row.get("arguments", [])
    for word, following in zip(words, words[1:] + [""]):
        if word in (f"-{letter}", f"--{key}"):
            return following
        if word.startswith(f"--{key}="):
            return word.partition("=")[2]
    return tomllib.loads(row.get("job", "")).get(key, "")


class Script:
    """The rendered script's directives, asked for options of sbatch by their long names."""

    def __init__(self, text, row):
        self.row = row
        self.lines = {}
        for line in text.splitlines():
            if line.startswith("#SBATCH --"):
                name, equals, value = line[10:].partition("=")
                self.lines[name] = shlex.split(value)[0] if equals and value != '""' else ""
        self.nodes = int(self.lines.get("nodes", 1))
        self.tasks = int(self.lines.get("ntasks-per-node", 1))

    def text_is(self, name, value):
        return self.lines.get(name) == value

    def gpus_are(self, kind, number_a_node):
        return "gpus-per-node" in self.lines and gpus(self.lines["gpus-per-node"]) == (kind, number_a_node)

    def has(self, name, value):
        """value None: a flag."""
        if value is None:
            return name in self.lines
        kind, number = gpus(value) if name.startswith("gpus") and ":" not in value.partition(":")[2] else ("", 0)
        special = {
            "gres": lambda: value.startswith("gpu:") and self.gpus_are(*gpus(value[4:])),
            "gpus": lambda: self.gpus_are(kind, number // self.nodes),
            "gpus-per-node": lambda: self.gpus_are(kind, number),
            "gpus-per-task": lambda: self.gpus_are(kind, number * self.tasks),
            "ntasks": lambda: self.nodes * self.tasks == int(value),
            "time": lambda: name in self.lines and minutes(self.lines[name]) == minutes(value),
            "exclude": lambda: hosts(self.lines.get(name, "")) == hosts(value),
            "nodelist": lambda: hosts(self.lines.get(name, "")) == hosts(value),
            "mail-type": lambda: value.upper() in self.lines.get(name, "").split(","),
            "signal": lambda: self.lines.get(name, "").endswith("@" + value.partition("@")[2]),
            "cpus-per-gpu": lambda: int(self.lines.get("cpus-per-task", 0)) * self.tasks == int(value) * gpus(self.lines["gpus-per-node"])[1],
            # A link to the run's log; of both streams.
            "output": lambda: said(self.row, "output", "o") == value,
            "error": lambda: said(self.row, "output", "o") == value,
            # Of the first job only, so no line of the script, which is every job's.
            "dependency": lambda: said(self.row, "dependency", "d") == value,
        }
        special["time-min"] = special["time"]
        if name in special:
            return special[name]()
        if name.startswith("mem"):
            return name in self.lines and mebibytes(self.lines[name]) == mebibytes(value)
        return self.text_is(name, value)


def processes_of(plan):
    return plan["world_size"] * max(1, plan.get("workers_per_task", 0))


def processes_differ(row, planned):
    expected = row["processes"]
    if isinstance(expected, int):
        found = processes_of(planned["plan"])
        return "" if found == expected else f"{found} processes planned, {expected} in the script"
    found = {part["name"]: processes_of(part["plan"]) for part in planned.get("steps", []) + planned.get("roles", [])}
    return "" if found == expected else f"processes planned {found}, in the script {expected}"


def missing_options(row, planned):
    script = Script(planned["script"], row)
    missing = []
    for option in row["sbatch"]:
        name, equals, value = option.partition("=")
        if name not in row.get("as", {}) and not script.has(name, value if equals else None):
            missing.append(f"--{option} (job: {script.lines.get(name, 'none')})")
    return missing


def judge(row, program):
    """Why a script is not expressed; empty: it is."""
    lacking = [name for name in row.get("needs", []) if not program.has(name)]
    if lacking:
        return "dtsubmit has no " + ", ".join(lacking)
    planned = program.plan(row)
    if isinstance(planned, str):
        return "refused: " + planned
    found = [f"without {option}" for option in missing_options(row, planned)]
    found += filter(None, [processes_differ(row, planned)])
    if "lost" in row:
        found.append("lost: " + row["lost"])
    return "; ".join(found)


def options_of(row):
    """The names that say it, for the table."""
    words = row.get("arguments", [])
    words = words[:words.index("--")] if "--" in words else words
    names = [word.partition("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)]
    keys = tomllib.loads(row.get("job", ""))
    names += [f"[[{key}]]" if key in ("steps", "roles") else key for key in keys]
    return " ".join(dict.fromkeys(names))


def main(wanted):
    with open(ROWS, "rb") as file:
        rows = tomllib.load(file)["script"]
    rows = [row for row in rows if not wanted or any(word in row["repository"] + " " + row["path"] for word in wanted)]
    scripts = {}
    with tempfile.TemporaryDirectory() as place:
        program = Program(place)
        for row in rows:
            why = judge(row, program)
            scripts.setdefault((row["repository"], row["path"]), []).append(why)
            name = f"{row['repository']} {row['path']}" + (f" ({row['part']})" if "part" in row else "")
            print(f"{'NO ' if why else 'yes'} {name}\n      " + (why or options_of(row)).replace("\n", "\n      "))
    expressed = sum(1 for parts in scripts.values() if not any(parts))
    share = 100.0 * expressed / len(scripts)
    print(f"{expressed} of {len(scripts)} scripts can be expressed: {share:.1f} %, at least {LEAST} %")
    return 0 if share >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
