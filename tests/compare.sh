#!/usr/bin/env bash
# Runs the commands of README.md and docs with two programs and compares what they print, write and return:
#     tests/compare.sh OLD NEW [--quick]
# Both work in folders of their own; versions are taken out before files are compared. What differs
# is listed, and the exit code is 1. --quick leaves out what takes minutes.
set -u
old=$(readlink -f "$1") new=$(readlink -f "$2") quick=${3:-}
repository=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# name: command line, in the order in which later ones need the files of earlier ones.
commands() {
    cat << 'LIST'
bench: bench --machine ps3 --repetitions 2 --out bench
profile: profile --app pbpi --input sim12 --generations 5 --machine ps3 --out profile.csv
profile-raxml: profile --app raxml --input sim12 --bootstraps 2 --machine ps3 --out profile_raxml.csv
fit-files: fit --alpha bench/alpha.csv --offload bench/offload.csv --context-switch bench/context_switch.csv --collective bench/collective.csv --profile profile.csv --apus 6 --out params.toml --report fit.json
fit-runs: fit --runs runs.csv --out of_runs.toml
fit-huber: fit --runs runs.csv --robust huber --bootstrap 200 --out of_huber.toml
fit-all: fit --alpha bench/alpha.csv --profile profile.csv --runs runs.csv --out of_all.toml
fit-require: fit --runs runs.csv --require t_hpu_s,g_s --out of_required.toml
fit-refined: fit --hardware-contexts 4 --iterations 9995 --memory bench/memory.csv --runs runs.csv --out of_memory.toml --refined-out refined.toml
predict: predict --params pbpi-qs20 --top 5
predict-raxml: predict --params raxml-qs20 --format json
predict-csv: predict --params params.toml --format csv --out predictions.csv
predict-one: predict --params pbpi-qs20 --m 2 --p 8
predict-next: predict --params of_runs.toml --next
predict-explain: predict --params of_runs.toml --explain
predict-break-even: predict --params pbpi-qs20 --break-even --host-factor 2
predict-limits: predict --params pbpi-qs20 --p-divides 8 --apus-per-chip 8 --max-m 4
predict-impossible: predict --params pbpi-qs20 --p-divides 7 --min-p 8
predict-what-if: predict --params pbpi-qs20 --apus 32 --scale t_apu_s=4
predict-phases: predict --params params.toml --per-phase --change-cost 0.001
predict-nodes: predict --params pbpi-qs20 --nodes 4
predict-too-large: predict --params pbpi-qs20 --m 5 --p 4
export-c: export --params pbpi-qs20 --to c-header
export-json: export --params of_runs.toml --to json
export-csv: export --params of_runs.toml --to csv
export-python: export --params params.toml --to python
export-rust: export --params params.toml --to rust
export-markdown: export --params params.toml --to markdown
export-latex: export --params params.toml --to latex
export-starpu: export --params params.toml --to starpu
export-simgrid: export --params params.toml --to simgrid
export-loggopsim: export --params params.toml --to loggopsim
export-runs: export --runs runs.csv --to extra-p
emulate: emulate --app pbpi --input sim12 --generations 5 --m 2 --p 3
emulate-json: emulate --app pbpi --input sim12 --generations 5 --m 4 --p 4 --format json --trace run.json
emulate-linux: emulate --app pbpi --input sim12 --generations 5 --m 8 --p 2 --scheduler linux --format json
emulate-chains: emulate --chains 4 --rows 2 --input sim12 --generations 30 --m 2 --p 8 --samples samples.csv --consensus consensus.nwk --burn-in 0.25
emulate-hazards: emulate --m 2 --p 8 --input sim12 --generations 3 --check-hazards
emulate-raxml: emulate --app raxml --input sim12 --inferences 1 --bootstraps 2 --m 2 --p 3 --out raxml
emulate-raxml-naive: emulate --app raxml --input sim12 --inferences 1 --bootstraps 0 --port naive --m 1 --p 2 --format json
emulate-raxml-host: emulate --app raxml --input sim12 --inferences 1 --bootstraps 0 --port ppe --format json
validate: validate --params params.toml --app pbpi --input sim12 --generations 5 --machine ps3 --out validated
validate-threshold: validate --params pbpi-qs20 --app pbpi --input sim12 --generations 2 --machine ps3 --out failed --fail-above 1
study: study --app pbpi --input sim12 --generations 5 --machine ps3 --out study
study-raxml: study --app raxml --input sim12 --bootstraps 2 --machine ps3 --out study_raxml
study-list-ranking: study list-ranking --machine ps3 --nodes 20000 --out study_list
study-sweep3d: study sweep3d --machine ps3 --cells 12x12x10 --out study_sweep
report: report study --out report.html
report-set: report pbpi-qs20 --out set.html
plot: plot --study study --kind heat-map --out map.svg
plot-gantt: plot --kind gantt --trace run.json --out gantt.png
plot-validation: plot --validation study/validation.csv --out validation.svg
check-machine: check-machine qs20 --out checked
check-machine-json: check-machine ps3 --format json
likelihood: likelihood --alignment sim12.phy --tree sim12.nwk --model GTR{1,2,1,1,2,1}+F{0.25,0.25,0.25,0.25}+G4{0.5} --per-site
likelihood-jc: likelihood --alignment sim12.phy --tree sim12.nwk --model JC69 --format json
simulate: simulate-alignment --tree sim12.nwk --sites 100 --seed 7 --out simulated.phy
spu-timing: spu-timing kernel.s --iterations 10
spu-timing-json: spu-timing kernel.s --format json
version-of-nothing: study --machine nosuch
mistyped: predict --params nobody
man: man
completions: completions bash
slow-study: study --out default
slow-raxml: study --app raxml --out default_raxml
LIST
}

