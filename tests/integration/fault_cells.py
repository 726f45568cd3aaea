# SPDX-License-Identifier: Apache-2.0
"""The cells of the fault matrix: what is done to a job, and what its ledger must contain afterwards. Run by faults.py."""
import os
import signal
import time
from dataclasses import dataclass
from typing import Callable

from checks import wait_for
from fault_ground import GPUS, NODES, parent_of

INTERVAL = 10


@dataclass
class Cell:
    name: str
    inject: Callable  # called with a fault_ground.Job that trains
    causes: tuple  # of attempt 1, whichever of several observers reports first
    decisions: tuple  # "": the agent could not decide any more
    warned: tuple = ()  # the flavours in which ranks are warned in time, so that nothing may be lost
    options: tuple = ()
    partition: str = "low"
    delay: int = 600  # milliseconds by which a step is longer in attempt 1
    by_hand: bool = False  # the run ends; `dtsubmit requeue` continues it
    most_lost: int = INTERVAL
    disk: bool = False  # the run is on a small file system of its own
    program: str = ""  # "torch": with any launcher; otherwise the one that belongs to it
    words: str = ""  # must be in the logs of attempt 2
    squat: bool = False
    clock: bool = False  # its processes have a clock that can be moved
    note: str = ""
    end_limit: int = 60  # seconds until nothing of the run is left

    @property
    def launcher(self):
        return self.name.split(".")[0]


BOTH = ("linuxproc", "cgroup")
BY_STEPS = ("cgroup",)  # under linuxproc, srun itself gets the SIGTERM and turns it into SIGKILL
COMES_BACK = ("requeue", "wait")


def preempted(job):
    job.cluster.take_nodes(NODES, GPUS)


def suspended(job):
    """Suspended for longer than a hang may last: no rank makes progress, but none is at fault."""
    cores = job.cluster.run("sinfo", "-h", "-N", "-p", "above", "-o", "%c").stdout.split()[0]
    job.cluster.run("sbatch", "-p", "above", f"--nodes={NODES}", f"--ntasks-per-node={cores}", "-o", "/dev/null", "--wrap", "sleep 45")
    wait_for(120, "the suspension", lambda: job.job_state() == "SUSPENDED")
    time.sleep(4)  # Slurm stops the processes 2 s after it asked them to stop (SIGTSTP)
    step = job.last_step()
    wait_for(120, "the job's return", lambda: job.job_state() != "SUSPENDED")
    if job.last_step() > step + 5:  # of some 130 in this time
        raise AssertionError("the job trained while it was suspended")


def time_limit_moved(job):
    job.cluster.run("scontrol", "update", f"JobId={job.job}", "TimeLimit=1")


def scancel(*how):
    return lambda job: job.cluster.run("scancel", *how, str(job.job))


def requeued(job):
    job.cluster.run("scontrol", "requeue", str(job.job))


def kill(what):
    def act(job):
        os.kill(job.named(what)[-1], signal.SIGKILL)
    return act


def kill_launcher(job):
    os.kill(job.launcher(), signal.SIGKILL)


def kill_batch_daemon(job):
    os.kill(parent_of(job.named("guard")[0]), signal.SIGKILL)


def kill_step_daemon(job):
    """Kills the slurmstepd of the ranks' own step on the last node, to which their MPI is connected."""
    os.kill(parent_of(job.named("rank")[-1]), signal.SIGKILL)


def nodes_of(job):
    return job.events("attempt_started")[0]["nodes"]


def lose_node(place):
    def act(job):
        job.cluster.daemons[nodes_of(job)[place]].kill()
    return act


def node_down(job):
    job.cluster.run("scontrol", "update", f"NodeName={nodes_of(job)[1]}", "State=DOWN", "Reason=fault")


def controller_away_during_save(job):
    """A preemption; an operator restarts the controller as soon as the ranks are asked to save."""
    preempted(job)
    wait_for(120, "the stop", lambda: job.events("stop_requested"))
    job.cluster.daemons["slurmctld"].kill(signal.SIGTERM)
    wait_for(120, "the end of the training", lambda: not job.named("program"))
    job.cluster.restart("slurmctld")


def controller_killed_during_save(job):
    """As above, but with kill -9 and an immediate restart: state that the controller had not written yet is lost."""
    preempted(job)
    wait_for(120, "the stop", lambda: job.events("stop_requested"))
    job.cluster.daemons["slurmctld"].kill()
    job.cluster.restart("slurmctld")


def controller_away_during_requeue(job):
    """The agent is warned, saves and decides while there is no controller to query."""
    job.cluster.daemons["slurmctld"].kill()
    os.kill(job.agent(), signal.SIGUSR1)
    wait_for(120, "the decision", lambda: job.events("decided"))
    job.cluster.restart("slurmctld")


