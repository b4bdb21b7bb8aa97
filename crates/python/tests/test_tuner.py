"""`Tuner`: on the log of ``mmgp tune``, alone and beside others."""

import json
import math
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mbyp
from mbyp import Trial, Tuner, _command, _tuner

SPACE = {"m": "1..16*2", "p": [1, 2, 4, 8], "where": "m*p <= 16"}


def seconds(m, p):
    """Equation 11 with terms that make (4, 4) the best of SPACE [s]."""
    return 1 + 100 / (m * p) + 0.35 * p + 0.3 * m


def command(*words):
    """What the command prints."""
    return subprocess.run([_command.found(), *map(str, words)], check=True, capture_output=True, text=True).stdout


def test_a_plain_loop_finds_the_best():
    tuner = Tuner(**SPACE, until_expected=0.02)
    assert tuner.best is None and not tuner.done
    count = 0
    while trial := tuner.ask():
        m, p = trial
        assert (trial.m, trial.p) == (m, p) and m * p <= 16
        tuner.tell(trial, time=seconds(m, p))
        count += 1
    assert tuner.done and tuner.why in ("settled", "alike", "exhausted")
    assert tuple(tuner.best) == (4, 4)
    assert tuner.best.time == pytest.approx(seconds(4, 4), rel=0.05)
    assert 0 <= tuner.best.expected_cost <= 0.02
    assert str(tuner.best).startswith("(4, 4): ") and f"{tuner.best.time:.3f} s" in str(tuner.best)
    assert count == len(tuner.results()) <= 13


def test_ask_says_the_same_until_it_is_told():
    tuner = Tuner(**SPACE)
    first = tuner.ask()
    assert tuner.ask() == first
    tuner.tell(first, 3)
    assert tuner.ask() != first


def test_workers_have_different_runs_and_keep_them():
    tuner, other = Tuner(**SPACE, worker="one"), Tuner(**SPACE)
    mine = tuner.ask(n=3)
    assert len({tuple(it) for it in mine}) == 3 and tuner.ask(n=3) == mine
    theirs = other.ask("two", n=2)
    assert not {tuple(it) for it in mine} & {tuple(it) for it in theirs}
    tuner.tell(mine[0], time=5)
    again = tuner.ask(n=3)
    assert again[:2] == mine[1:] and mine[0] not in again


def test_whoever_waits_gets_none_or_a_warning_and_then_a_run(monkeypatch):
    tuner, other = Tuner(m=[1, 2], p=1), Tuner(m=[1, 2], p=1)
    taken = other.ask("other", n=2)
    assert len(taken) == 2 and tuner.ask("me", wait=False) is None and tuner.ask("me", wait=False, n=2) == []
    pauses = []

    def sleep(pause):
        pauses.append(pause)
        if len(pauses) == 8:
            other.tell(taken[0], time=2)
            other.tell(taken[1], time=7)

    monkeypatch.setattr(_tuner.clock, "sleep", sleep)
    monkeypatch.setattr(_tuner, "PATIENCE_S", 1.0)
    with pytest.warns(mbyp.MbypWarning, match=r"waiting for 2 runs .*asked\.json") as caught:
        tuner.ask("me")
    assert len(caught) == 1 and caught[0].filename == __file__
    assert pauses[:3] == [0.05, 0.1, 0.2] and max(pauses) == 1.0 and len(pauses) == 8


def test_the_log_is_that_of_the_command():
    tuner = Tuner(**SPACE, out="tune")
    asked = json.loads(command("ask", "--m=1..16*2", "--p=1,2,4,8", "--where=m*p <= 16", "--out=tune"))
    trial = tuner.ask()
    assert [(it["m"], it["p"], it["id"]) for it in asked["runs"]] == [(trial.m, trial.p, trial.id)]
    command("tell", "--out=tune", "--m=2", "--p=2", "--time=31.25")
    tuner.tell((2, 4), time=17.125)
    assert [row["time_s"] for row in tuner.results()] == [31.25, 17.125]
    assert json.loads(command("show", "tune", "--format=json"))["sentence"] == str(tuner.best)


