"""Dask: futures of runs that mmgp asks for, as many at once as there are workers."""

import subprocess
import sys
import time
from pathlib import Path

from dask.distributed import Client, wait
from mbyp import Tuner

APP = Path(__file__).with_name("app.py")


def run(m, p):
    """Runs the program on a worker; how long it took [s]."""
    start = time.perf_counter()
    subprocess.run([sys.executable, APP, str(m), str(p)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    """Keeps both workers busy until mmgp is done."""
    tuner = Tuner(m="1..8*2", p="1..8*2", where="m*p <= 16", out="dask")
    futures = {}
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        while True:
            for trial in tuner.ask("dask", n=2):
                if trial not in futures:
                    # Not pure: a run that is asked for again is to run again.
                    futures[trial] = client.submit(run, trial.m, trial.p, pure=False)
            if not futures:
                break
            wait(list(futures.values()), return_when="FIRST_COMPLETED")
            for trial in [trial for trial, it in futures.items() if it.done()]:
                it = futures.pop(trial)
                if it.status == "finished":
                    tuner.tell(trial, time=it.result())
                else:
                    tuner.tell(trial, failed=str(it.exception()))
    print(tuner.best)


if __name__ == "__main__":
    main()
