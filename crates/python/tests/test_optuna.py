"""The sampler for Optuna."""

import pytest

optuna = pytest.importorskip("optuna", reason="optuna is not installed")

import mbyp  # noqa: E402
from mbyp.optuna import MbypSampler  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def seconds(m, p):
    """Equation 11 with terms that make (4, 4) the best [s]."""
    return 1 + 100 / (m * p) + 0.35 * p + m


def objective(trial):
    return seconds(trial.suggest_categorical("m", [1, 2, 4, 8]), trial.suggest_int("p", 1, 4))


def test_the_study_has_mmgp_choose_and_stops_when_it_is_done():
    study = optuna.create_study(sampler=MbypSampler(until_expected=0.02))
    study.optimize(objective, n_trials=100)
    assert study.best_params == {"m": 4, "p": 4} and tuple(study.sampler.best) == (4, 4)
    assert len(study.trials) < 16 and study.sampler.tuner.done
    rows = study.sampler.tuner.results()
    assert [(row["m"], row["p"], row["time_s"]) for row in rows] == [
        (it.params["m"], it.params["p"], it.value) for it in study.trials
    ]
    # From the second trial on they are what mmgp asks for.
    asked = mbyp.Tuner(m=[1, 2, 4, 8], p=range(1, 5), until_expected=0.02, out="again")
    for row in rows:
        if row["id"] > 1:
            assert tuple(asked.ask()) == (row["m"], row["p"])
        asked.tell((row["m"], row["p"]), row["time_s"])


def test_no_trial_runs_that_does_not_meet_the_condition():
    # With p up to 4 none goes with the least m of the first.
    for where, pruned in [("m*p == 8", 1), ("m*p <= 2", 0)]:
        study = optuna.create_study(sampler=MbypSampler(where=where, until_expected=0.001, out=where))
        study.optimize(objective, n_trials=100)
        complete = [it for it in study.trials if it.state.name == "COMPLETE"]
        assert len(study.trials) - len(complete) == pruned and len(study.trials) < 8
        assert {eval(where, {}, it.params) for it in complete} == {True}


def test_other_parameters_are_for_the_other_sampler():
    others = optuna.samplers.RandomSampler(seed=3)
    study = optuna.create_study(sampler=MbypSampler(others=others, until_expected=0.001))
    study.optimize(lambda trial: objective(trial) + trial.suggest_float("x", 0, 1e-3), n_trials=4)
    expected = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=3))
    expected.optimize(lambda trial: trial.suggest_float("x", 0, 1e-3), n_trials=4)
    assert [it.params["x"] for it in study.trials] == [it.params["x"] for it in expected.trials]


def test_the_usual_other_sampler_is_tpe():
    study = optuna.create_study(sampler=MbypSampler())
    study.optimize(lambda trial: objective(trial) + trial.suggest_float("x", 0, 1e-3), n_trials=3)
    assert isinstance(study.sampler.others, optuna.samplers.TPESampler)
    assert [set(it.params) for it in study.trials] == 3 * [{"m", "p", "x"}]


def test_trials_that_fail_are_told_and_not_chosen():
    def failing(trial):
        found = objective(trial)
        if trial.params["m"] == 4:
            raise MemoryError("no room")
        return found

    study = optuna.create_study(sampler=MbypSampler(until_expected=0.02))
    study.optimize(failing, n_trials=100, catch=MemoryError)
    failed = [row for row in study.sampler.tuner.results() if row["status"] == "failed"]
    assert failed and {row["m"] for row in failed} == {4} and failed[0]["reason"] == "the objective failed"
    assert study.sampler.best.m != 4 and study.sampler.tuner.done


def test_a_study_that_maximises_has_rates():
    study = optuna.create_study(direction="maximize", sampler=MbypSampler(until_expected=0.02))
    study.optimize(lambda trial: 1000 / objective(trial), n_trials=100)
    assert tuple(study.sampler.best) == (4, 4) and study.sampler.best.value == pytest.approx(
        1000 / seconds(4, 4), rel=0.05
    )


def test_trials_at_once_have_different_runs():
    study = optuna.create_study(sampler=MbypSampler(until_expected=0.001))
    study.optimize(objective, n_trials=1)
    trials = [study.ask() for _ in range(3)]
    pairs = [(it.suggest_categorical("m", [1, 2, 4, 8]), it.suggest_int("p", 1, 4)) for it in trials]
    assert len(set(pairs)) == 3
    for trial, pair in zip(trials, pairs):
        study.tell(trial, seconds(*pair))
    ids = [row["id"] for row in study.sampler.tuner.results()]
    assert len(set(ids)) == 4


def test_jobs_of_one_study_share_the_search():
    study = optuna.create_study(sampler=MbypSampler(until_expected=0.001))
    study.optimize(objective, n_trials=1)
    study.optimize(objective, n_trials=100, n_jobs=3)
    rows = study.sampler.tuner.results()
    assert tuple(study.sampler.best) == (4, 4) and len(study.trials) == len(rows) < 40
    assert len({row["id"] for row in rows}) == len(rows)


def test_a_study_goes_on_with_its_log():
    storage = optuna.storages.InMemoryStorage()
    first = optuna.create_study(study_name="s", storage=storage, sampler=MbypSampler(until_expected=0.001))
    first.optimize(objective, n_trials=4)
    second = optuna.load_study(study_name="s", storage=storage, sampler=MbypSampler(until_expected=0.02))
    knew = []

    def watched(trial):
        # Optuna samples what is sampled at once when the first of it is suggested.
        trial.suggest_categorical("m", [1, 2, 4, 8])
        knew.append(second.sampler.tuner is not None)
        return objective(trial)

    second.optimize(watched, n_trials=100)
    assert all(knew)
    assert len(second.trials) == len(second.sampler.tuner.results()) < 16
    assert tuple(second.sampler.best) == (4, 4)


@pytest.mark.parametrize(
    "suggest",
    [
        lambda trial: trial.suggest_float("m", 1, 4),
        lambda trial: trial.suggest_int("m", 0, 4),
        lambda trial: trial.suggest_categorical("m", ["one", "two"]),
    ],
)
def test_what_is_no_count_is_refused(suggest):
    study = optuna.create_study(sampler=MbypSampler())
    with pytest.raises(mbyp.InputError, match="m: found .*Distribution.*, expected suggest_int"):
        study.optimize(suggest, n_trials=1)


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=MbypSampler())
    with pytest.raises(mbyp.InputError, match="found a study of 2 objectives"):
        study.optimize(lambda trial: (objective(trial), 1), n_trials=1)