def test_tune_goes_on_with_the_log_and_the_tuner_with_that_of_tune():
    tuner = Tuner(m=[1, 2], p=[1, 2], out="tune")
    tuner.tell((1, 1), time=5)
    words = ["tune", "--m=1,2", "--p=1,2", "--out=tune", "--quiet", "--time-from=total ([0-9.]+) s"]
    command(*words, "--shell", "--", "echo total $(({m} * {p} == 4 ? 1 : 3)) s")
    assert len(tuner.results()) > 1 and tuner.done and tuple(tuner.best) == (2, 2)
    assert {row["status"] for row in tuner.results()} == {"ok"}
    assert Tuner(out="tune").best.sentence == tuner.best.sentence


def test_what_was_declared_in_the_folder_counts_where_nothing_is_said():
    first = Tuner(**SPACE, until_regret=0.1, baseline=(1, 1), seed=7)
    before = Path("tune/configurations.csv").read_text()
    assert repr(Tuner()) == repr(first)
    assert Path("tune/configurations.csv").read_text() == before
    other = repr(Tuner(until_expected=0.03))
    assert "--until-expected=3%" in other and "regret" not in other
    assert "--m=1,2 " in repr(Tuner(m=[1, 2], p=1))


@pytest.mark.parametrize(
    ("m", "p", "expected"),
    [
        ("1..8*2", range(1, 3), [(m, p) for m in (1, 2, 4, 8) for p in (1, 2)]),
        ([2, 1], None, [(1, 1), (2, 1)]),
        (3, "2,4", [(3, 2), (3, 4)]),
        (range(2, 7, 2), (1,), [(2, 1), (4, 1), (6, 1)]),
    ],
)
def test_what_may_run_is_said_in_any_way(m, p, expected):
    Tuner(m=m, p=p)
    rows = Path("tune/configurations.csv").read_text().split()[1:]
    assert [tuple(map(int, row.split(","))) for row in rows] == expected


def test_further_factors_are_chosen_with_m_and_p():
    def run(m, p, scheme, block):
        return seconds(m, p) * (1.5 if scheme == "static" else 1) * (1 + 0.2 * abs(math.log2(int(block) / 64)))

    tuner = Tuner(m=[1, 4], p=[1, 4], param={"scheme": ["static", "dynamic"], "block": "32..128*2"})
    trial = tuner.ask()
    assert (trial.scheme, trial.block) == ("static", "32") and trial.params == {"scheme": "static", "block": "32"}
    with pytest.raises(AttributeError, match="a trial has no 'blok'; its factors: "):
        trial.blok
    best = tuner.run(run)
    assert best.params == {"scheme": "dynamic", "block": "64"} and tuple(best) == (4, 4)
    assert {row["scheme"] for row in tuner.results()} == {"static", "dynamic"}
    tuner.tell({"m": 1, "p": 1, "scheme": "static", "block": 32}, time=3)
    with pytest.raises(mbyp.InputError, match="param=: found none, expected "):
        tuner.tell((1, 1), time=3)


def test_a_trial_is_a_value():
    trial = Trial(m=2, p=4, id=3, params={"scheme": "a"})
    assert pickle.loads(pickle.dumps(trial)) == trial and len({trial, Trial(2, 4, 3, params={"scheme": "a"})}) == 1
    assert pickle.loads(pickle.dumps(trial)).scheme == "a"


def test_each_outcome_is_in_the_log():
    tuner = Tuner(**SPACE)
    tuner.tell((1, 1), time="90ms")
    tuner.tell((1, 2), failed="no memory\nat line 3")
    tuner.tell((1, 4), above=60)
    tuner.tell((1, 8), failed="")
    rows = tuner.results()
    assert [row["status"] for row in rows] == ["ok", "failed", "timeout", "failed"]
    assert [row["time_s"] for row in rows] == [0.09, None, None, None]
    assert [row.get("reason") for row in rows] == [None, "no memory", "stopped after 60.00 s", "no reason given"]


