#!/usr/bin/env bash
# Installs a wheel into empty environments of the oldest and the newest Python at hand, and asks it for what it brings:
#
#     crates/python/tests/wheel.sh WHEEL
#
# Pythons are looked for on PATH and in ~/.pyenv; where there is none as old as 3.9, it says so.
set -euo pipefail
wheel=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skipped() { echo "skipped: $*" | tee -a "${MMGP_SKIPPED:-/dev/null}"; }

# Each version that is here, once, the oldest first.
pythons() {
    local minor candidate
    for minor in {9..30}; do
        for candidate in "python3.$minor" ~/.pyenv/versions/3."$minor".*/bin/python; do
            if "$candidate" -c "import sys, venv; sys.exit(sys.version_info[:2] != (3, $minor))" 2> /dev/null; then
                echo "$candidate"
                break
            fi
        done
    done
}
mapfile -t found < <(pythons)
[ ${#found[@]} -gt 0 ] || { skipped the wheel: no Python 3.9 or newer; exit 77; }
"${found[0]}" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 9))' || skipped the wheel in Python 3.9
for python in "${found[0]}" "${found[@]: -1}"; do
    "$python" -m venv "$work/env"
    "$work/env/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
    cd "$work"
    "$work/env/bin/python" - << 'PYTHON'
import sys
import time

begin = time.perf_counter()
import mbyp

took = time.perf_counter() - begin
belief = mbyp.fit({"m": [1, 2, 4, 1, 2, 1], "p": [1, 1, 1, 2, 2, 4], "time_s": [8.1, 4.3, 2.4, 4.2, 2.3, 2.2]})
assert len(belief.rank(frame="records")) > 3 and belief.plot("heat-map").svg
run = mbyp.emulate("pbpi", m=1, p=1, input="sim12", generations=20)
print(f"Python {sys.version.split()[0]}: import {1e3 * took:.0f} ms; {belief.choose()}; {run.time_s:.4f} s emulated")
PYTHON
    "$work/env/bin/mmgp" --version
    # Noisy, and its own business: that it searches and ends is enough.
    timeout 120 "$work/env/bin/mmgp" tune --sample --out "$work/tune" > "$work/said" 2>&1 || { cat "$work/said"; exit 1; }
    tail -n 1 "$work/said"
    rm -rf "$work/env" "$work/tune"
done
