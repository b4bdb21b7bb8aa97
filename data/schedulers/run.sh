#!/usr/bin/env bash
# Every comparison of this folder, run again:
#
#     MMGP=target/release/mmgp DATA=folder data/schedulers/run.sh [NAME...]
#
# DATA holds hypo42.phy: 42 of the 70 taxa of Kawahara and Rubinoff 2013 (J. Evol. Biol. 26; Dryad gh895),
# columns 195 to 1361, chosen so that it has the taxa, sites and patterns of the papers' 42_SC. What
# needs it is left out without it. Each comparison leaves NAME.csv and pictures beside this script.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mmgp=${MMGP:-mmgp}
hypo42=${DATA:-}/hypo42.phy
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted=" $* "

# is_wanted NAME ARGUMENTS...: whether a comparison is asked for, by its name or the word it begins with.
is_wanted() {
    local name=$1
    shift
    [[ $wanted == "  " || $wanted == *" ${name%%-*} "* || $wanted == *" $name "* ]] || return 1
    if [[ " $* " == *" $hypo42 "* && ! -f $hypo42 ]]; then
        echo "$name: left out, for want of hypo42.phy"
        return 1
    fi
    echo "$name"
}

# compare NAME PICTURES ARGUMENTS...: a comparison, of which these pictures are kept.
compare() {
    local name=$1 pictures=$2
    shift 2
    is_wanted "$name" "$@" || return 0
    "$mmgp" schedulers "$@" --out "$work/$name" --quiet
    cp "$work/$name/schedulers.csv" "$here/$name.csv"
    for picture in $pictures; do
        cp "$work/$name/$picture.svg" "$here/$name-$picture.svg"
    done
}

# rows SPES ARGUMENTS...: the rows with so many SPEs for each worker.
rows() {
    local spes=$1
    shift
    rm -rf "$work/rows"
    "$mmgp" schedulers "$@" --spes-per-task "$spes" --out "$work/rows" --rows-only --quiet
    tail -n +2 "$work/rows/schedulers.csv"
}
header=scheduler,workers,tasks,spes_per_task,time_s,apu_busy_percent,apu_idle_per_offload_us
header=$header,context_switches,offloads,seed

# Event-driven scheduling beside Linux: 1 to 8 workers on one Cell, a bootstrap each.
synthetic=(--app synthetic --offloads 2000)
compare workers-raxml "time" --app raxml --input "$hypo42" --machine qs20-cell \
    --schedulers edtlp,linux --workers 1..8
compare workers-constant "time" "${synthetic[@]}" --machine qs20-cell --schedulers edtlp,linux --workers 1..8
compare workers-exponential "time" "${synthetic[@]}" --machine qs20-cell --distribution exponential \
    --schedulers edtlp,linux --workers 1..8

