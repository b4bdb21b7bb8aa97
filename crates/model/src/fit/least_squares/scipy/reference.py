#!/usr/bin/env python3
"""Ten joint estimates by scipy, as a reference for the solver of `fit`.

    python3 reference.py > reference.json

made `reference.json` with Python 3.11, numpy 2.4.6 and scipy 1.17.1. Each problem has unknown
terms of equation 11 with bounds at zero, and two kinds of residuals: (x - mean)/deviation for
terms with a prior, and (ln T(m, p; x) - ln mean_s)*sqrt(count)/noise for timed configurations.
alpha_m = 1 + slope*(m - 1). Standard errors are the roots of the diagonal of (J'J)^-1 over the
unknowns that no bound holds; null for those that one holds.
"""
import itertools
import json
import sys

import numpy as np
from scipy.optimize import least_squares

TERMS = ["t_hpu_s", "t_apu_s", "c_apu_s", "o_offload_s", "t_csw_s", "g_s", "slope", "o_col_s"]
UNIT = dict(t_hpu_s=1, t_apu_s=10, c_apu_s=1, o_offload_s=1e-4, t_csw_s=1e-5, g_s=1e-4, slope=0.1,
            o_col_s=1e-4)

TOLERANCES = dict(ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=500)


def time(terms, problem, m, p):
    """Equation 11 and its derivatives by all terms."""
    n, collectives, tasks = problem["offloads"], problem["collectives"], problem["tasks"]
    share = 1.0 if tasks is None else -(-tasks // m) / tasks
    pieces = m * p if tasks is None else p
    alpha = 1 + terms["slope"] * (m - 1)
    by = dict(t_hpu_s=alpha, t_apu_s=1 / pieces, c_apu_s=1.0, o_offload_s=n, t_csw_s=n, g_s=n * p,
              o_col_s=collectives)
    total = share * sum(by[term] * terms[term] for term in by)
    by["slope"] = (m - 1) * terms["t_hpu_s"]
    return total, {term: share * value for term, value in by.items()}


def evaluate(x, problem):
    """Residuals and Jacobian in units of UNIT."""
    unknowns = problem["unknowns"]
    terms = dict(problem["held"])
    terms.update({term: value * UNIT[term] for term, value in zip(unknowns, x)})
    residuals, rows = [], []
    for prior in problem["priors"]:
        term = prior["term"]
        residuals.append((terms[term] - prior["mean"]) / prior["deviation"])
        rows.append([UNIT[term] / prior["deviation"] if term == each else 0.0 for each in unknowns])
    for run in problem["runs"]:
        total, by = time(terms, problem, run["m"], run["p"])
        weight = np.sqrt(run["count"]) / problem["noise"]
        residuals.append((np.log(total) - np.log(run["mean_s"])) * weight)
        rows.append([by[term] * UNIT[term] / total * weight for term in unknowns])
    return np.array(residuals), np.array(rows)


def problem(seed, truth, unknowns, priors, noise, apus=16, repetitions=5, tasks=None,
            offloads=1000, collectives=1000, configurations=None, off=0.1):
    """Draws means of runs of the truth, and priors that are off by `off` at random."""
    rng = np.random.default_rng(seed)
    truth = dict(zip(TERMS, truth))
    made = dict(unknowns=unknowns, tasks=tasks, offloads=offloads, collectives=collectives,
                noise=noise, held={t: v for t, v in truth.items() if t not in unknowns})
    made["priors"] = [dict(term=t, mean=float(truth[t] * (1 + off * rng.standard_normal())),
                           deviation=float(off * max(truth[t], UNIT[t] * 0.01)))
                      for t in priors]
    places = configurations or [(m, p) for m in range(1, apus + 1) for p in range(1, apus // m + 1)]
    made["runs"] = []
    for m, p in places:
        exact, _ = time(truth, made, m, p)
        runs = exact * np.exp(noise * rng.standard_normal(repetitions))
        made["runs"].append(dict(m=m, p=p, count=repetitions, mean_s=float(runs.mean())))
    return made


def polish(made, x, free):
    """The minimum over what is free: MINPACK, which stops where the sum of squares is flat to
    rounding, then steps of Gauss and Newton, because the gradient tells more."""
    def full(part):
        whole = np.zeros(len(x))
        whole[free] = part
        return whole
    slopes = lambda part: evaluate(full(part), made)[1][:, free]
    scale = 1 / np.linalg.norm(slopes(x[free]), axis=0)
    part = least_squares(lambda part: evaluate(full(part), made)[0], x[free], slopes, method="lm",
                         x_scale=scale, **TOLERANCES).x
    for _ in range(6):
        residuals, scaled = evaluate(full(part), made)[0], slopes(part) * scale
        part = part + np.linalg.lstsq(scaled, -residuals, rcond=None)[0] * scale
    return full(part)


def solve(made):
    """Trust regions within the bounds; then, of what may lie at a bound, each set that may."""
    count = len(made["unknowns"])
    start = np.array([max(made["held"].get(t, 0.0), 1.0) for t in made["unknowns"]])
    # The interior method comes near a bound without reaching it.
    interior = least_squares(lambda x: evaluate(x, made)[0], start, lambda x: evaluate(x, made)[1],
                             bounds=(0, np.inf), method="trf", x_scale="jac", **TOLERANCES)
    lengths = np.linalg.norm(evaluate(interior.x, made)[1], axis=0)
    near = [index for index in range(count) if interior.x[index] * lengths[index] < 1]
    found = []
    for held in itertools.chain(*(itertools.combinations(near, k) for k in range(len(near) + 1))):
        free = np.array([index not in held for index in range(count)])
        x = polish(made, np.where(free, interior.x, 0.0), free)
        residuals, jacobian = evaluate(x, made)
        slope = jacobian.T @ residuals / lengths
        if (x >= 0).all() and (slope[~free] >= 0).all():
            assert np.abs(slope[free]).max() < 1e-10 * np.linalg.norm(residuals), slope
            found.append((residuals @ residuals / 2, free, x, jacobian))
    (cost, free, x, jacobian), = found
    assert cost <= interior.cost * (1 + 1e-12)
    inverse = np.linalg.inv(jacobian[:, free].T @ jacobian[:, free])
    errors = iter(np.sqrt(np.diag(inverse)))
    units = [UNIT[t] for t in made["unknowns"]]
    made["x"] = [float(value * unit) for value, unit in zip(x, units)]
    made["standard_errors"] = [float(next(errors) * unit) if each else None
                               for each, unit in zip(free, units)]
    made["cost"] = float(cost)
    print(len(jacobian), "residuals", count, "unknowns", free.sum(), "free", file=sys.stderr)
    return made


BASE = [8.0, 120.0, 2.0, 1e-4, 5e-5, 2e-4, 0.08, 1.5e-4]
PBPI = [1.3, 370.0, 1.72, 7e-8, 2e-6, 4e-5, 0.28, 3e-5]
HOST = [40.0, 60.0, 5.0, 2e-4, 1e-4, 1e-3, 0.2, 3e-4]
DEALT = [40.0, 118.0, 30.0, 1e-4, 2e-6, 1e-4, 0.05, 0.0]
CROSS = [(m, 1) for m in range(1, 6)] + [(1, p) for p in range(2, 6)] + [(2, 2), (3, 2)]
FOUR = ["t_hpu_s", "t_apu_s", "g_s", "slope"]
PROBLEMS = [
    problem(1, BASE, FOUR, [], 0.02),
    problem(2, BASE, TERMS, TERMS, 0.02),
    problem(3, BASE, TERMS, TERMS, 0.05, configurations=CROSS),
    problem(4, PBPI, TERMS, TERMS, 0.01, offloads=20000, collectives=20000),
    problem(5, HOST, TERMS, [t for t in TERMS if t != "t_apu_s"], 0.02, offloads=5000),
    problem(6, DEALT, FOUR + ["c_apu_s"], ["c_apu_s"], 0.02, tasks=16),
    problem(7, HOST, TERMS, TERMS, 0.05, tasks=50, collectives=300, repetitions=3),
    problem(8, [8.0, 120.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], FOUR, [], 0.05, repetitions=2),
    problem(11, [3.0, 200.0, 0.0, 1e-4, 5e-5, 0.0, 0.0, 1.5e-4], FOUR + ["c_apu_s"],
            ["t_hpu_s", "c_apu_s"], 0.05, configurations=CROSS, repetitions=1),
    problem(10, HOST, ["t_hpu_s", "t_apu_s", "c_apu_s", "g_s", "slope", "o_col_s"],
            ["c_apu_s", "t_hpu_s", "o_col_s"], 0.002, apus=64, repetitions=7),
]
json.dump([solve(each) for each in PROBLEMS], sys.stdout, indent=None, separators=(",", ":"))
print()
