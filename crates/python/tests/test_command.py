"""The command as a process: its words, its refusals and warnings, how it is found and how it ends."""

import datetime
import io
import os
import subprocess
import sys
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import program

import mbyp
from mbyp import _command, _words


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"until_expected": 0.05}, ["--until-expected=5%"]),
        ({"until_expected": 0.07}, ["--until-expected=7%"]),
        ({"within": "3%"}, ["--within=3%"]),
        ({"check_hazards": True, "force": False, "seed": None}, ["--check-hazards"]),
        ({"as_": "mpi+gpu", "for_": 500}, ["--as=mpi+gpu", "--for=500"]),
        ({"m": range(1, 65)}, ["--m=1..64"]),
        ({"m": range(4, 64, 4)}, ["--m=4..60+4"]),
        ({"m": range(8, 0, -2)}, ["--m=2..8+2"]),
        ({"m": range(3, 4)}, ["--m=3"]),
        ({"p": [1, 2, range(4, 9, 4)]}, ["--p=1,2,4..8+4"]),
        ({"baseline": (8, 1), "names": ("ranks", "threads")}, ["--baseline=8,1", "--names=ranks,threads"]),
        ({"param": {"scheme": ["a", "b"], "block": "32..256*2"}}, ["--param=scheme=a,b", "--param=block=32..256*2"]),
        ({"ignore": ["one", "other"]}, ["--ignore=one", "--ignore=other"]),
        ({"columns": {"m": "ranks", "p": "threads"}}, ["--columns=m=ranks,p=threads"]),
        ({"time": 0.1}, ["--time=0.1"]),
        ({"time": Fraction(1, 4)}, ["--time=0.25"]),
        ({"time": Decimal("0.5")}, ["--time=0.5"]),
        ({"time": datetime.timedelta(minutes=1)}, ["--time=60.0"]),
        ({"out": Path("a b")}, ["--out=a b"]),
        ({"failed": "-x"}, ["--failed=-x"]),
    ],
)
def test_options_are_words(options, expected):
    assert _words.words(options) == expected


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"until_expected": 5}, "until_expected=: found 5.0, expected a fraction below 1"),
        ({"within": float("nan")}, "within=: found nan"),
        ({"within": "x" and object()}, "within=: found a object"),
        ({"m": []}, "m=: found an empty list"),
        ({"m": range(5, 1)}, "m=: found range(5, 1), which is empty"),
        ({"m": [1, True]}, "m=: found True in a list"),
        ({"m": object()}, "m=: found a object"),
        ({"m": 1j}, "m=: found a complex"),
        ({"format": "csv"}, "format=: there is no such option"),
        ({"help": True}, "help=: there is no such option"),
        ({"-x": 1}, "-x=: there is no such option"),
    ],
)
def test_what_no_flag_can_have_is_refused(options, found):
    with pytest.raises(mbyp.InputError) as refusal:
        _words.words(options)
    assert found in str(refusal.value)


def test_numbers_of_numpy_are_numbers():
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    options = {"m": numpy.arange(1, 4), "p": numpy.int32(2), "time": numpy.float32(0.5), "value": numpy.array(3)}
    assert _words.words(options) == ["--m=1,2,3", "--p=2", "--time=0.5", "--value=3"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--where: found nothing", "where=: found nothing"),
        ("invalid value 'x' for '--m <LIST>': no", "invalid value 'x' for m=: no"),
        ("--m and --p, or --configurations, say", "m= and p=, or configurations=, say"),
        ("'--until-regret <PERCENT>' cannot be used with '--for'", "until_regret= cannot be used with for_="),
        ("a -- b --- c a--b", "a -- b --- c a--b"),
    ],
)
def test_flags_in_messages_are_keywords(text, expected):
    assert _words.spelled(text) == expected


def test_a_refusal_is_an_input_error_in_keywords_without_usage():
    with pytest.raises(mbyp.InputError, match=r"^unexpected argument machin= found\s+tip: .* machine=$"):
        mbyp.emulate("pbpi", machin="ps3")
    assert issubclass(mbyp.InputError, ValueError) and issubclass(mbyp.InputError, mbyp.Error)


