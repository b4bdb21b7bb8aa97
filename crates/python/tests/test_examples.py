"""The examples of examples/python, each run with its tool, in a copy of their folder."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mbyp import Tuner, _command

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/python"
slow = pytest.mark.skipif(not os.environ.get("MBYP_SLOW"), reason="takes some seconds: MBYP_SLOW=1 runs it")


@pytest.fixture(autouse=True)
def copied(folder):
    """The examples in the folder of the test."""
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)


def run(*words):
    """Runs a program to its end, in which it must go well; all that it printed."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [str(it) for it in words],
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def needs(*modules):
    """Skips a test of tools that are not installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


def seconds(m, p):
    """The time that app.py prints [s]."""
    return round((1.3 + 370 / (m * p) + 0.8 * p + 2 * m) / 1000, 6)


def listed(engine, file, out):
    """Has mmgp list nine runs for an engine."""
    words = ["measure", "--m=1,2,4", "--p=1,2,4", "--repetitions=1", f"--out={out}", f"--emit={engine}"]
    command = [_command.found(), *words, "--", "python3", "app.py", "{m}", "{p}"]
    Path(file).write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def check_times(out, count):
    """The log must have so many runs with the times that app.py takes, or up to half a second more."""
    rows = Tuner(out=out).results()
    assert len(rows) >= count and {row["status"] for row in rows} == {"ok"}
    for row in rows:
        assert 0 <= row["time_s"] - seconds(row["m"], row["p"]) < 0.5


@pytest.mark.parametrize(
    ("file", "modules"),
    [
        ("loop.py", []),
        ("optuna_study.py", ["optuna"]),
        pytest.param("submitit_jobs.py", ["submitit"], marks=slow),
        pytest.param("dask_futures.py", ["dask", "distributed"], marks=slow),
    ],
)
def test_an_example_finds_what_is_best(file, modules):
    needs(*modules)
    last = run(sys.executable, file).strip().splitlines()[-1]
    out = re.search(r'out="(\w+)"', Path(file).read_text())[1]
    assert last == Tuner(out=out).best.sentence and Tuner(out=out).done
    check_times(out, 4)


def test_tests_of_reframe_run_what_is_asked_for():
    needs("reframe")
    report = run("reframe", "-c", "reframe_runs.py", "-r", "--performance-report", "--nocolor", "--prefix", "rfm")
    rows = Tuner(out="reframe-tune").results()
    assert f"Ran {len(rows)}/{len(rows)} test case(s)" in report and len(rows) == 4
    for row in rows:
        assert row["time_s"] == seconds(row["m"], row["p"])
        assert re.search(rf"TunedApp %run_id={row['m']}x{row['p']} .* {row['time_s']} ", report)


def test_what_fails_in_reframe_is_told():
    needs("reframe")
    Path("app.py").write_text("import sys; sys.exit(3)")
    with pytest.raises(AssertionError, match="4 failure"):
        run("reframe", "-c", "reframe_runs.py", "-r", "--nocolor", "--prefix", "rfm")
    rows = Tuner(out="reframe-tune").results()
    assert [(row["status"], row["reason"]) for row in rows] == 4 * [("failed", "exit code 3")]


@slow
def test_tasks_of_hyperqueue_are_those_of_the_list():
    needs("hyperqueue", "tomllib")
    listed("hyperqueue", "runs.toml", "hq-tune")
    run(sys.executable, "hyperqueue_tasks.py", "runs.toml", "results.csv")
    assert Tuner(out="hq-tune").tell_results("results.csv") == "9 runs were told, 0 were known"
    check_times("hq-tune", 9)


@slow
def test_work_packages_of_jube_are_those_of_the_list():
    if shutil.which("jube") is None:
        pytest.skip("there is no jube on PATH")
    listed("script", "runs.sh", "jube-tune")
    run("jube", "run", "jube.yaml", "-r")
    assert Tuner(out="jube-tune").tell_results("bench_run/000000/result/runs.dat") == "9 runs were told, 0 were known"
    assert [row["time_s"] for row in Tuner(out="jube-tune").results()] == [
        seconds(row["m"], row["p"]) for row in Tuner(out="jube-tune").results()
    ]


def test_experiments_of_ramble_are_those_of_the_list():
    # Ramble itself is not run: its list is read, and results as it writes them.
    needs("tomllib", "yaml")
    import yaml

    listed("hyperqueue", "runs.toml", "ramble-tune")
    workspace = yaml.safe_load(run(sys.executable, "ramble_list.py", "runs.toml", "hostname", "parallel"))
    (experiment,) = workspace["ramble"]["applications"]["hostname"]["workloads"]["parallel"]["experiments"].values()
    variables = experiment["variables"]
    assert experiment["matrix"] == list(experiment["zips"]) and experiment["zips"]["asked"] == list(variables)
    found = [
        {
            "name": f"run_{id_}",
            "RAMBLE_STATUS": "SUCCESS",
            "RAMBLE_VARIABLES": {"id": str(id_), "n_ranks": str(m), "n_threads": str(p)},
            "N_REPEATS": 0,
            "CONTEXTS": [{"name": "null", "foms": [{"name": "t", "value": str(seconds(m, p)), "units": "s"}]}],
        }
        for id_, m, p in zip(*variables.values())
    ]
    Path("results.json").write_text(json.dumps({"experiments": found}))
    assert Tuner(out="ramble-tune").tell_results("results.json") == "9 runs were told, 0 were known"
    assert [row["time_s"] for row in Tuner(out="ramble-tune").results()] == [
        seconds(m, p) for m, p in zip(variables["n_ranks"], variables["n_threads"])
    ]