# How these columns move with the constants of the machine: each row of sensitivity.csv has the times of 1
# to 8 workers over that of one, with one constant changed. All that is not documented and that such a run
# can feel is halved and doubled, where half and twice have a meaning.
changes=(
    "none|0|" "linux.context_switch|0.75e-6 3e-6|s" "linux.time_slice|10e-3|s"
    "kernel.instruction|2.5 10|cycle" "kernel.crossing|100 500|cycle" "kernel.lock|160 650|cycle"
    "ppe.lock|170 690|cycle" "ppe.barrier|400|cycle" "ppe.books|1 10 40|count" "mfc.claim|50 400|cycle"
    "mpi.send|200 800|instruction" "mpi.receive|300 1200|instruction" "mpi.copy|0.7e9 2.8e9|byte/s"
    "ppe.store|2|cycle" "ppe.mmio_store|50e-9 200e-9|s" "ppe.mmio_load|75e-9 300e-9|s"
    "ppe_issue.threads|0|choice" "ppe_issue.misprediction|12 46|cycle" "ppe_issue.forward|20 80|cycle"
    "cache.l1_data_ways|2 8|count" "cache.l1_instruction_ways|4|count" "cache.l2_hit|18 72|cycle"
    "cache.memory|250 1000|cycle" "cache.misses|4 16|count" "cache.page|65536|byte"
    "cache.translation|30 120|cycle" "spu.taken_branch|9 36|cycle" "spu.hint_distance|8 32|cycle"
    "spu.fetch|6 24|cycle" "spu.poll|12 48|cycle" "mfc.latency|52e-9 209e-9|s"
    "memory.read|11.4e9 45.7e9|byte/s" "memory.write|11.1e9 44.3e9|byte/s" "banks.cycle|25e-9 100e-9|s"
    "eib.local_store|45e-9 181e-9|s" "eib.memory_round_trip|71e-9 284e-9|s" "eib.hop|1 2|bus cycle"
)
# changed_machine CONSTANT VALUE UNIT: a machine file with that constant changed.
changed_machine() {
    printf 'schema = 1\nname = "changed"\ndescription = "One constant changed"\nbase = "qs20-cell"\n'
    [ "$1" = none ] || printf '[%s]\n%s = { value = %s, unit = "%s", status = "assumed", source = "changed" }\n' \
        "${1%.*}" "${1#*.}" "$2" "$3"
}
if is_wanted sensitivity-workers "$hypo42"; then
    programs=("raxml|--app raxml --input $hypo42" "constant|${synthetic[*]}"
        "exponential|${synthetic[*]} --distribution exponential")
    {
        echo program,scheduler,constant,value,1,2,3,4,5,6,7,8
        for change in "${changes[@]}"; do
            IFS='|' read -r constant values unit <<< "$change"
            for value in $values; do
                changed_machine "$constant" "$value" "$unit" > "$work/changed.toml"
                for program in "${programs[@]}"; do
                    read -r -a arguments <<< "${program#*|}"
                    rows 1 "${arguments[@]}" --machine "$work/changed.toml" --schedulers edtlp,linux \
                        --workers 1..8 |
                        awk -F, -v OFS=, -v program="${program%%|*}" -v constant="$constant" -v value="$value" '
                            $2 == 1 { if (line) print line; one = $5; line = program OFS $1 OFS constant OFS value }
                            { line = line OFS sprintf("%.4f", $5 / one) }
                            END { print line }'
                done
            done
        done
    } > "$here/sensitivity.csv"
fi

# A loop shared by 1 to 8 SPEs: one worker, one bootstrap.
llp=(--app raxml --input "$hypo42" --machine qs20-cell --schedulers edtlp --workers 1)
if is_wanted llp-raxml "${llp[@]}"; then
    { echo $header; for p in {1..8}; do rows "$p" "${llp[@]}"; done; } > "$here/llp-raxml.csv"
fi

# Six processes of one SPE against one of six, 12 tasks.
six() {
    local name=$1
    shift
    is_wanted "$name" "$@" || return 0
    { echo $header; rows 1 --workers 6 "$@"; rows 6 --workers 1 "$@"; } > "$here/$name.csv"
}
six six-synthetic --app synthetic --machine qs20-cell --shared 0.8 --schedulers edtlp --tasks 12
six six-raxml --app raxml --input "$hypo42" --machine qs20-cell --schedulers edtlp --tasks 12

# Bootstraps on one Cell and on two.
bootstraps=1..4,8,12,16,32,64,128
papers=edtlp,edtlp-llp,mgps,mmgp-guided
compare bootstraps-one-cell "time slowdown" --app raxml --input "$hypo42" --machine qs20-cell \
    --schedulers $papers --workers 8 --tasks $bootstraps
compare bootstraps-two-cells "time slowdown" --app raxml --input "$hypo42" --machine qs20 \
    --schedulers $papers --workers 16 --tasks $bootstraps

