"""A sampler for Optuna in whose studies mmgp chooses m and p. For who has Optuna it is one line:

>>> study = optuna.create_study(sampler=MbypSampler(until_expected=0.05))     # doctest: +SKIP
>>> study.optimize(lambda trial: my_program(trial.suggest_int("m", 1, 8),     # doctest: +SKIP
...                                         trial.suggest_categorical("p", [1, 2, 4, 8])))
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

try:
    import optuna
except ImportError as error:
    raise ImportError("mbyp.optuna takes Optuna: pip install optuna") from error
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from ._errors import InputError, MbypWarning
from ._tuner import Best, Trial, Tuner

# The quantity of a study that maximises: mmgp takes any name.
SCORE = "max value"


class MbypSampler(BaseSampler):
    """Has mmgp choose the parameters m and p; others are for another sampler, Optuna's TPE unless one is given.

    The objective returns a time [s], or what ``objective=`` names; of a study that maximises, a number above 0 of
    which more is better. mmgp sees m and p alone: what other parameters change looks like noise to it, so a study
    of these wants ``n_trials=``, as without this sampler.

    The study stops when mmgp is done, that is, when the choice is good enough. Until both parameters were suggested
    once, mmgp knows only one of them: in the first trial that has the least value, and where no value of the other
    goes with it (``where=``) that trial is pruned.

    Args:
        m: Name of the parameter that is m: ``suggest_int``, or ``suggest_categorical`` of whole numbers.
        p: Name of the parameter that is p, in the same way.
        until_expected: Stop once the choice is expected to take at most this longer than the fastest, as a fraction.
        out: Folder of the log, that of ``mmgp tune``, which `mbyp.Tuner` reads as well.
        others: The sampler of all other parameters.
        worker: Name of this process, where several work at one study: each needs its own.
        options: Further options of `mbyp.Tuner`: ``where=``, ``until_regret=``, ``objective=``, ``baseline=``...
    """

    def __init__(
        self,
        m: str = "m",
        p: str = "p",
        until_expected: float | str | None = None,
        out: str | os.PathLike[str] = "tune",
        *,
        others: BaseSampler | None = None,
        worker: str = "optuna",
        **options: Any,
    ) -> None:
        self.names = (m, p)
        self.out = Path(out)
        self.others = TPESampler() if others is None else others
        self._worker = worker
        self._options = {"until_expected": until_expected, **options}
        self._lock = threading.RLock()
        self._distributions: dict[str, BaseDistribution] = {}
        self._tuner: Tuner | None = None
        # What was asked for, by number of the trial of Optuna, and the places that these take among the workers.
        self._asked: dict[int, Trial] = {}
        self._places: dict[int, int] = {}

    @property
    def tuner(self) -> Tuner | None:
        """The search of mmgp; none until m and p were suggested once."""
        return self._tuner

    @property
    def best(self) -> Best | None:
        """What mmgp takes for the best (m, p), and how sure it is."""
        return None if self._tuner is None else self._tuner.best

    def reseed_rng(self) -> None:
        """Gives the sampler of other parameters another seed."""
        self.others.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """What is sampled at once: m and p, and what the other sampler takes so."""
        with self._lock:
            self._know(study, {})
            own = dict(self._distributions) if self._tuner is not None else {}
        relative = self.others.infer_relative_search_space(study, trial)
        return {**{name: it for name, it in relative.items() if name not in self.names}, **own}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The values of what is sampled at once."""
        others = {name: it for name, it in search_space.items() if name not in self.names}
        found = self.others.sample_relative(study, trial, others) if others else {}
        with self._lock:
            chosen = self._next(study, trial) if self._tuner is not None else None
        if chosen is not None:
            found.update(zip(self.names, chosen))
        return found

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """The value of a parameter that is not sampled with others: m and p in the first trial alone."""
        if param_name not in self.names:
            return self.others.sample_independent(study, trial, param_name, param_distribution)
        with self._lock:
            other = self.names[1 - self.names.index(param_name)]
            self._know(study, {param_name: param_distribution})
            values = values_of(param_name, param_distribution)
            if self._tuner is None or other not in trial.params:
                return min(values)
            # Of what goes with the value that the other has, what mmgp would run first, or else the least.
            fixed = self.names.index(other)
            first = [tuple(it) for it in self._tuner.ask(n=len(values))]
            pairs = [it for it in first + self._tuner.configurations() if it[fixed] == trial.params[other]]
            if not pairs:
                raise optuna.TrialPruned(f"no {param_name} goes with {other} = {trial.params[other]}")
            return pairs[0][1 - fixed]

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Called before each trial."""
        if len(study.directions) > 1:
            raise InputError(f"found a study of {len(study.directions)} objectives, expected one")
        self.others.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Tells mmgp what came of a trial, and stops the study when that is enough."""
        self.others.after_trial(study, trial, state, values)
        with self._lock:
            if self._tuner is None or any(name not in trial.params for name in self.names):
                return
            pair = tuple(trial.params[name] for name in self.names)
            asked = self._asked.pop(trial.number, None)
            self._places.pop(trial.number, None)
            told = asked if asked is not None and tuple(asked) == pair else pair
            if state == TrialState.COMPLETE and values is not None:
                self._tell(told, values[0])
            elif state == TrialState.FAIL:
                self._tuner.tell(told, failed="the objective failed")
            # What was pruned says nothing of m and p: it goes to who asks next.
            if self._tuner.done:
                stop(study)

    def _tell(self, told: Any, value: float) -> None:
        assert self._tuner is not None
        if self._tuner.measures_time:
            self._tuner.tell(told, time=value)
        else:
            self._tuner.tell(told, value=value)

    def _know(self, study: Study, suggested: dict[str, BaseDistribution]) -> None:
        """Takes note of what may be chosen, from this trial or from earlier ones of the study, and opens the log."""
        if self._tuner is not None:
            return
        if len(self._distributions) < 2:
            for earlier in reversed(study.get_trials(deepcopy=False)):
                known = {name: it for name, it in earlier.distributions.items() if name in self.names}
                self._distributions = {**known, **self._distributions}
                if len(self._distributions) == 2:
                    break
        self._distributions.update(suggested)
        if len(self._distributions) < 2:
            return
        options = dict(self._options)
        if study.direction == StudyDirection.MAXIMIZE:
            options.setdefault("objective", SCORE)
        m, p = (values_of(name, self._distributions[name]) for name in self.names)
        self._tuner = Tuner(m=m, p=p, out=self.out, **options)

    def _next(self, study: Study, trial: FrozenTrial) -> tuple[int, int] | None:
        """What mmgp would have run in this trial; where nothing is left to run, the best again."""
        assert self._tuner is not None
        place = next(it for it in range(len(self._places) + 1) if it not in self._places.values())
        self._places[trial.number] = place
        asked = self._tuner.ask(f"{self._worker}-{place}", wait=False)
        if asked is not None:
            self._asked[trial.number] = asked
            return asked.m, asked.p
        best = self._tuner.best
        if best is None:
            warnings.warn("mmgp has nothing to run, and nothing ran well: m and p are the least", MbypWarning)
            return None
        return best.m, best.p


def values_of(name: str, distribution: BaseDistribution) -> list[int]:
    """The values that a parameter may have, by size.

    Raises:
        InputError: one is no whole number of at least 1.
    """
    values: Sequence[Any] = ()
    if isinstance(distribution, IntDistribution):
        values = range(distribution.low, distribution.high + 1, distribution.step)
    elif isinstance(distribution, CategoricalDistribution):
        values = distribution.choices
    whole = [it for it in values if isinstance(it, int) and not isinstance(it, bool) and it >= 1]
    if not values or len(whole) < len(values):
        raise InputError(
            f"{name}: found {distribution}, expected suggest_int or suggest_categorical of whole numbers of at least 1"
        )
    return sorted(whole)


def stop(study: Study) -> None:
    """Ends `Study.optimize` after this trial. Who asks and tells by himself goes by ``sampler.tuner.done``."""
    try:
        study.stop()
    except RuntimeError:
        pass
