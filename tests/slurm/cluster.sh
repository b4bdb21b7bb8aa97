#!/usr/bin/env bash
# A private Slurm on this machine, for tests:
#     tests/slurm/cluster.sh run COMMAND...
# runs COMMAND beside a cluster of two nodes that declare 16 CPUs each, and ends with its exit code.
# All files of the cluster are in a temporary folder, its ports its own, and it dies with COMMAND.
#
# Takes the Slurm on PATH. Without one it unpacks Debian's packages into $MMGP_SLURM_CACHE (or
# ~/.cache/mmgp-slurm) and lays them over /usr in a mount namespace: nothing is installed. Where it
# may not, it says why in a line and ends with 77.
set -euo pipefail

skip() {
    echo "skipped: no Slurm here: $*" | tee -a "${MMGP_SKIPPED:-/dev/null}" >&2
    exit 77
}
have() { command -v "$1" > /dev/null; }

# Fetches the packages that are missing, with what they need, and unpacks them: unpack FOLDER
unpack() {
    local new=$1.new package daemon
    rm -rf "$new"
    mkdir -p "$new/archives/partial"
    local fetch=(apt-get install -y -qq --no-install-recommends --download-only
        -o "Dir::Cache::archives=$new/archives" slurmctld slurmd slurm-client)
    { "${fetch[@]}" || { apt-get update -qq && "${fetch[@]}"; }; } > "$new/log" 2>&1 ||
        skip "its packages cannot be fetched ($new/log)"
    for package in "$new"/archives/*.deb; do dpkg -x "$package" "$new"; done
    # Debian's alternatives, which installing would have set.
    for daemon in slurmctld slurmd slurmstepd; do ln -sf "$daemon-wlm" "$new/usr/sbin/$daemon"; done
    rm -rf "$new/archives" "$1"
    mv "$new" "$1"
}

# The first of so many ports in a row on which nobody listens: free_ports COUNT
free_ports() {
    local first port
    while first=$((20000 + RANDOM % 10000)); do
        for ((port = first; port < first + $1; port++)); do
            ! (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || continue 2
        done
        echo "$first"
        return
    done
}

# Says that the cluster did not start, with the end of its logs.
broken() { tail -n 20 "$1"/*.log >&2; echo "the cluster does not start: $2" >&2; exit 1; }

# Starts the daemons and waits until a job can start: start FOLDER
start() {
    local work=$1 host port node
    host=$(uname -n)
    port=$(free_ports 3)
    cat > "$work/slurm.conf" << END
ClusterName=mmgp
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/none
CredType=cred/none
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1
MpiDefault=none
ReturnToService=2
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=16 RealMemory=1000
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=16 RealMemory=1000
PartitionName=test Nodes=n1,n2 Default=YES MaxTime=60 DefMemPerCPU=10 State=UP
END
    mkdir -p "$work/state" "$work"/spool-n{1,2}
    export SLURM_CONF=$work/slurm.conf
    slurmctld -D > "$work/slurmctld.out.log" 2>&1 & daemons=($!)
    for node in n1 n2; do
        slurmd -D -N "$node" > "$work/$node.out.log" 2>&1 & daemons+=($!)
    done
    # Their end is no news.
    disown -a
    local tries
    for ((tries = 0; ; tries++)); do
        [ "$(sinfo -h -o %T 2> /dev/null)" != idle ] || return 0
        kill -0 "${daemons[@]}" 2> /dev/null || broken "$work" "a daemon ended"
        [ "$tries" -lt 300 ] || broken "$work" "its nodes are not idle after a minute"
        sleep 0.2
    done
}

# Runs a command beside the daemons: inside COMMAND...
inside() {
    local work code=0
    work=$(mktemp -d)
    daemons=()
    trap 'kill -KILL "${daemons[@]}" 2> /dev/null || true; rm -rf "$work"' EXIT
    start "$work"
    "$@" || code=$?
    scancel --full --signal=KILL --state=running -u "$(id -un)" 2> /dev/null || true
    exit "$code"
}

# The daemons are not on the path of every user.
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
self=$(realpath "${BASH_SOURCE[0]}")
case "${1:-} ${2:-}" in
"run "?*)
    shift
    if have slurmctld && have slurmd && have srun && have sbatch; then
        inside "$@"
    fi
    [ "$(id -u)" = 0 ] || skip "it is not on PATH, and only root may lay it over /usr"
    have apt-get && have dpkg || skip "it is not on PATH, and packages are not Debian's"
    have unshare || skip "it is not on PATH, and there is no unshare"
    cache=${MMGP_SLURM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mmgp-slurm}
    # A host name that resolves, and processes that end with the first of them.
    apart=(unshare --mount --uts --pid --fork --mount-proc --kill-child)
    "${apart[@]}" true 2> /dev/null || skip "namespaces are not allowed"
    mkdir -p "$cache"
    (flock 9; [ -e "$cache/debian/usr/sbin/slurmd" ] || unpack "$cache/debian") 9> "$cache/lock"
    exec "${apart[@]}" bash "$self" over "$cache/debian" "$@"
    ;;
"over "?*)
    packages=$2
    shift 2
    echo localhost > /proc/sys/kernel/hostname
    mount -t overlay overlay -o "lowerdir=$packages/usr:/usr" /usr 2> /dev/null ||
        skip "nothing can be laid over /usr"
    inside "$@"
    ;;
*)
    echo "usage: ${0##*/} run COMMAND..." >&2
    exit 2
    ;;
esac
