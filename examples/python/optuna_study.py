"""Optuna: mmgp chooses m and p, and says when the choice is good enough; all else is Optuna's."""

import subprocess
import sys
import time
from pathlib import Path

import optuna
from mbyp.optuna import MbypSampler

APP = Path(__file__).with_name("app.py")


def objective(trial):
    """Runs the program with the m and p of a trial; how long it took [s]."""
    m = trial.suggest_categorical("m", [1, 2, 4, 8])
    p = trial.suggest_categorical("p", [1, 2, 4, 8])
    start = time.perf_counter()
    subprocess.run([sys.executable, APP, str(m), str(p)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


study = optuna.create_study(sampler=MbypSampler(where="m*p <= 16", until_expected=0.05, out="optuna"))
study.optimize(objective, n_trials=100)
print(len(study.trials), "trials,", study.best_params)
print(study.sampler.best)
