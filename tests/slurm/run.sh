#!/usr/bin/env bash
# Tests what is written for Slurm in a private Slurm (cluster.sh): which CPUs, tasks and nodes the
# runs of an array and of a search have, that a failure comes back, and that a job's end reaches its
# command. Takes the program from $MMGP, and what writes scripts (an example of crates/decision/launch) from
# $SCRIPTS, or builds them. Where there can be no Slurm it says why and
# ends with 77.
set -euo pipefail
self=$(realpath "${BASH_SOURCE[0]}")

fail() { echo "failed: $*" >&2; exit 1; }

# Waits until no job is left: ended SECONDS
ended() {
    local until=$((SECONDS + $1))
    while [ -n "$(squeue -h)" ]; do
        [ "$SECONDS" -lt "$until" ] || { squeue >&2; fail "jobs are left after $1 s"; }
        sleep 0.2
    done
}

# What each run saw, one line each: m, p and nodes as asked for and as they are, and leaks.
program() {
    cat > program << 'END'
#!/usr/bin/env bash
# The first task notes what it sees; (4, 2) is a planted failure of the second.
if [ "$SLURM_PROCID" = 0 ]; then
    leaks=$(env | grep -c ^SBATCH_ || true)
    echo "$MMGP_M $MMGP_P $MMGP_NODES = $SLURM_NTASKS $SLURM_CPUS_PER_TASK" \
        "$SLURM_STEP_NUM_NODES, $leaks" >> seen
fi
sleep "$(awk "BEGIN { print 0.1 + 0.4 / $SLURM_NTASKS / $SLURM_CPUS_PER_TASK }")"
[ "$MMGP_M.$MMGP_P.$SLURM_PROCID" != 4.2.1 ] || exit 3
END
    chmod +x program
}

# Every run saw what was asked for, and nothing leaked.
all_as_asked() {
    local m p nodes rest
    while read -r m p nodes rest; do
        [ "$rest" = "= $m $p $nodes, 0" ] || fail "a run saw $m $p $nodes $rest"
    done < seen
}

array() {
    program
    "$SCRIPTS" array results.csv "" 1:1:1 4:2:1 16:2:2 16:2:1 1:16:1 4:8:2 -- ./program > submit
    bash submit > jobs
    ended 60
    all_as_asked
    # Each in its order, those on one node first; 32 CPUs are not on one node.
    local got
    got=$(cut -d, -f1-5,7 results.csv | tr '\n' ' ')
    local header=id,m,p,nodes,repetition,exit
    [ "$got" = "$header 1,1,1,1,1,0 2,4,2,1,1,3 4,16,2,1,1,1 5,1,16,1,1,0 3,16,2,2,1,0 6,4,8,2,1,0 " ] ||
        fail "the array's results are $got"
    [ "$(wc -l < jobs)" = 2 ] || fail "there are not two arrays"
    echo "an array for each number of nodes: all runs as asked, the failure is exit code 3"
}

signal() {
    cat > waiting << 'END'
#!/usr/bin/env bash
trap 'echo told; exit 130' TERM
touch started
sleep 1000 & wait
END
    chmod +x waiting
    "$SCRIPTS" job "a b" "--time=5" ./waiting > job
    local id
    id=$(sbatch --parsable job)
    until [ -e started ]; do sleep 0.1; done
    # As Slurm does ahead of the limit.
    scancel --batch --signal=TERM "$id"
    ended 30
    grep -qx told "a b-$id.out" || fail "the signal did not reach the command"
    scontrol show job "$id" | grep -q ExitCode=130:0 || fail "the exit code is lost"
    echo "a job whose time ends: the command is told, its exit code is the job's"
}

tune() {
    program
    "$MMGP" tune --via slurm --sbatch '--time=5 --nodes=1 -n 16' --m 1,2,4 --p 1,2 --runs 6 \
        --out out -- ./program
    ended 120
    [ -s out/log.jsonl ] || { cat out/*.out >&2; fail "there is no log"; }
    all_as_asked
    grep '"status":"failed"' out/log.jsonl | grep '"m":4,' | grep '"p":2,' | grep -q '"exit":3[,}]' ||
        fail "the planted failure did not come back: $(cat out/log.jsonl)"
    ! grep '"status":"failed"' out/log.jsonl | grep -qv '"m":4,' || fail "others failed too"
    local good
    good=$(grep -c '"status":"ok"' out/log.jsonl)
    [ "$good" -ge 4 ] || fail "only $good runs went well"
    [ "$(wc -l < seen)" -ge "$good" ] || fail "not every run was a step"
    echo "a search in a job: all $good runs as asked, the failure is exit code 3"
}

if [ "${1:-}" = inside ]; then
    # As users have it in their environment.
    export SBATCH_COMMENT=leaks
    cd "$(mktemp -d)"
    trap 'rm -rf "$PWD"' EXIT
    for test in array signal tune; do
        mkdir "$test"
        (cd "$test" && "$test")
    done
    exit
fi
cd "$(dirname "$self")/../.."
if [ -z "${SCRIPTS:-}" ]; then
    cargo build --release --quiet --package mmgp-launch --example slurm
    SCRIPTS=${CARGO_TARGET_DIR:-target}/release/examples/slurm
fi
if [ -z "${MMGP:-}" ]; then
    cargo build --release --quiet
    MMGP=${CARGO_TARGET_DIR:-target}/release/mmgp
fi
MMGP=$(realpath "$MMGP") SCRIPTS=$(realpath "$SCRIPTS")
export MMGP SCRIPTS
exec tests/slurm/cluster.sh run "$self" inside
