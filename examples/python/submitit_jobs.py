"""submitit: a few jobs at once, each a run that mmgp asked for; on Slurm where there is one, else on this computer."""

import subprocess
import sys
import time
from pathlib import Path

import submitit
from mbyp import Tuner

APP = Path(__file__).with_name("app.py")
AT_ONCE = 2


def run(m, p):
    """Runs the program in a job of m tasks of p cores; how long it took [s]."""
    start = time.perf_counter()
    subprocess.run([sys.executable, APP, str(m), str(p)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def job(executor, trial):
    """Submits a run. On Slurm yours has tasks_per_node=trial.m and cpus_per_task=trial.p, and starts by srun."""
    executor.update_parameters(timeout_min=5)
    return executor.submit(run, trial.m, trial.p)


executor = submitit.AutoExecutor(folder="jobs")
tuner = Tuner(m="1..8*2", p="1..8*2", where="m*p <= 16", out="submitit")
jobs = {}
while True:
    # What is in hand comes again, until it is told: only what is new is submitted.
    for trial in tuner.ask("submitit", n=AT_ONCE):
        if trial not in jobs:
            jobs[trial] = job(executor, trial)
    if not jobs:
        break
    ended = [trial for trial, it in jobs.items() if it.done()]
    for trial in ended:
        it = jobs.pop(trial)
        if it.exception() is None:
            tuner.tell(trial, time=it.result())
        else:
            tuner.tell(trial, failed=str(it.exception()))
    if not ended:
        time.sleep(0.1)
print(tuner.best)