def test_times_are_kept_to_the_last_bit():
    tuner = Tuner(**SPACE)
    times = [0.1 + 0.2, 1e-7, 123456789.12345678, 1 / 3]
    for found in times:
        tuner.tell((1, 1), time=found)
    assert [row["time_s"] for row in tuner.results()] == times


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ({"trial": (1, 1)}, "time= or value= or failed= or above="),
        ({"trial": (1, 1), "time": float("nan")}, "invalid value 'nan' for time="),
        ({"trial": (1, 1), "time": -1}, "invalid value '-1' for time="),
        ({"trial": (1, 1), "time": 1, "failed": "x"}, "cannot be used with"),
        ({"trial": (64, 1), "time": 1}, "m= and p=: found (64, 1), which was not declared"),
        ({"trial": (0, 1), "time": 1}, "invalid value '0' for m="),
        ({"trial": (1, 2, 3), "time": 1}, "expected what ask gave, a pair"),
        ({"trial": None, "time": 1}, "found None, expected what ask gave"),
        ({"trial": (1, 1), "value": 3}, "value=: found 3, expected time="),
        ({"trial": Trial(1, 1, id=0), "time": 1}, "invalid value '0' for id="),
    ],
)
def test_what_cannot_be_told_is_refused_and_nothing_written(told, text):
    tuner = Tuner(**SPACE)
    with pytest.raises(mbyp.InputError) as refusal:
        tuner.tell(**told)
    assert text in str(refusal.value) and tuner.results() == []


def test_a_run_is_told_once():
    tuner = Tuner(**SPACE)
    trial = tuner.ask()
    tuner.tell(trial, time=1)
    with pytest.raises(mbyp.InputError, match="of which was told before"):
        tuner.tell(trial, time=1)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"m": [4], "where": "m > 4"}, "where=: found a condition that no configuration meets"),
        ({"m": "1..4x"}, "invalid value '1..4x' for m="),
        ({"m": 4, "until_expected": 0.1, "until_regret": 0.1}, "until_expected= cannot be used with until_regret="),
        ({"m": 4, "baseline": (9, 9)}, "baseline=: found (9, 9)"),
        ({"m": 4, "count": 3}, "count=: give it to ask"),
        ({"m": 4, "wher": "m > 1"}, "unexpected argument wher= found"),
    ],
)
def test_what_cannot_be_searched_is_refused_at_once(options, text):
    with pytest.raises(mbyp.InputError) as refusal:
        Tuner(**options)
    assert text in str(refusal.value)


def test_run_calls_a_function_of_m_and_p_until_it_is_done():
    calls = []

    def run(m, p):
        calls.append((m, p))
        return seconds(m, p)

    tuner = Tuner(**SPACE)
    assert tuple(tuner.run(run)) == (4, 4) and tuner.done
    assert [(row["m"], row["p"]) for row in tuner.results()] == calls


@pytest.mark.parametrize(
    "function",
    [
        lambda trial: seconds(trial.m, trial.p),
        lambda m, p, **factors: seconds(m, p),
        lambda m, p=1: seconds(m, p),
        lambda *pair: seconds(*pair),
        lambda trial, verbose=False: seconds(*trial),
    ],
)
def test_run_calls_functions_of_other_arguments(function):
    tuner = Tuner(**SPACE)
    tuner.run(function, runs=1)
    (row,) = tuner.results()
    assert row["time_s"] == seconds(row["m"], row["p"])


def test_run_times_a_function_that_returns_nothing():
    tuner = Tuner(**SPACE)
    tuner.run(lambda m, p: time.sleep(0.05), runs=2)
    assert [0.05 <= row["time_s"] < 1 for row in tuner.results()] == [True, True]


def test_run_stops_when_its_budget_is_spent():
    tuner = Tuner(**SPACE)
    tuner.run(lambda m, p: time.sleep(0.2), budget=0.1)
    assert len(tuner.results()) == 1


def test_run_tells_what_failed_and_raises_after_some_in_a_row():
    tuner, count = Tuner(**SPACE), [0]

    def run(m, p):
        count[0] += 1
        if count[0] != 2:
            raise MemoryError(f"no room for {m}")
        return 1.0

    with pytest.raises(MemoryError, match="no room"):
        tuner.run(run, most_failures=2)
    rows = tuner.results()
    assert [row["status"] for row in rows] == ["failed", "ok", "failed", "failed"]
    assert rows[0]["reason"] == f"MemoryError: no room for {rows[0]['m']}"


def test_run_tells_a_timeout_as_a_bound():
    def run(m, p):
        raise subprocess.TimeoutExpired("app", 3.5)

    tuner = Tuner(**SPACE)
    tuner.run(run, runs=4)
    assert [(row["status"], row["wall_s"]) for row in tuner.results()] == 4 * [("timeout", 3.5)]


