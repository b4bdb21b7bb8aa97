"""Other ways to search: each is told the time of a run and asked for the next.

All recommend the configuration whose times are the least in the mean of their logarithms.
"""

import math
import warnings

import numpy as np
import optuna
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore", ConvergenceWarning)
warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)

# Runs before a model is asked, as many as mmgp makes.
FIRST = 4


def farthest_first(logs, count):
    """The first, and then what lies farthest from all taken."""
    taken = [0]
    while len(taken) < count:
        apart = ((logs[:, None] - logs[taken][None]) ** 2).sum(2).min(1)
        apart[taken] = -1.0
        taken.append(int(np.argmax(apart)))
    return taken


class Listed:
    """An order that does not depend on what is measured; then from the start again."""

    def __init__(self, order):
        self.order = list(order)
        self.runs = 0

    def next(self):
        self.runs += 1
        return self.order[(self.runs - 1) % len(self.order)]

    def tell(self, place, time_s):
        pass


def random_order(logs, seed, first):
    return Listed(np.random.default_rng([seed, 1]).permutation(len(logs)))


def grid(logs, seed, first):
    return Listed(farthest_first(logs, len(logs)))


class Tpe:
    """Optuna's sampler over (log m, log p), each answer moved to the nearest configuration.

    What ran already is answered with its last time, so that no run is spent on it, and asked again.
    """

    PATIENCE = 50

    def __init__(self, logs, seed, first):
        self.logs, self.last = logs, {}
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=FIRST, multivariate=True)
        self.study = optuna.create_study(sampler=sampler)
        self.ends = list(zip(logs.min(0), logs.max(0)))
        self.trial = None

    def ask(self):
        self.trial = self.study.ask()
        at = [
            self.trial.suggest_float(name, low, high) if low < high else low
            for name, (low, high) in zip(("m", "p"), self.ends)
        ]
        return int(np.argmin(((self.logs - np.array(at)) ** 2).sum(1)))

    def next(self):
        for _ in range(self.PATIENCE):
            place = self.ask()
            if place not in self.last:
                return place
            self.study.tell(self.trial, self.last[place])
        self.trial = None
        return min(self.last, key=self.last.get)

    def tell(self, place, time_s):
        self.last[place] = math.log(time_s)
        if self.trial is not None:
            self.study.tell(self.trial, math.log(time_s))


class ExpectedImprovement:
    """Of a Gaussian process over log time; what ran twice is not run again."""

    def __init__(self, logs, first):
        self.logs, self.told, self.first = logs, [], first

    def next(self):
        if len(self.told) < len(self.first):
            return self.first[len(self.told)]
        places = np.array([place for place, _ in self.told])
        times = np.array([time for _, time in self.told])
        kernel = ConstantKernel(1.0) * Matern([1.0, 1.0], (0.2, 20.0), nu=2.5)
        kernel += WhiteKernel(1e-3, (1e-5, 0.1))
        process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
        means, deviations = process.fit(self.logs[places], times).predict(self.logs, return_std=True)
        deviations = np.maximum(deviations, 1e-9)
        best = min(times[places == place].mean() for place in set(places.tolist()))
        z = (best - means) / deviations
        gains = (best - means) * norm.cdf(z) + deviations * norm.pdf(z)
        for place in set(places.tolist()):
            if (places == place).sum() > 1:
                gains[place] = -1.0
        return int(np.argmax(gains))

    def tell(self, place, time_s):
        self.told.append((place, math.log(time_s)))


def from_farthest(logs, seed, first):
    return ExpectedImprovement(logs, farthest_first(logs, min(FIRST, len(logs))))


def from_corners(logs, seed, first):
    return ExpectedImprovement(logs, first)


# Of the places in log space, a seed, and the places of the first runs of mmgp.
WAYS = {
    "random": random_order,
    "grid": grid,
    "TPE": Tpe,
    "GP + EI": from_farthest,
    "GP + EI, corners first": from_corners,
}
