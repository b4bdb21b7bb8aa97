"""A plain loop: mmgp says what to run, the program runs here, its own time counts."""

import re
import subprocess
import sys
from pathlib import Path

from mbyp import Tuner

APP = Path(__file__).with_name("app.py")


def run(m, p):
    """Runs the program with m ranks of p threads; the time that it prints [s]."""
    words = [sys.executable, APP, str(m), str(p)]  # yours: ["mpirun", "-n", str(m), "./app"] with OMP_NUM_THREADS
    printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return float(re.search(r"Total time: ([0-9.]+) s", printed)[1])


tuner = Tuner(m="1..8*2", p="1..8*2", where="m*p <= 16", until_expected=0.05, out="loop")
print(tuner.run(run))

# The same by hand, where your own code has the loop.
tuner = Tuner(m="1..8*2", p="1..8*2", where="m*p <= 16", until_expected=0.02, out="loop")
while trial := tuner.ask():
    tuner.tell(trial, time=run(trial.m, trial.p))
print(tuner.best)