def test_a_text_that_no_process_can_be_given_is_refused():
    with pytest.raises(mbyp.InputError, match="null byte"):
        _command.run(["ask", "--m=\0"])
    with pytest.raises(mbyp.InputError, match="no text for a command"):
        _command.run(["ask", "--m=\ud800"])
    with pytest.raises(mbyp.Error, match="too long"):
        _command.run(["ask", "--m=" + 10**6 * "1"])


def stand_in(folder, monkeypatch, script):
    """Puts a script in the place of the command."""
    path = program(folder / "mmgp", f'[ "$1" = --version ] && {{ echo mmgp 0.1.0; exit; }}\n{script}')
    monkeypatch.setenv("MBYP_MMGP", path)


def test_answers_are_those_that_the_command_lists(folder, monkeypatch):
    refusal = """runs.csv: column \\"time\\" has no unit; type
  mmgp tell --results runs.csv --columns 'time=time [ms]'   # milliseconds
  mmgp tell --results runs.csv --columns 'time=time [s]'"""
    stand_in(folder, monkeypatch, f'echo "error: {refusal}" >&2; exit 2')
    with pytest.raises(mbyp.InputError) as caught:
        _command.run(["tell", "--results", "runs.csv"])
    assert caught.value.answers == [
        {"key": "columns", "value": "time=time [ms]", "meaning": "milliseconds"},
        {"key": "columns", "value": "time=time [s]", "meaning": ""},
    ]
    assert str(caught.value).splitlines() == [
        'runs.csv: column "time" has no unit; say',
        "  columns='time=time [ms]'   # milliseconds",
        "  columns='time=time [s]'",
    ]


def test_warnings_are_warnings_of_the_caller_and_the_rest_is_passed_on(folder, monkeypatch, capsys):
    stand_in(
        folder,
        monkeypatch,
        "printf 'read: a table\\nwarning: few runs; give\\n  --where more\\nwarning: so many\\nat work\\n' >&2; echo out",
    )
    with pytest.warns(mbyp.MbypWarning) as caught:
        output = _command.run(["x"])
    assert [str(it.message) for it in caught] == ["few runs; give where= more", "so many"]
    assert {it.filename for it in caught} == {__file__}
    assert (output.text, output.said, output.code) == ("out\n", "read: a table\nat work", 0)
    assert capsys.readouterr().err == "read: a table\nat work\n"
    stand_in(folder, monkeypatch, "echo 'warning: so' >&2; echo '{}'")
    with pytest.warns(mbyp.MbypWarning) as caught:
        mbyp.emulate("pbpi")
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("script", "kind", "text"),
    [
        (
            "echo 'error: tune/log.jsonl is in use: another mmgp is running in that folder' >&2; exit 2",
            "InUseError",
            "in use",
        ),
        ("echo 'error: cannot write x: disk full' >&2; exit 2", "FileError", "disk full"),
        ("echo 'thread main panicked' >&2; exit 101", "Error", "mmgp x ended with exit code 101\nthread main panicked"),
        ("kill -KILL $$", "Error", "mmgp x ended with signal 9"),
    ],
)
def test_each_end_has_its_exception(folder, monkeypatch, script, kind, text):
    stand_in(folder, monkeypatch, script)
    with pytest.raises(mbyp.Error) as caught:
        _command.run(["x"])
    assert type(caught.value).__name__ == kind and text in str(caught.value)


def test_a_file_that_is_not_there_is_an_error_of_files(folder):
    with pytest.raises(mbyp.FileError, match="^cannot read nowhere.csv: No such file"):
        mbyp.Tuner(configurations="nowhere.csv")
    assert issubclass(mbyp.FileError, OSError) and not issubclass(mbyp.FileError, ValueError)


def test_exit_code_1_is_an_answer_and_130_an_interrupt(folder, monkeypatch):
    stand_in(folder, monkeypatch, "echo no; exit $2")
    assert _command.run(["x", "1"]) == ("no\n", "", 1)
    with pytest.raises(KeyboardInterrupt):
        _command.run(["x", "130"])


