#!/usr/bin/env bash
# Tunes programs that go wrong, kills the tunes, and goes on (faults.py); then what a run costs
# (overhead.sh). Takes the program from $MMGP, or builds it; so many tunes as $COUNT says.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ -z "${MMGP:-}" ]; then
    cargo build --release --quiet
    MMGP=target/release/mmgp
fi
python3 tests/tune/faults.py "$MMGP" --count "${COUNT:-1000}"
MMGP=$MMGP tests/tune/overhead.sh
