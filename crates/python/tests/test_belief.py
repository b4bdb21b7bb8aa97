"""Beliefs: the numbers of the command line to the last bit, whatever the table was; refusals; errors."""

import csv
import json
import pickle
import re
import subprocess
import sys
import threading
import time
import warnings

import pytest

import mbyp
from mbyp import _command

pytestmark = pytest.mark.filterwarnings("ignore::mbyp.MbypWarning")


@pytest.fixture
def command():
    """Runs the command mmgp; its standard output."""

    def run(*words):
        done = subprocess.run([_command.found(), *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def runs(count=3, unit="s", names=("m", "p", "time")):
    """Timed runs of a program that shares 90 % of its work, with a scatter that is always the same."""
    factor = {"s": 1.0, "ms": 1e3}[unit]
    rows, state = [], 7
    for m in (1, 2, 4, 8):
        for p in (1, 2, 4):
            for _ in range(count):
                state = state * 1103515245 % 2**31
                noise = 1 + (state / 2**31 - 0.5) / 50
                rows.append((m, p, factor * noise * (1.5 + 40 / (m * p) + 0.2 * m + 0.3 * p)))
    m, p, t = names
    label = t if unit == "s" else f"{t} [{unit}]"
    return [{m: row[0], p: row[1], label: row[2]} for row in rows]


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        # repr: the shortest text of the same bits.
        writer.writerows({key: repr(it) if isinstance(it, float) else it for key, it in row.items()} for row in rows)


def with_program(rows):
    return [
        {**row, "program": name, "time": row["time"] * factor}
        for name, factor in (("a", 1.0), ("b", 2.5))
        for row in rows
    ]


# Rows, and options as the module is told them.
INPUTS = {
    "plain": (runs(), {}),
    "one of each": (runs(1), {}),
    "milliseconds": (runs(unit="ms"), {}),
    "other names": (runs(names=("ranks", "threads", "elapsed")), {"columns": "m=ranks,p=threads,time=elapsed"}),
    "usual names": (
        runs(names=("nodes_used", "workers", "wall")),
        {"columns": {"m": "nodes_used", "p": "workers", "time": "wall"}},
    ),
    "filter": (with_program(runs()), {"filter": 'program == "b"'}),
    "a machine": (runs(), {"apus": 64}),
    "prior": (runs(2), {"prior": "pbpi-qs20"}),
    "tasks": (runs(), {"decomposition": "task", "tasks": 24}),
    "shape": (runs(), {"alpha_shape": "linear", "keep_warm_up": True}),
}


@pytest.mark.parametrize("name", INPUTS)
def test_numbers_are_those_of_the_command_to_the_last_bit(name, tmp_path, command):
    from mbyp._words import words

    rows, options = INPUTS[name]
    write("runs.csv", rows)
    command("fit", "--runs", "runs.csv", *words(options), "--out", "theirs.toml", "--quiet", "--report", "theirs.json")
    belief = mbyp.fit("runs.csv", **options)
    belief.save("ours.toml")
    assert (tmp_path / "ours.toml").read_bytes() == (tmp_path / "theirs.toml").read_bytes()
    assert belief.report.json == json.loads((tmp_path / "theirs.json").read_text())
    theirs = json.loads(command("predict", "--params", "theirs.toml", "--format", "json"))
    assert belief.rank(frame="records") == theirs["configurations"]
    assert dict(belief.choose()) == theirs["choice"]
    ms, ps = zip(*((row["m"], row["p"]) for row in theirs["configurations"]))
    ours = belief.predict(list(ms), list(ps))
    for key in ("time_s", "low_s", "high_s"):
        assert getattr(ours, key) == [row[key] for row in theirs["configurations"]]
    explained = json.loads(command("predict", "--params", "theirs.toml", "--explain", "--format", "json"))
    assert dict(belief.explain()) == explained
    following = json.loads(command("predict", "--params", "theirs.toml", "--next", "--format", "json"))
    assert belief.next(10**6, frame="records") == following["measurements"]
    what_if = json.loads(command("predict", "--params", "theirs.toml", "--apus", "128", "--format", "json"))
    assert dict(belief.what_if(apus=128)["choice"]) == what_if["choice"]


def frames(rows):
    """The same rows as all kinds of tables."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    kinds = {"records": rows, "dict": columns}
    try:
        import numpy

        kinds["arrays"] = {name: numpy.array(values) for name, values in columns.items()}
    except ImportError:
        pass
    for library in ("pandas", "polars"):
        try:
            kinds[library] = __import__(library).DataFrame(columns)
        except ImportError:
            pass
    try:
        import pyarrow

        kinds["pyarrow"] = pyarrow.table(columns)
    except ImportError:
        pass
    return kinds


@pytest.mark.parametrize("name", INPUTS)
def test_a_frame_is_a_file_of_the_same_values(name, tmp_path):
    rows, options = INPUTS[name]
    write(tmp_path / "runs.csv", rows)
    of_file = mbyp.fit(tmp_path / "runs.csv", **options)
    for kind, table in frames(rows).items():
        of_frame = mbyp.fit(table, **options)
        assert of_frame.rank(frame="records") == of_file.rank(frame="records"), kind
        assert of_frame.notes == [it.replace(str(tmp_path / "runs.csv"), "the frame") for it in of_file.notes] or kind


def test_a_frame_is_called_by_what_it_is_for():
    alpha = {"matrix_size": [64, 64, 64], "processes": [1, 2, 4], "repetition": [1, 1, 1], "time_s": [1.0, 1.1, 1.3]}
    sources = {row["source"] for row in mbyp.fit(runs(), alpha=alpha).report.json["terms"]}
    assert "the frame of alpha" in sources or any("the frame of alpha" in (it or "") for it in sources)
    with pytest.raises(mbyp.InputError, match='the frame of alpha.*"many"'):
        mbyp.fit(runs(), alpha={**alpha, "processes": [1, 2, "many"]})


def test_what_comes_out_is_of_the_kind_that_came_in():
    for kind, table in frames(runs()).items():
        found = mbyp.fit(table).rank(top=3)
        library = type(found).__module__.partition(".")[0]
        expected = {"records": list, "dict": dict, "arrays": dict}.get(kind)
        assert isinstance(found, expected) if expected else library == kind


def test_arrays_of_any_kind_are_predicted_at_once():
    numpy = pytest.importorskip("numpy")
    belief = mbyp.fit(runs())
    one = belief.predict(4, 2)
    m, p = numpy.array([4, 1, 4]), numpy.array([2, 1, 2])
    many = belief.predict(m, p)
    assert many.time_s.dtype == float and many.time_s[0] == many.time_s[2] == one.time_s
    assert belief.predict(4, [2, 1]).low_s[0] == one.low_s
    pandas = pytest.importorskip("pandas")
    series = belief.predict(pandas.Series(m, index=[5, 6, 7]), p)
    assert list(series.high_s.index) == [5, 6, 7] and series.high_s[5] == one.high_s


def test_a_million_points_need_no_loop():
    numpy = pytest.importorskip("numpy")
    belief = mbyp.fit(runs(), apus=64)
    m, p = numpy.tile([1, 2, 4, 8], 250_000), numpy.repeat([1, 2, 4, 8], 250_000)
    begin = time.process_time()
    found = belief.predict(m, p).time_s
    assert time.process_time() - begin < 5
    assert found.shape == (1_000_000,)
    assert found[123_456] == belief.predict(int(m[123_456]), int(p[123_456])).time_s


def test_a_column_of_programs_gives_a_belief_each(tmp_path):
    rows = with_program(runs())
    for table in frames(rows).values():
        beliefs = mbyp.fit(table, by="program")
        assert list(beliefs) == ["a", "b"]
        one, other = (beliefs[name].predict(2, 2).time_s for name in "ab")
        assert 2.3 < other / one < 2.7


def test_what_is_not_understood_is_refused_with_what_to_say():
    rows = with_program(runs())
    for table in frames(rows).values():
        with pytest.raises(mbyp.InputError) as refused:
            mbyp.fit(table)
        keys = {answer["key"] for answer in refused.value.answers}
        assert "by" in keys and "filter" in keys, refused.value
        assert "program" in str(refused.value) and "--" not in str(refused.value)


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"m": [1, 2], "p": [1, "many"], "time": [1.0, 2.0]}, "many"),
        ({"m": [1, 2], "p": [1, -3], "time": [1.0, 2.0]}, "-3"),
        ({"m": [1, 2], "p": [1, 1.5], "time": [1.0, 2.0]}, "1.5"),
        ({"m": [1, 2], "p": [1, 1]}, "time"),
        ({}, "no"),
        ([], "no"),
        ([1, 2], "record 0"),
        ({"m": [1, 2], "p": [1], "time": [1.0, 2.0]}, "p"),
        ({"m": [[1], [2]], "p": [1, 2], "time": [1.0, 2.0]}, "m"),
        (7, "int"),
    ],
)
def test_a_table_that_is_none_says_why(wrong, says):
    with pytest.raises(mbyp.InputError, match=says.replace(".", r"\.")):
        mbyp.fit(wrong)


def test_options_are_those_of_the_command():
    belief = mbyp.fit(runs())
    for options, says in [
        ({"whree": "m<2"}, "where="),
        ({"where": "m*q < 3"}, "where: found"),
        ({"top": 0}, "top="),
        ({"help": True}, "help="),
    ]:
        with pytest.raises(mbyp.InputError, match=says):
            belief.rank(**options)
    with pytest.raises(mbyp.InputError, match="APUs"):
        belief.predict(10**6, 10**3)
    for m in (0, -1, 1.5, "two", None, float("nan"), 2**40, [1, 0]):
        with pytest.raises(mbyp.InputError, match="m=|whole"):
            belief.predict(m, 1 if not isinstance(m, list) else [1, 1])
    with pytest.raises(mbyp.InputError, match="expected as many"):
        belief.predict([1, 2], [1])


def test_a_missing_file_is_an_error_of_the_system():
    with pytest.raises(OSError, match="no_such.csv"):
        mbyp.fit("no_such.csv")
    with pytest.raises(mbyp.FileError):
        mbyp.load("no_such.toml")
    with pytest.raises(mbyp.InputError, match="pbpi-qs20"):
        mbyp.load("pbpi")


def test_a_belief_is_saved_and_loaded_to_the_bit(tmp_path):
    belief = mbyp.fit(runs())
    belief.save(tmp_path / "p.toml")
    again = mbyp.load(tmp_path / "p.toml")
    assert again.rank(frame="records") == belief.rank(frame="records")
    assert again.formula == belief.formula and repr(again) == repr(belief)
    further = mbyp.fit(runs(1), prior=belief)
    assert further.choose().m >= 1


def test_doubts_are_warnings_of_their_own_class():
    rows = runs()
    rows.append({"m": 2, "p": 2, "time": 4e3})
    with pytest.warns(mbyp.MbypWarning):
        belief = mbyp.fit(rows)
    assert belief.warnings
    with warnings.catch_warnings():
        warnings.simplefilter("error", mbyp.MbypWarning)
        with pytest.raises(mbyp.MbypWarning):
            mbyp.fit(rows)


def test_pictures_and_the_page_are_those_of_the_command(tmp_path):
    belief = mbyp.fit(runs())
    for kind, table in frames(runs()).items():
        assert mbyp.fit(table).plot("parity")._repr_svg_().startswith("<svg"), kind
    picture = mbyp.load("pbpi-qs20").plot("heat-map")
    assert picture._repr_svg_().startswith("<svg")
    picture.save(tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    belief.page(tmp_path / "page.html")
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")[:400].lower()
    assert "<table>" in belief._repr_html_()
    with pytest.raises(mbyp.InputError, match="kind="):
        belief.plot("portrait")


def test_a_map_needs_no_timed_run():
    belief = mbyp.load("pbpi-qs20")
    # (1, 1) and (4, 4), of 50.
    times = re.findall(r">\s*([0-9.]+)\s*</text>", belief.plot("heat-map").svg)
    assert {"374", "32.1"} <= set(times)


def test_what_if_says_what_staying_would_cost():
    belief = mbyp.load("pbpi-qs20")
    changed = belief.what_if(scale={"g_s": 4})
    sentence, more = changed.choice.sentence, changed.as_given_after_change["time_s"] / changed.changed["time_s"] - 1
    stays = f"{sentence} Staying with (4, 4), the best as things are, takes {100 * more:.1f} % more."
    assert repr(changed) == stays and more > 0.05
    # The best of now has no room on half of the machine.
    assert repr(belief.what_if(apus=8)) == belief.what_if(apus=8).choice.sentence
    assert "T_APU/(m*p)" in repr(belief.explain(4, 4))


def test_what_is_missing_is_no_object_in_pandas():
    pandas = pytest.importorskip("pandas")
    belief = mbyp.load("pbpi-qs20")
    assert belief.rank(frame="pandas")["measured_s"].dtype == float
    assert isinstance(belief.terms, (pandas.DataFrame, list)) and belief.rank(frame="records")[0]["measured_s"] is None


def test_exceptions_can_be_sent_to_another_process():
    error = mbyp.InputError("text", [{"key": "by", "value": "a", "meaning": ""}])
    again = pickle.loads(pickle.dumps(error))
    assert again.answers == error.answers and str(again) == "text"


def resident():
    """Memory that this process has [bytes]."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def test_many_calls_with_anything_neither_leak_nor_crash():
    from mbyp import _mbyp

    belief = mbyp.load("pbpi-qs20")
    strange = [
        None,
        0,
        -1,
        2**40,
        2**70,
        1.5,
        float("nan"),
        float("inf"),
        "",
        "x" * 300,
        b"\xff\x00",
        [],
        [None],
        {},
        {"m": []},
        {"m": [1], "p": [1], "time": [float("nan")]},
        [{}],
        [{"m": object()}],
        object(),
        True,
        (1, 2),
        range(3),
        "\ud800",
    ]
    calls = [
        lambda it: belief.predict(it, 1),
        lambda it: belief.predict([1, 2], it),
        lambda it: belief.predict(it, it),
        lambda it: mbyp.fit(it),
        lambda it: mbyp.load(it),
        lambda it: _mbyp.load(it, True),
        lambda it: belief._core.times(it, b"1234"),
        lambda it: belief._core.times(b"\1\0\0\0\2", b"\1\0\0\0"),
        lambda it: _mbyp.fit([], [("runs", it)]),
    ]
    failures = (mbyp.Error, TypeError, ValueError, OverflowError, OSError, UnicodeError)

    def storm(rounds):
        for turn in range(rounds):
            call, it = calls[turn % len(calls)], strange[turn // len(calls) % len(strange)]
            try:
                call(it)
            except failures:
                pass

    storm(2_000)
    before = resident()
    threads = [threading.Thread(target=storm, args=(24_500,)) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert resident() - before < 8e6
    assert belief.predict(4, 4).time_s == mbyp.load("pbpi-qs20").predict(4, 4).time_s


def test_other_threads_go_on_while_one_asks():
    belief = mbyp.fit(runs(), apus=256)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    belief.rank(frame="dict")
    took = time.perf_counter() - begin
    done.set()
    thread.join()
    # Held by the interpreter it would not have counted at all.
    assert counted[0] > took / 0.02 - 2


def test_it_is_there_at_once():
    # Processor time, as others are at work beside it; there is no waiting in an import.
    ask = "import time; begin = time.process_time(); import mbyp; print(time.process_time() - begin)"
    times = [
        float(subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    assert min(times) < 0.05, times