# What a waiting process leaves its SPE idle: 6 processes on a PlayStation 3, by length of task.
waiting=edtlp,linux,ynr,sled,sled:kernel,sled:free,sled:fifo,work-stealing,mbox,callback
for us in 10 50 100 200 500; do
    compare idle-constant-$us "idle" --app synthetic --machine ps3 --workers 6 --task-us $us \
        --ppe-us 1 --schedulers $waiting
    compare idle-exponential-$us "idle" --app synthetic --machine ps3 --workers 6 --task-us $us \
        --ppe-us 1 --distribution exponential --schedulers $waiting
done

# How long SLED polls: passes of a scan in the kernel, 6 processes on a PlayStation 3.
polls=sled:kernel,sled:kernel-1,sled:kernel-3,sled:kernel-10,sled:kernel-30,sled:kernel-100
polls=$polls,sled:kernel-300,sled:kernel-1000,ynr
for us in 10 50 100; do
    compare polls-exponential-$us "" --app synthetic --machine ps3 --workers 6 --task-us $us \
        --ppe-us 1 --distribution exponential --schedulers $polls
done
"$mmgp" emulate raxml simulate-alignment --taxa 107 --sites 1000 --seed 1 --out "$work/1000.phy" 2> /dev/null
compare polls-pbpi "" --app pbpi --input "$work/1000.phy" --machine ps3 --workers 6 --schedulers $polls

