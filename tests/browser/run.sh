#!/usr/bin/env bash
# Tests the page of `mmgp report` in a real browser. Takes the program from $MMGP, or builds it, and
# a folder that `mmgp study` wrote from $MMGP_STUDY, or makes one; installs what is missing, where it
# may. Prints the summary of node's test runner.
set -euo pipefail
# As the caller names them, before this leaves the caller's folder.
[ -z "${MMGP:-}" ] || MMGP=$(realpath "$MMGP")
[ -z "${MMGP_STUDY:-}" ] || MMGP_STUDY=$(realpath "$MMGP_STUDY")
cd "$(dirname "$0")"

have() { command -v "$1" > /dev/null; }

missing=()
have chromium || have google-chrome || missing+=(chromium)
{ have node && have npm; } || missing+=(nodejs npm)
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ] || ! have apt-get; then
        echo "the browser test needs ${missing[*]}: install them with your system's packages" >&2
        exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
# What is installed is what the lock file says; a second run finds it there.
if ! cmp -s package-lock.json node_modules/.installed; then
    npm ci --no-audit --no-fund --loglevel=error
    cp package-lock.json node_modules/.installed
fi

if [ -z "${MMGP:-}" ]; then
    (cd ../.. && cargo build --release --quiet)
    MMGP=$(realpath "${CARGO_TARGET_DIR:-../../target}/release/mmgp")
fi
CHROMIUM=$(command -v chromium || command -v google-chrome)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
MMGP_STUDY=${MMGP_STUDY:-}
export MMGP MMGP_STUDY CHROMIUM MMGP_PAGES=$work

node make_pages.mjs
# Every file has a browser of its own; two at a time keep two cores busy.
node --test --test-concurrency=2 --test-reporter=spec ./*.test.mjs
