"""ReFrame: a test for each run that mmgp asks for; it tells its time, or that it failed.

    until python reframe_runs.py; do reframe -c reframe_runs.py -r --performance-report; done

`python reframe_runs.py` says whether mmgp is done. Each call of ReFrame runs the tests that are asked for then.
"""

import re
import sys
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from mbyp import Tuner
from reframe.core.builtins import parameter, performance_function, run_after, run_before, sanity_function

HERE = Path(__file__).resolve().parent
AT_ONCE = 4

tuner = Tuner(m="1..8*2", p="1..8*2", where="m*p <= 16", out=HERE / "reframe-tune")
# Those that are in hand come again until they are told, so that it may be imported several times.
TRIALS = {trial.id: trial for trial in tuner.ask("reframe", n=AT_ONCE)}


@rfm.simple_test
class TunedApp(rfm.RunOnlyRegressionTest):
    """The program with the m and p of a run that is asked for."""

    run_id = parameter(TRIALS, fmt=lambda it: f"{TRIALS[it].m}x{TRIALS[it].p}")
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = None
    executable = sys.executable

    @run_before("run")
    def ask(self):
        """Takes m and p from what was asked for. Yours: num_tasks = m, num_cpus_per_task = p."""
        self.trial = TRIALS[self.run_id]
        self.executable_opts = [str(HERE / "app.py"), str(self.trial.m), str(self.trial.p)]

    @run_after("run")
    def tell(self):
        """Tells what came of it, whether it is right or not: what failed is not chosen."""
        printed = (Path(self.stagedir) / self.stdout.evaluate()).read_text()
        found = re.search(r"Total time: (\S+) s", printed)
        if self.job.exitcode == 0 and found:
            tuner.tell(self.trial, time=float(found[1]))
        else:
            tuner.tell(self.trial, failed=f"exit code {self.job.exitcode}")

    @sanity_function
    def printed_its_time(self):
        """Whether the run was right."""
        return sn.assert_found(r"Total time: \S+ s", self.stdout)

    @performance_function("s")
    def total(self):
        """Its time."""
        return sn.extractsingle(r"Total time: (\S+) s", self.stdout, 1, float)


if __name__ == "__main__":
    print(tuner.best)
    sys.exit(0 if tuner.done else 1)