def controller_away_during_restart(job):
    """A rank is killed while there is no controller, through which its next launch goes."""
    job.cluster.daemons["slurmctld"].kill(signal.SIGTERM)
    kill("rank")(job)
    wait_for(120, "a launch that fails", lambda: len(job.events("attempt_ended")) > 1)
    time.sleep(20)  # the whole budget of launches, for an agent that does not wait
    job.cluster.restart("slurmctld")


def guard_killed_without_controller(job):
    job.cluster.daemons["slurmctld"].kill(signal.SIGTERM)
    kill("guard")(job)
    time.sleep(15)
    job.cluster.restart("slurmctld")


def controller_lost_its_state(job):
    """It begins with nothing, and gives the id of the lost job to another job, which no command takes for the run's."""
    lost = job.job
    job.cluster.begin_anew(lost)
    # Where nothing of the lost job is: a node refuses to start another job of an id that it has.
    node = next(name for name in job.cluster.daemons if name not in (*nodes_of(job), "slurmctld"))
    other = job.cluster.run("sbatch", "--parsable", "-p", "low", "-w", node, "-o", "/dev/null", "--wrap", "sleep 15").stdout.strip()
    if other != str(lost):
        raise AssertionError(f"the other job is {other}, not {lost}")
    job.cluster.dtsubmit("cancel", job.path, code=6)
    job.cluster.dtsubmit("stop", job.path)
    wait_for(120, "the other job's end, undisturbed", lambda: job.cluster.job_state(other) == "COMPLETED")


def stand_still(job):
    """A rank is stopped for a while and continues."""
    program = job.named("program")[-1]
    os.kill(program, signal.SIGSTOP)
    step = job.last_step()
    wait_for(60, "nobody's step", lambda: job.last_step() in (step, step + 1))
    os.kill(program, signal.SIGCONT)


def stop_program(job):
    os.kill(job.named("program")[-1], signal.SIGSTOP)


def disk_full(job):
    job.disk.fill()
    wait_for(120, "the end of the attempt", lambda: not job.named("program"))
    wait_for(120, "the end of the agent", lambda: not job.named("agent"))
    job.disk.free()


def truncated(job):
    """Truncates the newest of two checkpoints; if no checkpoint is left whole, the run stops, whatever the cause of its end."""
    # Training continues while it is written, so its step does not matter.
    wait_for(120, "a second checkpoint", lambda: job.newest_checkpoint() >= f"{job.path}/checkpoints/step-{2 * INTERVAL:09}")
    os.truncate(job.newest_checkpoint(), 100)
    kill("program")(job)


def clock_moved(seconds):
    """CLOCK_REALTIME of every process of the job jumps, as if an operator had set a wrong date."""
    def act(job):
        job.clock.move(seconds)
    return act


def nothing(_):
    """The program's own start has the fault."""


