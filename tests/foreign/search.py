"""What to run next, from four runs: `predict --next` beside other ways to ask, on truths and tables.

What is recommended after some runs is, of those that ran, the one with the least predicted time; beside
it, the one that ran fastest.
"""

import math

import numpy as np
from scipy.stats import norm

from data import Run
from others import gaussian_process

NOISE = 0.02
AT = (10, 15, 20)
# So near the best is a success.
NEAR = 0.02


class Search:
    """Runs on a truth, each with a noise of its own."""

    def __init__(self, truth, seed):
        self.truth, self.mappings = truth, list(truth)
        self.random = np.random.default_rng(seed)
        self.shuffled = np.random.default_rng([seed, 1]).permutation(len(truth))
        self.runs = []
        for place in farthest_first(self.mappings, 4):
            self.run(self.mappings[place])

    def run(self, mapping):
        repetition = 1 + sum(run.mapping == mapping for run in self.runs)
        noise = max(0.5, 1.0 + NOISE * self.random.standard_normal())
        self.runs.append(Run(*mapping, repetition, self.truth[mapping] * noise))

    def ran(self):
        return {run.mapping for run in self.runs}

    def mean_log(self, mapping):
        return np.mean([math.log(run.time_s) for run in self.runs if run.mapping == mapping])

    def fastest(self):
        return min(sorted(self.ran()), key=self.mean_log)

    def regret(self, mapping):
        return self.truth[mapping] / min(self.truth.values()) - 1.0


def farthest_first(mappings, count):
    """Places of the first in order, and then of what lies farthest in log space from all taken."""
    logs = np.log(np.array(mappings, float))
    taken = [0]
    while len(taken) < count:
        apart = ((logs[:, None] - logs[taken][None]) ** 2).sum(2).min(1)
        apart[taken] = -1.0
        taken.append(int(np.argmax(apart)))
    return taken


class Next:
    """What the binary asks for."""

    name = "mmgp predict --next"

    def __init__(self, mmgp):
        self.mmgp = mmgp

    def next(self, search):
        answer = self.mmgp.predicted(search.runs, search.mappings, "--next")
        runs = [row for row in answer["measurements"] if row["measure"] == "run"]
        return runs[0]["m"], runs[0]["p"]

    def recommended(self, search):
        answer = self.mmgp.predicted(search.runs, search.mappings)
        ran = search.ran()
        rows = [row for row in answer["configurations"] if (row["m"], row["p"]) in ran]
        # They come in the order of the ranking.
        best = rows[0]
        return best["m"], best["p"]


class Listed:
    """An order that does not depend on what is measured; of those that ran the fastest."""

    def __init__(self, name, order):
        self.name, self.order = name, order

    def next(self, search):
        ran = search.ran()
        places = self.order(search)
        left = [search.mappings[place] for place in places if search.mappings[place] not in ran]
        return left[0] if left else search.fastest()

    def recommended(self, search):
        return search.fastest()


def at_random(search):
    return search.shuffled


def as_a_grid(search):
    return farthest_first(search.mappings, len(search.mappings))


class ExpectedImprovement:
    """Of a Gaussian process over log time; what ran twice is not run again."""

    name = "Gaussian process, expected improvement"

    def next(self, search):
        means, deviations = gaussian_process(search.runs, search.mappings)
        best = search.mean_log(search.fastest())
        deviations = np.maximum(deviations, 1e-9)
        z = (best - means) / deviations
        gains = (best - means) * norm.cdf(z) + deviations * norm.pdf(z)
        for place, mapping in enumerate(search.mappings):
            if sum(run.mapping == mapping for run in search.runs) > 1:
                gains[place] = -1.0
        return search.mappings[int(np.argmax(gains))]

    def recommended(self, search):
        means, _ = gaussian_process(search.runs, search.mappings)
        mean_of = dict(zip(search.mappings, means))
        return min(sorted(search.ran()), key=mean_of.get)


# After the name of a way that predicts times.
FASTEST = ", taking what ran fastest"


def ways(mmgp):
    return {
        way.name: way
        for way in (
            Next(mmgp),
            Listed("random", at_random),
            Listed("grid (farthest point)", as_a_grid),
            ExpectedImprovement(),
        )
    }


def regrets(truth, seed, way):
    """Of each name, after each number of runs in AT, as a fraction."""
    search = Search(truth, seed)
    found = {way.name: {}}
    for count in AT:
        while len(search.runs) < count:
            search.run(way.next(search))
        found[way.name][count] = search.regret(way.recommended(search))
        if not isinstance(way, Listed):
            of_fastest = found.setdefault(way.name + FASTEST, {})
            of_fastest[count] = search.regret(search.fastest())
    return found
