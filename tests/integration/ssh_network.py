# SPDX-License-Identifier: Apache-2.0
"""Machines for tests, n1, n2 and so on: network and host name namespaces on a bridge, each with a real sshd. The test itself runs in a
network of its own, where it is 10.77.0.254. Needs root."""
import os
import shutil
import subprocess
import sys
import tempfile

from checks import skip, wait_for

CONFIG = """Host alias
  HostName 10.77.0.2
Host gone
  HostName 10.77.0.9
Host stranger
  HostName 10.77.0.2
  IdentityFile {place}/other
  IdentitiesOnly yes
Host closed
  HostName 10.77.0.2
  Port 22023
Host exits
  HostName 10.77.0.2
  Port 22024
  HostKeyAlias [10.77.0.2]:22022
Host * !stranger
  IdentityFile {place}/key
Host *
  User root
  Port 22022
  UserKnownHostsFile {place}/known_hosts
  GlobalKnownHostsFile /dev/null
"""


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def enter():
    """Continues in namespaces of its own, which end together with this process."""
    if os.environ.get("DTS_ENTERED"):
        return
    if os.geteuid() != 0:
        skip("network namespaces need root")
    if not shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"]):
        skip("no sshd here (Debian: apt install openssh-server)")
    inside = ["unshare", "--net", "--mount", "--kill-child", "--fork", "--pid", "--mount-proc"]
    if subprocess.run(inside + ["true"], stderr=subprocess.DEVNULL).returncode != 0:
        skip("this root may not make namespaces")
    os.environ["DTS_ENTERED"] = "1"
    os.execvp("unshare", inside + [sys.executable] + sys.argv)


class Machines:
    """`variables`: what each machine's sshd sets in every session, by the machine's number."""

    def __init__(self, count=2, variables=lambda number: {}):
        self.numbers = range(1, count + 1)
        self.variables = variables
        self.place = tempfile.mkdtemp(prefix="dts-ssh-")
        self.started = []

    def __enter__(self):
        try:
            return self.build()
        except subprocess.CalledProcessError as error:
            self.__exit__(None, None, None)
            skip(f"no network of our own: {error}")

    def build(self):
        place = self.place
        for name in ("host", "key", "other"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{place}/{name}")
        shutil.copy(f"{place}/key.pub", f"{place}/authorized")
        host_key = open(f"{place}/host.pub").read()
        with open(f"{place}/known_hosts", "w") as file:
            file.writelines(f"[10.77.0.{number}]:22022 {host_key}" for number in self.numbers)
        with open(f"{place}/config", "w") as file:
            file.writelines(f"Host n{number}\n  HostName 10.77.0.{number}\n" for number in self.numbers)
            file.write(CONFIG.format(place=place))
        os.makedirs("/run/sshd", exist_ok=True)
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "br0", "type", "bridge")
        run("ip", "address", "add", "10.77.0.254/24", "dev", "br0")
        run("ip", "link", "set", "br0", "up")
        for number in self.numbers:
            self.add_machine(number)
        return self

    def add_machine(self, number):
        words = f"hostname n{number} && read go && ip link set lo up && ip address add 10.77.0.{number}/24 dev eth0 && ip link set eth0 up && " \
                f"set -- -f /dev/null -E {self.place}/sshd-{number}.log -h {self.place}/host -o PidFile=none -o UsePAM=no -o StrictModes=no " \
                f"-o PermitRootLogin=prohibit-password -o AuthorizedKeysFile={self.place}/authorized -o MaxStartups=100 && " \
                '/usr/sbin/sshd "$@" -p 22024 -o ForceCommand=true && exec /usr/sbin/sshd "$@" -D -p 22022'
        variables = " ".join(f"{name}={value}" for name, value in self.variables(number).items())
        words += f" -o 'SetEnv={variables}'" if variables else ""
        machine = subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c", words], stdin=subprocess.PIPE)
        self.started.append(machine)
        mine = os.readlink("/proc/self/ns/net")
        wait_for(30, "a network namespace", lambda: os.readlink(f"/proc/{machine.pid}/ns/net") != mine)
        run("ip", "link", "add", f"veth{number}", "type", "veth", "peer", "name", "eth0", "netns", str(machine.pid))
        run("ip", "link", "set", f"veth{number}", "master", "br0", "up")
        machine.stdin.write(b"go\n")
        machine.stdin.close()
        wait_for(30, f"sshd on n{number}", lambda: subprocess.run(["ssh", "-F", self.place + "/config", "-o", "BatchMode=yes", f"n{number}", "true"],
                                                                  stderr=subprocess.DEVNULL).returncode == 0)

    def __exit__(self, kind, error, trace):
        for machine in self.started:
            machine.kill()
            machine.wait()
        shutil.rmtree(self.place, ignore_errors=True)
