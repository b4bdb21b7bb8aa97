"""Calls of the binary."""

import json
import os
import subprocess
from pathlib import Path

from data import write_mappings, write_runs


class Mmgp:
    """The binary, with a folder for the files between `fit` and `predict`."""

    def __init__(self, path, folder):
        self.path = str(Path(path).resolve())
        self.folder = Path(folder)

    def call(self, *arguments):
        done = subprocess.run([self.path, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"mmgp {' '.join(map(str, arguments))}: {done.stderr}")
        return done

    def fitted(self, runs):
        """The parameter file of these runs."""
        here = self.folder / str(os.getpid())
        here.mkdir(exist_ok=True)
        write_runs(here / "split.csv", runs)
        out = here / "p.toml"
        self.call("fit", "--runs", here / "split.csv", "--out", out, "--quiet")
        return out

    def predicted(self, runs, mappings, *more):
        """What `predict` says of these configurations after `fit` of these runs."""
        params = self.fitted(runs)
        return self.asked(params, mappings, *more)

    def asked(self, params, mappings, *more):
        every = params.with_name("all.csv")
        write_mappings(every, mappings)
        flags = ["--params", params, "--configurations", every, "--format", "json", *more]
        return json.loads(self.call("predict", *flags).stdout)
