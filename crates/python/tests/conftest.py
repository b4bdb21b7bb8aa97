"""What the tests share: the command that they run, and a folder of their own for each."""

import os
import signal

import pytest

from mbyp import Error, _command


def pytest_configure(config):
    # A shell has what it runs in the background ignore interrupts, which tests send.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _command.found()
    except Error as error:
        pytest.exit(f"{error} (MBYP_MMGP names another one)", returncode=2)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The current folder of a test, which has no file."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(path, script):
    """A program that is a script of the shell."""
    path.write_text("#!/bin/sh\n" + script)
    os.chmod(path, 0o755)
    return str(path)