def manners(launcher):
    """Faults that are tried with every launcher."""
    def cell(name, inject, causes, decisions, **more):
        return Cell(f"{launcher}.{name}", inject, (causes,) if isinstance(causes, str) else causes, decisions, **more)

    of_launcher = ("launcher_died", "rank_killed")
    warning = {"options": ("--time", "2", "--signal-margin", "5"), "delay": 2500}
    yield cell("preempt-grace", preempted, "preempted", COMES_BACK, warned=BOTH)
    yield cell("preempt-no-grace", preempted, "preempted", COMES_BACK, partition="nograce", warned=BY_STEPS)
    yield cell("preempt-cancel", preempted, "preempted", ("requeue", "resubmit"), partition="cancel", warned=BY_STEPS)
    yield cell("preempt-cancel-grace", preempted, "preempted", ("requeue", "resubmit"), partition="cancelgrace", warned=BOTH)
    yield cell("preempt-no-requeue", preempted, "preempted", ("stop",), options=("--no-requeue",), by_hand=True, warned=BOTH)
    yield cell("preempt-suspend", suspended, "completed", ("done",), partition="suspend", options=("--hang-timeout", "0:30"), delay=300)
    yield cell("time-limit", nothing, "time_limit", COMES_BACK, warned=BOTH, **warning)
    yield cell("time-limit-moved", time_limit_moved, "time_limit", COMES_BACK, warned=BOTH, options=("--signal-margin", "5"), delay=2500)
    yield cell("scancel", scancel(), "cancelled", ("stop",), by_hand=True, warned=BY_STEPS)
    for name, number in (("usr1", "USR1"), ("term", "TERM")):
        # Under linuxproc, every process of a step is signalled: torchrun has no handler for USR1 and dies of it.
        deaf = launcher == "torchrun" and number == "USR1"
        # An unexplained signal may be that of a preemption, so the job comes back.
        yield cell(f"signal-steps-{name}", scancel("-s", number), "signalled", COMES_BACK, warned=BY_STEPS if deaf else BOTH)
        yield cell(f"signal-batch-{name}", scancel("-b", "-s", number), "time_limit" if number == "USR1" else "signalled", COMES_BACK, warned=BOTH)
        yield cell(f"signal-full-{name}", scancel("-f", "-s", number), ("signalled",) if number == "TERM" else ("signalled", "time_limit"),
                   COMES_BACK, warned=() if deaf or number == "TERM" else BOTH)
    if launcher != "torchrun":  # every torchrun that gets it kills its workers
        yield cell("signal-steps-int", scancel("-s", "INT"), "stopped", ("stop",), by_hand=True, warned=BOTH)
    yield cell("requeue-by-hand", requeued, "requeued", COMES_BACK, warned=BY_STEPS)
    yield cell("kill-rank", kill("rank"), "rank_killed", ("restart",))
    yield cell("kill-launcher", kill_launcher, of_launcher, ("restart",))
    yield cell("kill-agent", kill("agent"), "agent_lost", ("",))
    yield cell("kill-guard", kill("guard"), "agent_lost", ("",))
    # A slow run still exists when Slurm misses the daemon and requeues the job.
    yield cell("kill-stepd", kill_batch_daemon, ("completed", "agent_lost", "requeued"), ("done", "", "wait"), delay=300)
    # The agent of a lost node waits up to 90 s for the scheduler to end it.
    lost_node = {"end_limit": 150}
    yield cell("kill-slurmd", lose_node(1), ("node_failed", "agent_lost"), (*COMES_BACK, ""), delay=2500, **lost_node)
    yield cell("kill-slurmd-of-agent", lose_node(0), ("node_failed", "agent_lost"), (*COMES_BACK, ""), delay=2500, **lost_node)
    yield cell("node-down", node_down, ("node_failed", "agent_lost"), (*COMES_BACK, ""), **lost_node)
    yield cell("controller-save", controller_away_during_save, "preempted", COMES_BACK, warned=BOTH)
    yield cell("controller-save-killed", controller_killed_during_save, "preempted", COMES_BACK, warned=BOTH)
    yield cell("controller-requeue", controller_away_during_requeue, "time_limit", COMES_BACK, warned=BOTH)
    yield cell("controller-restart", controller_away_during_restart, of_launcher, ("restart",))
    yield cell("controller-guard", guard_killed_without_controller, "agent_lost", ("",), end_limit=150)
    yield cell("controller-lost", controller_lost_its_state, "agent_lost", ("",), by_hand=True)
    yield cell("standstill", stand_still, "completed", ("done",), delay=300, note="shorter than any hang")
    yield cell("stopped", stop_program, "hang", ("restart",), options=("--hang-timeout", "0:15"), delay=300)
    # Long enough after the jump for the agent to query the end of the job again.
    for name, seconds in (("forward", 3600), ("back", -3600)):
        yield cell(f"clock-{name}", clock_moved(seconds), "completed", ("done",), options=("--time", "10"), delay=1000, clock=True)
    yield cell("disk-full", disk_full, "disk_full", ("stop",), by_hand=True, disk=True)
    yield cell("truncated", truncated, ("rank_killed", "user_exit"), ("restart",), most_lost=2 * INTERVAL, words="refused")
    yield cell("port-taken", nothing, "rendezvous", ("restart", "requeue"), program="torch", squat=True)


def cells():
    for launcher in ("mpirun", "srun", "torchrun"):
        for one in manners(launcher):
            if launcher == "torchrun" and one.name.endswith("standstill"):
                continue  # the same standstill: torchrun's worker is a program like any other
            yield one
        if launcher == "torchrun":
            # torchrun turns its worker's death into its own exit code 1.
            yield Cell("torchrun.kill-program", kill("program"), ("rank_killed",), ("restart",))
            yield Cell("torchrun.kill-torchrun", kill("torchrun"), ("rank_killed",), ("restart",))
        else:
            of_daemon = kill_step_daemon if launcher == "srun" else kill("daemon")
            yield Cell(f"{launcher}.kill-daemon", of_daemon, ("launcher_died", "rank_killed"), ("restart",))
            yield Cell(f"{launcher}.kill-program", kill("program"), ("rank_killed",), ("restart",))


# A few fast cells of each kind, for every test run.
ORDINARY = ("mpirun.signal-steps-usr1", "mpirun.requeue-by-hand", "srun.kill-rank", "mpirun.disk-full", "mpirun.truncated", "srun.kill-launcher",
            "mpirun.kill-agent", "srun.controller-lost")