prepare() {
    mkdir -p "$1"
    cp "$repository"/data/sim12.* "$1"
    awk 'BEGIN {
        print "m,p,repetition,time_s"
        for (r = 1; r <= 3; r++) for (m = 1; m <= 16; m++) for (p = 1; m * p <= 16; p++)
            printf "%d,%d,%d,%.6f\n", m, p, r, (1.3 + 370/(m*p) + 1.7 + 0.8*p) * (1 + 0.004*((7*m+3*p+5*r)%9-4))
    }' > "$1/runs.csv"
    printf 'loop:\nlqd $3,0($4)\nlqd $5,16($4)\ndfm $6,$3,$5\nai $4,$4,32\nstqd $6,0($7)\nai $8,$8,-1\nbrnz $8,loop\n' > "$1/kernel.s"
}

# The version of a build and the paths of the run are no differences.
plain() { sed -E 's/0\.1\.0( \([0-9a-f]{7}(-dirty)?\))?/VERSION/g' "$1"; }

cd "$work" && prepare old && prepare new
different=0
complain() { echo "DIFFERS  $*"; different=1; }
while IFS= read -r line; do
    name=${line%%: *} arguments=${line#*: }
    [ "$quick" = --quick ] && [ "${name#slow-}" != "$name" ] && continue
    (cd old && "$old" $arguments > "../old.out" 2> "../old.err" < /dev/null; echo $? > "../old.code")
    (cd new && "$new" $arguments > "../new.out" 2> "../new.err" < /dev/null; echo $? > "../new.code")
    verdict="same     $name"
    for what in code out err; do
        if ! cmp -s <(plain "old.$what") <(plain "new.$what"); then
            complain "$name: $what"
            diff <(plain "old.$what") <(plain "new.$what") | head -6
            verdict=
        fi
    done
    [ -n "$verdict" ] && echo "$verdict (exit $(cat new.code))"
done < <(commands)

# A manifest has hashes of files with the version in them; these are compared here themselves.
while IFS= read -r file; do
    [ -e "new/$file" ] || { complain "$file is not written"; continue; }
    cmp -s <(plain "old/$file") <(plain "new/$file") || {
        complain "$file"
        diff <(plain "old/$file") <(plain "new/$file") | cut -c 1-160 | head -6
    }
done < <(cd old && find . -type f ! -name manifest.json | sort)
while IFS= read -r file; do
    [ -e "old/$file" ] || complain "$file is new"
done < <(cd new && find . -type f | sort)
exit $different
