"""Ramble: the workspace of an experiment for each run that mmgp lists.

    mmgp measure --m 1,2,4 --p 1,2,4 --repetitions 1 --out ramble-tune --emit hyperqueue -- mpirun -n {m} ./app > runs.toml
    python ramble_list.py runs.toml APPLICATION WORKLOAD > ramble.yaml
    ramble workspace create -d tuned -c ramble.yaml
    ramble -D tuned workspace setup && ramble -D tuned on && ramble -D tuned workspace analyze --format json
    mmgp tell --out ramble-tune --results tuned/results.latest.json

APPLICATION is one that Ramble knows, with a figure of merit that is a time. `mmgp tune --emit hyperqueue` lists what
is worth a run next.
"""

import sys
import tomllib

WORKSPACE = """\
ramble:
  env_vars:
    set:
      OMP_NUM_THREADS: '{{n_threads}}'
  variables:
    mpi_command: mpirun -n {{n_ranks}}
    batch_submit: '{{execute_experiment}}'
    n_nodes: 1
    processes_per_node: '{{n_ranks}}'
  applications:
    {application}:
      workloads:
        {workload}:
          experiments:
            run_{{id}}:
              variables:
                id: {ids}
                n_ranks: {ms}
                n_threads: {ps}
              zips:
                asked: [id, n_ranks, n_threads]
              matrix: [asked]
  software:
    packages: {{}}
    environments: {{}}
"""


def main(runs, application, workload):
    """Prints the workspace. A run that is asked for twice is an experiment each time, by its id."""
    with open(runs, "rb") as file:
        tasks = tomllib.load(file)["task"]
    ids = [task["id"] for task in tasks]
    ms, ps = ([int(task["env"][name]) for task in tasks] for name in ("MMGP_M", "MMGP_P"))
    print(WORKSPACE.format(application=application, workload=workload, ids=ids, ms=ms, ps=ps), end="")


if __name__ == "__main__":
    main(*sys.argv[1:])
