# What .ci/run and .ci/nightly are made of. Each is a list of sections:
#
#   section NAME COMMAND...   runs one; what it takes is kept for the table at the end
#   beside FUNCTION           starts a function of sections beside what follows
#   ended FUNCTION            waits for it, and prints what it has said
#
# At the end, however it comes, there is a table of what took how long, and a list of what was skipped.
# A section that ends with 77 has skipped itself and said so. Tests add to the list of what they skip
# (tests/testing), and fail where they may not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
mkdir "$work/took"
export MMGP_SKIPPED=$work/skipped MMGP_MAY_SKIP=
shared=$PWD/../shared
[ -d "$shared/data" ] || MMGP_MAY_SKIP=../shared/data
mmgp=${CARGO_TARGET_DIR:-$PWD/target}/release/mmgp
scripts=$(dirname "$mmgp")/examples/slurm
module=$(dirname "$mmgp")/deps/lib_mbyp.so
# Lanes wait for them, and begin before the build does: old ones must not be there by then.
rm -f "$mmgp" "$scripts" "$module"

declare -A running
leave() {
    local code=$?
    kill "${running[@]}" 2> /dev/null || true
    [ ! -e "$work/failed" ] || code=1
    echo "== lines of code"
    .ci/lines
    echo "== what took how long, of $SECONDS s"
    sort -rn "$work/table"
    [ ! -e "$MMGP_SKIPPED" ] || sort -u "$MMGP_SKIPPED"
    rm -rf "$work"
    [ $code = 0 ] && echo "== all checks passed" || echo "== FAILED"
    exit $code
}
trap leave EXIT

has() { command -v "$1" > /dev/null; }
skipped() { echo "skipped: $*" | tee -a "$MMGP_SKIPPED"; }

# Within `||` bash would go on after a failure, so a section is a process that is waited for.
section() {
    local name=$1 code=0 begin=$SECONDS
    shift
    echo "== $name (after $SECONDS s)"
    (
        # Processor time of the section and of all that it has waited for.
        trap 'times > "$work/took/$name.times"' EXIT
        "$@"
    ) &
    wait $! || code=$?
    [ $code != 77 ] || code=0
    local processor
    processor=$(tr 'ms' '  ' < "$work/took/$name.times" | awk '{ all += 60 * ($1 + $3) + $2 + $4 } END { printf "%.0f", all }')
    printf '%4d s after %4d s, %4d s of processor time  %s%s\n' $((SECONDS - begin)) "$begin" "$processor" \
        "$name" "$([ $code = 0 ] || echo ': FAILED')" >> "$work/table"
    return $code
}

beside() {
    "$1" > "$work/$1" 2>&1 &
    running[$1]=$!
}

ended() {
    local code=0
    wait "${running[$1]}" || code=$?
    unset "running[$1]"
    cat "$work/$1"
    [ $code = 0 ] || touch "$work/failed"
}

# The C interface is tested under valgrind, the page in Chromium, the notebooks with Python, lists of
# runs with GNU parallel, off-loads on pocl.
system_packages() {
    local wanted=()
    has cc || wanted+=(gcc libc6-dev)
    has c++ || wanted+=(g++)
    has valgrind || wanted+=(valgrind)
    has chromium || wanted+=(chromium)
    has node || wanted+=(nodejs npm)
    has python3 || wanted+=(python3 python3-venv)
    has parallel || wanted+=(parallel)
    [ -e /etc/OpenCL/vendors/pocl.icd ] || wanted+=(ocl-icd-libopencl1 pocl-opencl-icd)
    if [ ${#wanted[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && has apt-get; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${wanted[@]}" ||
            echo "could not install ${wanted[*]}"
    fi
}

# Everything in one go, so that no core waits for the end of a chain of libraries; the program itself is
# there long before the last test is. A lane waits for it by `built FILE`.
build() { cargo test --release --no-run; }
built() { until [ -x "$1" ]; do sleep 0.5; done; }
# The command of the README, or by nextest, which runs the tests of all programs side by side.
tests() {
    if has cargo-nextest; then
        # An example is no harness of tests.
        cargo nextest run --release --no-fail-fast --status-level slow -E 'not kind(example)'
        cargo test --release --quiet --doc
    else
        cargo test --release --no-fail-fast
    fi
}

installed() {
    local folder=$work/installed
    mkdir "$folder"
    cd "$folder"
    "$mmgp" study --generations 20 --out study
    "$mmgp" report study --out report.html
    cmp report.html study/report.html
    "$mmgp" predict --params pbpi-qs20 --top 3
    "$mmgp" predict --params study/params.toml --explain
    "$mmgp" emulate --app raxml --input sim12 --m 2 --p 3 --out raxml
}
browser() { MMGP=$mmgp MMGP_STUDY=$work/installed/study tests/browser/run.sh; }
# The package for Python with the module that the build has made, in an environment of its own.
python_package() {
    local python=$work/python/bin/python
    has python3 && python3 -m venv "$work/python" || { skipped the package for Python: no python3 with venv; return 77; }
    "$python" -m pip install --quiet --disable-pip-version-check -r crates/python/tests/requirements.txt
    built "$module"
    # Renamed into its place, as notebooks may have it open.
    cp "$module" crates/python/mbyp/_mbyp.abi3.so.new
    mv crates/python/mbyp/_mbyp.abi3.so.new crates/python/mbyp/_mbyp.abi3.so
    MBYP_MMGP=$mmgp PYTHONPATH=$PWD/crates/python "$python" -m pytest -q -rs -p no:cacheprovider crates/python
}
slurm() { MMGP=$mmgp SCRIPTS=$scripts tests/slurm/run.sh; }

notebooks() { MMGP=$mmgp notebooks/run.sh --check; }

real_input() {
    if [ -d "$shared/data" ]; then
        "$mmgp" study --app pbpi --input "$shared/data/hypo42.phy" --out "$work/hypo42"
    else
        skipped a study of real input: there is no ../shared/data here
    fi
}
checks_of_others() {
    local check
    for check in bad-input published-optima likelihood; do
        if [ -x "$shared/checks/$check" ]; then
            MMGP=$mmgp "$shared/checks/$check"
        else
            skipped "$check: there is no ../shared/checks here"
        fi
    done
}
