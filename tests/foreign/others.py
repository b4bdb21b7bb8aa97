"""Other ways to predict a time from timed runs: each gives the logarithm at every candidate, and, if it has one,
its standard deviation.

They are given the median of the repetitions of each configuration.
"""

import json
import os
import subprocess
import warnings

import numpy as np
from scipy.optimize import nnls
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from data import medians


def positive_sum(*terms):
    """A sum of terms with coefficients that are not negative, least squares of relative errors."""

    def predict(runs, mappings):
        measured = medians(runs)
        columns = lambda ats: np.array([[term(*at) for term in terms] for at in ats], float)
        found = np.array(list(measured.values()))
        coefficients, _ = nnls(columns(measured) / found[:, None], np.ones(len(found)))
        times = columns(mappings) @ coefficients
        return np.log(np.maximum(times, 1e-12)), None

    return predict


def one(m, p):
    return 1.0


def shared(m, p):
    return 1.0 / (m * p)


def of_logarithms(regression):
    """A regression of log time over (log m, log p); `regression()` makes a new one."""

    def predict(runs, mappings):
        measured = medians(runs)
        known = np.log(np.array(list(measured), float))
        fitted = regression().fit(known, np.log(list(measured.values())))
        return fitted.predict(np.log(np.array(mappings, float))), None

    return predict


def gaussian_process(runs, mappings):
    measured = medians(runs)
    kernel = ConstantKernel(1.0) * Matern([1.0, 1.0], (0.2, 20.0), nu=2.5)
    kernel += WhiteKernel(1e-3, (1e-5, 0.1))
    process = GaussianProcessRegressor(
        kernel, normalize_y=True, n_restarts_optimizer=1, random_state=0
    )
    with warnings.catch_warnings():
        # A length at its bound is an answer, too.
        warnings.simplefilter("ignore", ConvergenceWarning)
        process.fit(np.log(np.array(list(measured), float)), np.log(list(measured.values())))
        return process.predict(np.log(np.array(mappings, float)), return_std=True)


class ExtraP:
    """Extra-P in an environment of its own, which answers line by line."""

    def __init__(self):
        self.process = None

    def __call__(self, runs, mappings):
        if self.process is None:
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "extra_p.py")
            self.process = subprocess.Popen(
                [os.environ["EXTRAP_PYTHON"], script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        asked = {"runs": [[run.m, run.p, run.time_s] for run in runs], "mappings": mappings}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        times = json.loads(self.process.stdout.readline())
        # Its sums may be negative somewhere: a time of next to nothing, relative to what ran.
        least = 1e-3 * min(run.time_s for run in runs)
        return np.log(np.maximum(times, least)), None


WAYS = {
    "equation 11 alone": positive_sum(one, lambda m, p: m, shared, lambda m, p: p),
    "Amdahl": positive_sum(one, shared),
    "USL": positive_sum(one, shared, lambda m, p: m * p),
    "log-quadratic ridge": of_logarithms(
        lambda: make_pipeline(PolynomialFeatures(2, include_bias=False), Ridge(alpha=0.01))
    ),
    "random forest": of_logarithms(lambda: RandomForestRegressor(100, random_state=0)),
    "Gaussian process": gaussian_process,
}
if "EXTRAP_PYTHON" in os.environ:
    WAYS["Extra-P"] = ExtraP()
