"""HyperQueue, by its Python package: a task for each run that mmgp lists for it, on a server and a worker of its own.

    mmgp measure --m 1,2,4 --p 1,2,4 --repetitions 1 --out hq-tune --emit hyperqueue -- python3 app.py {m} {p} > runs.toml
    python hyperqueue_tasks.py runs.toml results.csv
    mmgp tell --out hq-tune --results results.csv

Where there is the command hq, `hq job submit-file runs.toml` runs the same list, and `mmgp tell --results` reads the
tasks that it shows as JSON. `mmgp tune --emit hyperqueue` lists what is worth a run next.
"""

import os
import subprocess
import sys
import time
import tomllib

from hyperqueue import Job
from hyperqueue.cluster import LocalCluster, WorkerConfig
from hyperqueue.ffi.protocol import ResourceRequest
from hyperqueue.task.function import PythonEnv


def run(task, results):
    """Runs a task of the list on a worker; its row goes to the results as one write."""
    env = task["env"]
    start = time.perf_counter()
    code = subprocess.run(task["command"], env={**os.environ, **env}, stdout=subprocess.DEVNULL).returncode
    took = time.perf_counter() - start
    with open(results, "a") as file:
        file.write(f"{task['id']},{env['MMGP_M']},{env['MMGP_P']},{took},{code}\n")


def main(runs, results):
    """Submits all tasks of a list as one job, and waits for it."""
    with open(runs, "rb") as file:
        tasks = tomllib.load(file)["task"]
    with open(results, "w") as file:
        file.write("id,m,p,time_s,exit\n")
    with LocalCluster() as cluster:
        cluster.start_worker(WorkerConfig(cores=2))
        client = cluster.client(python_env=PythonEnv(python_bin=sys.executable))
        # A run that fails is told as such, and the others go on.
        job = Job(max_fails=None)
        for task in tasks:
            (request,) = task["request"]
            resources = ResourceRequest(cpus=request["resources"]["cpus"])
            job.function(run, args=(task, os.path.abspath(results)), resources=resources)
        client.wait_for_jobs([client.submit(job)])


if __name__ == "__main__":
    main(*sys.argv[1:])