# Gains over YNR by length of the sequences, 6 processes on a PlayStation 3. PBPI is one job, which
# all share.
if is_wanted gains-length; then
    {
        echo program,sites,scheduler,time_s
        for sites in 100 500 1000 2000 5000; do
            for program in pbpi:107 raxml:40; do
                app=${program%:*} taxa=${program#*:} alignment=$work/alignment.phy
                "$mmgp" emulate raxml simulate-alignment --taxa "$taxa" --sites $sites --seed 1 \
                    --out "$alignment" 2> /dev/null
                for scheduler in ynr sled work-stealing mbox callback edtlp mmgp-guided; do
                    printf '%s,%s,%s,' "$app" "$sites" "$scheduler"
                    "$mmgp" emulate --app "$app" --input "$alignment" --machine ps3 --m 6 --p 1 \
                        --scheduler $scheduler --format json |
                        sed -n 's/^  "time_s": \([^,]*\),*$/\1/p'
                done
            done
        done
    } > "$here/gains-length.csv"
fi

# A queue of jobs on 1 to 6 SPEs: each process takes the next job as soon as its SPE is done.
for us in 1 100 500; do
    compare jobs-$us "time" --app synthetic --machine ps3 --task-us $us --ppe-us 0 --offloads 1 \
        --schedulers edtlp,ynr,sled,work-stealing --workers 1..6 --tasks 6000
done

# mmgp-guided beside every other scheduler and every (m, p), which it does not know. The last column is
# the time over that of the fastest (m, p) under EDTLP, in strict turns or to whoever is ready: of all, or
# of those with the most processes for each p. A program of one job is begun with so many processes.
changing=$work/changing.csv
{
    echo turn,ppe_us,task_us
    for turn in {1..1000}; do echo "$turn,11,$((turn <= 500 ? 400 : 20))"; done
} > "$changing"
others=llp,edtlp-llp,edtlp-llp:4,oracle,mgps,linux,ynr,sled,work-stealing,mbox,callback,mmgp-guided
guided() {
    local name=$1 machine=$2 spes=$3 fewest=$4
    shift 4
    is_wanted "guided-$name" "$@" || return 0
    local of_all=$work/guided.csv
    : > "$of_all"
    for ((p = 1; p <= spes; p++)); do
        local most=$((spes / p)) from=1
        if [ "$fewest" = most ]; then from=$most; fi
        rows $p --machine "$machine" --schedulers edtlp,edtlp:ready --workers $from..$most "$@"
    done >> "$of_all"
    rows 1 --machine "$machine" --schedulers $others --workers "${processes:-$spes}" "$@" >> "$of_all"
    sort -t, -k5,5g "$of_all" | awk -F, -v OFS=, -v name="$name" -v machine="$machine" '
        /^edtlp[:,]/ && !best { best = $5 }
        { line[NR] = $1 OFS $2 OFS $4 OFS $3 OFS $5; time[NR] = $5; is_static[NR] = /^edtlp[:,]/ }
        END {
            for (row = 1; row <= NR; row++)
                if (!is_static[row] || time[row] == best)
                    print name, machine, line[row], sprintf("%.4f", time[row] / best)
        }' > "$here/guided-$name.csv.part"
}
guided raxml-1 qs20-cell 8 most --app raxml --tasks 1
guided raxml-4 qs20-cell 8 most --app raxml --tasks 4
guided raxml-12 qs20-cell 8 most --app raxml --tasks 12
guided raxml-64 qs20-cell 8 most --app raxml --tasks 64
guided raxml-20 qs20 16 most --app raxml --tasks 20
guided raxml-9 ps3 6 most --app raxml --tasks 9
processes=2 guided pbpi-2 qs20-cell 8 all --app pbpi --generations 400
processes=4 guided pbpi-4 qs20-cell 8 all --app pbpi --generations 400
guided short qs20-cell 8 all --app synthetic --task-us 10 --ppe-us 5 --shared 0.8 --tasks 16
guided long qs20-cell 8 all --app synthetic --task-us 500 --shared 0.9 --tasks 12
guided mixed qs20-cell 8 all --app synthetic --distribution exponential --shared 0.8 --tasks 16
guided changing qs20-cell 8 all --app synthetic --distribution "trace:$changing" --shared 0.9 --tasks 6
guided badly-shared qs20-cell 8 all --app synthetic --shared 0.3 --tasks 4
guided unshared qs20-cell 8 all --app synthetic --tasks 16
guided host-bound qs20-cell 8 all --app synthetic --ppe-us 50 --task-us 30 --shared 0.8 --tasks 16
guided three ps3 6 all --app synthetic --shared 0.8 --tasks 3
guided two-cells qs20 16 all --app synthetic --shared 0.8 --tasks 20
# Chosen when the policy was finished, and run once.
guided unseen-1 ps3 6 most --app raxml --input sim12 --tasks 5
guided unseen-2 qs20-cell 8 most --app raxml --input sim24 --tasks 7
guided unseen-3 qs20-cell 8 most --app raxml --input "$hypo42" --tasks 6
guided unseen-4 qs20-cell 8 all --app synthetic --task-us 40 --ppe-us 8 --shared 0.6 --tasks 10
guided unseen-5 qs20 16 all --app synthetic --task-us 200 --ppe-us 20 --distribution exponential --shared 0.9 --tasks 5
guided unseen-6 ps3 6 all --app synthetic --task-us 1000 --ppe-us 100 --shared 0.95 --tasks 9
processes=3 guided unseen-7 ps3 6 all --app pbpi --input sim24 --generations 200
processes=2 guided unseen-8 qs20-cell 8 all --app pbpi --input "$hypo42" --generations 200
# What was not asked for stays as it is.
parts=("$here"/guided-*.csv.part)
if [ -f "${parts[0]}" ]; then
    {
        echo workload,machine,scheduler,workers,spes_per_task,tasks,time_s,over_best_static
        {
            cat "${parts[@]}"
            [ ! -f "$here/guided.csv" ] || awk -F, '
                FILENAME != ARGV[ARGC - 1] { new[$1] = 1; next }
                FNR > 1 && !($1 in new)' "${parts[@]}" "$here/guided.csv"
        } | LC_ALL=C sort -s -t, -k1,1
    } > "$work/all.csv"
    mv "$work/all.csv" "$here/guided.csv"
    rm "${parts[@]}"
fi
