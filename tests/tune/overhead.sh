#!/usr/bin/env bash
# What `mmgp measure` needs for a run of `true`, beside `hyperfine -N`: per run the whole time divided
# by the runs, and the mean that each reports. Ends with 1 where a run takes over 2 ms longer than
# hyperfine's. Takes the program from $MMGP, so many runs as $RUNS says.
set -euo pipefail
mmgp=$(realpath "${MMGP:-$(dirname "$0")/../../target/release/mmgp}") runs=${RUNS:-200}
if [ ! -x "$mmgp" ]; then
    echo "$mmgp is no program: build it, or name one by MMGP" >&2
    exit 1
fi
if ! command -v hyperfine > /dev/null; then
    echo "skipped: what a run costs: there is no hyperfine here" | tee -a "${MMGP_SKIPPED:-/dev/null}"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
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