def test_an_interrupted_run_is_not_told():
    def run(m, p):
        raise KeyboardInterrupt

    tuner = Tuner(**SPACE)
    with pytest.raises(KeyboardInterrupt):
        tuner.run(run)
    assert tuner.results() == []


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda m, p: "3 s", "the function returned '3 s', expected its time in seconds, or None"),
        (lambda m, p: True, "the function returned True"),
        (lambda m, p: (1, 2), r"the function returned \(1, 2\)"),
        (lambda m, p: float("nan"), "invalid value 'nan' for time="),
        (lambda a, b, c: 1, "cannot be called with m, p, nor with a trial"),
        (3, "found 3, expected a function"),
    ],
)
def test_run_refuses_other_functions(function, text):
    tuner = Tuner(**SPACE)
    with pytest.raises(mbyp.InputError, match=text):
        tuner.run(function)
    assert tuner.results() == []


def test_another_quantity_is_told_as_a_value():
    tuner = Tuner(**SPACE, objective="max score")
    with pytest.raises(mbyp.InputError, match="expected the value of objective='max score'"):
        tuner.run(lambda m, p: None)
    best = tuner.run(lambda m, p: 1000 / seconds(m, p))
    assert tuple(best) == (4, 4) and best.time is None
    assert (best.value, best.unit) == (pytest.approx(1000 / seconds(4, 4), rel=0.05), "score")


def test_an_expression_over_the_time_is_told_times():
    tuner = Tuner(**SPACE, objective="cost")
    best = tuner.run(seconds)
    assert tuple(best) == (1, 1)
    assert best.time == pytest.approx(seconds(1, 1), rel=0.05) and best.unit == "core-h"
    assert best.value == pytest.approx(best.time / 3600, rel=1e-9)


def test_a_table_of_another_engine_is_told_once(capsys):
    tuner = Tuner(m=[1, 2], p=[1, 2])
    trials = tuner.ask("engine", n=4)
    rows = "".join(f"{it.id},{it.m},{it.p},{seconds(*it)}\n" for it in trials)
    Path("results.csv").write_text("id,m,p,time_s\n" + rows)
    assert tuner.tell_results("results.csv") == "4 runs were told, 0 were known"
    assert tuner.tell_results("results.csv") == "0 runs were told, 4 were known"
    assert [row["time_s"] for row in tuner.results()] == [seconds(*it) for it in trials]


def test_a_damaged_line_is_an_error_with_its_place_and_repaired():
    tuner = Tuner(**SPACE)
    tuner.tell((1, 1), time=1)
    log = Path("tune/log.jsonl")
    log.write_text(log.read_text() + '{"id":2,"ord\n')
    with pytest.raises(mbyp.InputError, match=r"log.jsonl:2: found '{\"id\":2,\"ord'.*repair=True"):
        tuner.results()
    with pytest.raises(mbyp.InputError, match="log.jsonl:2.*repair= takes damaged lines out"):
        Tuner(**SPACE)
    assert len(Tuner(**SPACE, repair=True).results()) == 1


def test_a_line_that_is_being_written_is_not_read():
    tuner = Tuner(**SPACE)
    tuner.tell((1, 1), time=1)
    log = Path("tune/log.jsonl")
    log.write_text(log.read_text() + '{"id":2,"ord')
    assert [row["id"] for row in tuner.results()] == [1]


SHARING = """
import sys
from mbyp import Tuner
m = "1..16*2"
tuner = Tuner(m=m, p=[1, 2, 4, 8], where="m*p <= 16", until_expected=0.001, out="shared", worker=sys.argv[1])
tuner.run(lambda m, p: 1 + 100 / (m * p) + 0.35 * p + 0.3 * m)
print(*tuner.best)
"""


def test_processes_share_a_folder():
    started = [
        subprocess.Popen([sys.executable, "-c", SHARING, str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(4)
    ]
    assert [(it.communicate()[0], it.returncode) for it in started] == 4 * [("4 4\n", 0)]
    rows = Tuner(out="shared").results()
    assert len({row["id"] for row in rows}) == len(rows)
    assert sorted(row["order"] for row in rows) == list(range(1, len(rows) + 1))
