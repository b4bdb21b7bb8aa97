#!/usr/bin/env bash
# What watching a run costs. First a run that prints 1 GB, of short lines and of those of a simulation's log,
# without a pattern and with one that nearly matches, beside the same in a pipe to `cat`: medians of $PAIRS
# pairs. Ends with 1 where it takes over 5 % longer. Then what `mmgp measure` needs for a run of `true`, beside
# `hyperfine -N`: per run the whole time divided by the runs, and the mean that each reports. Ends with 1 where a
# run takes over 2 ms longer than hyperfine's. Takes the program from $MMGP, so many runs as $RUNS says.
set -euo pipefail
mmgp=$(realpath "${MMGP:-$(dirname "$0")/../../target/release/mmgp}") runs=${RUNS:-200}
if [ ! -x "$mmgp" ]; then
    echo "$mmgp is no program: build it, or name one by MMGP" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 - "$mmgp" "${PAIRS:-5}" << 'PYTHON'
import json, statistics, subprocess, sys, time

mmgp, pairs = sys.argv[1], int(sys.argv[2])
line = ('BEGIN { for (step = 0; step < 9000000; step++) printf "Step %8d Temp %10.4f TotEng %14.6f "'
        '"Press %10.5f Volume %12.4f Time none s\\n", step, 300 + step % 7, -98765.4321, 1.0133, 4096.5 }')
programs = {"y": "yes | head -c 1000000000",
            "a log": f"awk '{line}'"}
patterns = {"no pattern": [], "^Loop time of (.*) on": ["--time-from", "^Loop time of (.*) on"],
            "Time ([0-9.]+) s": ["--time-from", "Time ([0-9.]+) s"]}
costs = []
print(f"{'1 GB of':8} {'pattern':22} {'| cat':>9} {'watched':>9} {'longer':>8}")
for program, command in programs.items():
    for name, flags in patterns.items():
        plain, watched = [], []
        for _ in range(pairs):
            begin = time.perf_counter()
            subprocess.run(f"({command}) | cat > /dev/null", shell=True, check=True)
            plain.append(time.perf_counter() - begin)
            subprocess.run(["rm", "-rf", "watched"], check=True)
            subprocess.run([mmgp, "measure", "--m", "1", "--p", "1", "--repetitions", "1", "--quiet",
                            "--out", "watched", *flags, "--", "sh", "-c", command],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            watched.append(json.loads(open("watched/log.jsonl").readline())["wall_s"])
        plain, watched = statistics.median(plain), statistics.median(watched)
        costs.append(watched / plain - 1)
        print(f"{program:8} {name:22} {plain:7.3f} s {watched:7.3f} s {100 * costs[-1]:6.1f} %")
sys.exit(max(costs) > 0.05)
PYTHON

if ! command -v hyperfine > /dev/null; then
    echo "skipped: what a run costs: there is no hyperfine here" | tee -a "${MMGP_SKIPPED:-/dev/null}"
    exit 0
fi
true=$(type -P true)

seconds() { date +%s.%N; }
{
    a=$(seconds)
    "$mmgp" measure --m 1 --p 1 --repetitions "$runs" --quiet --out out -- "$true" > answer
    b=$(seconds)
    hyperfine -N --warmup 0 --runs "$runs" --export-json hyperfine.json --style none "$true" > /dev/null
    c=$(seconds)
} 2> errors || { cat errors >&2; exit 1; }
python3 - "$a" "$b" "$c" "$runs" << 'PYTHON'
import csv, json, statistics, sys

a, b, c = map(float, sys.argv[1:4])
runs = int(sys.argv[4])
own = [1e3 * float(row["time_s"]) for row in csv.DictReader(open("out/runs.csv"))]
other = [1e3 * it for it in json.load(open("hyperfine.json"))["results"][0]["times"]]
wall = [1e3 * (b - a) / runs, 1e3 * (c - b) / runs]
print(f"{'':12} {'whole, per run':>15} {'mean':>9} {'median':>9}")
for name, whole, times in (("mmgp", wall[0], own), ("hyperfine", wall[1], other)):
    print(f"{name:12} {whole:12.3f} ms {statistics.mean(times):6.3f} ms "
          f"{statistics.median(times):6.3f} ms")
excess = [wall[0] - wall[1], statistics.mean(own) - statistics.mean(other)]
print(f"{'difference':12} {excess[0]:12.3f} ms {excess[1]:6.3f} ms")
assert len(own) == len(other) == runs
sys.exit(max(excess) > 2.0)
PYTHON
