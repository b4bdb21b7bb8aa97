#!/bin/bash
#SBATCH --job-name=mmgp
#SBATCH --array=0-1
#SBATCH --ntasks=16
#SBATCH --output=slurm-%A_%a.out

# Several jobs of Slurm share one search: each asks for what no other has in hand, runs it in its own allocation, and
# tells its time. A job that is cut off at its limit gets the same run again when its place in the array is submitted
# anew. `mmgp tune --via slurm` (docs/tune.md) does it in one job, without Python.
#     sbatch slurm.sh
cd "${SLURM_SUBMIT_DIR:-.}" || exit
exec "${PYTHON:-python3}" - << 'END'
import os
import subprocess
import sys

from mbyp import Tuner


def run(m, p):
    """Runs the program as a step of m tasks of p cores; timed as a whole."""
    step = ["srun", "--ntasks=1", "--exact"]  # yours: "--ntasks", str(m), "--cpus-per-task", str(p), then ./app
    subprocess.run([*step, sys.executable, "app.py", str(m), str(p)], check=True, stdout=subprocess.DEVNULL)


tuner = Tuner(m="1..8*2", p="1..8*2", where="m*p <= 16", out="slurm")
print(tuner.run(run, worker=f"job-{os.environ['SLURM_ARRAY_TASK_ID']}"))
END