class Terminal(io.StringIO):
    """Standard error as if it were a terminal."""

    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_and_no_error_with_it(folder, monkeypatch):
    stand_in(
        folder,
        monkeypatch,
        "[ -t 2 ] && printf '\\r\\033[2Khalf' >&2; printf '\\r\\033[2K\\033[31merror:\\033[0m not so\\n' >&2; exit 2",
    )
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(mbyp.InputError, match="^not so$"):
        _command.run(["x"], progress=True)
    assert "half" in sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(mbyp.InputError, match="^not so$"):
        _command.run(["x"])
    assert sys.stderr.getvalue() == ""


def test_what_follows_a_warning_is_shown(folder, monkeypatch):
    stand_in(
        folder, monkeypatch, "printf 'warning: one\\n  more\\n' >&2; printf '\\rbar' >&2; printf '\\n  set in\\n' >&2"
    )
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.warns(mbyp.MbypWarning, match="^one more$"):
        _command.run(["x"], progress=True)
    assert sys.stderr.getvalue().replace("\r", "") == "bar\n  set in\n"


def test_output_of_any_length_is_read(folder, monkeypatch, capsys):
    stand_in(folder, monkeypatch, "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo $i:$2$2$2$2; echo $i >&2; done")
    output = _command.run(["x", 30 * "long "])
    assert len(output.text.splitlines()) == len(output.said.splitlines()) == 3000
    assert output.text.splitlines()[-1].startswith("3000:long")


def test_the_command_is_that_of_the_environment_named_and_checked(folder, monkeypatch):
    monkeypatch.setenv("MBYP_MMGP", str(folder / "nowhere"))
    with pytest.raises(mbyp.CommandNotFoundError, match="nowhere: No such file"):
        _command.found()
    monkeypatch.setenv("MBYP_MMGP", program(folder / "other", "echo other 1.0"))
    with pytest.raises(mbyp.CommandNotFoundError, match="other is another program"):
        _command.found()
    monkeypatch.setenv("MBYP_MMGP", program(folder / "old", "echo mmgp 0.0.9"))
    monkeypatch.setattr(_command, "package_version", lambda: "0.1.0")
    with pytest.raises(mbyp.CommandNotFoundError, match="found version 0.0.9, expected 0.1.0"):
        _command.found()


def test_the_command_beside_python_comes_before_that_on_path(folder, monkeypatch):
    monkeypatch.delenv("MBYP_MMGP")
    scripts, path = folder / "scripts", folder / "path"
    for place in (scripts, path):
        place.mkdir()
        program(place / "mmgp", "echo mmgp 0.1.0")
    monkeypatch.setattr(
        _command.sysconfig, "get_path", lambda _, scheme="": str(folder / "user" if scheme else scripts)
    )
    monkeypatch.setattr(_command.sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    assert _command.found() == str(scripts / "mmgp")
    (scripts / "mmgp").unlink()
    assert _command.found() == str(path / "mmgp")
    monkeypatch.setenv("PATH", "")
    (path / "mmgp").unlink()
    with pytest.raises(mbyp.CommandNotFoundError, match=f"no command mmgp in .*{scripts}"):
        _command.found()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no /proc, which tells of open files")
def test_no_call_leaves_a_file_open(folder, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    tuner = mbyp.Tuner(m=[1, 2])
    before = os.listdir("/proc/self/fd")
    for words in [{"m": "x"}, {"m": "\0"}, {"m": 10**6 * "1"}, {}]:
        for call in [lambda **it: mbyp.emulate("sgemm", **it), mbyp.Tuner, lambda **it: tuner.ask()]:
            try:
                call(**words)
            except mbyp.Error:
                pass
    assert os.listdir("/proc/self/fd") == before


def test_nothing_optional_is_imported():
    optional = ["numpy", "pandas", "optuna", "importlib.metadata", "pty"]
    script = f"import sys, mbyp; print([it for it in {optional} if it in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"


def test_a_warning_that_is_an_error_is_raised(folder, monkeypatch):
    stand_in(folder, monkeypatch, "echo 'warning: so' >&2")
    with warnings.catch_warnings():
        warnings.simplefilter("error", mbyp.MbypWarning)
        with pytest.raises(mbyp.MbypWarning, match="^so$"):
            _command.run(["x"])
