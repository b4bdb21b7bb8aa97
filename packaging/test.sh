#!/usr/bin/env bash
# Tests what is here with the program MMGP: archives have the same bytes twice and hold what their list says, the recipe
# for Spack is Python, and that for conda renders where py-rattler-build is there (PYTHON names its interpreter).
#
#     MMGP=PROGRAM packaging/test.sh
: "${MMGP:?names the program}"
MMGP=$(realpath "$MMGP")
export MMGP
. "$(dirname "${BASH_SOURCE[0]}")/pack.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skipped() { echo "skipped: $*" | tee -a "${MMGP_SKIPPED:-/dev/null}"; }

for time in first second; do
    # Another hour, umask and folder are no reason for other bytes.
    (umask "$([ $time = first ] && echo 022 || echo 077)" && TZ=$time-1 packaging/archive.sh "$work/$time")
done
diff -r "$work/first" "$work/second"
(cd "$work/first" && sha256sum --check --quiet ./*.sha256)
# The list is read by other means than those that wrote it.
python3 - "$work/first" << 'END'
import json, subprocess, sys
from pathlib import Path

folder = Path(sys.argv[1])
manifest = json.loads((folder / "dist-manifest.json").read_text())
(release,) = manifest["releases"]
there = {it.name for it in folder.iterdir()} - {"dist-manifest.json"}
assert set(release["artifacts"]) == set(manifest["artifacts"]) == there, (release, there)
(archive,) = (it for it in manifest["artifacts"].values() if it["kind"] == "executable-zip")
assert (folder / archive["checksum"]).read_text().split() == [archive["checksums"]["sha256"], archive["name"]]
listed = subprocess.run(["tar", "tzf", folder / archive["name"]], capture_output=True, text=True, check=True).stdout
paths = sorted(line.partition("/")[2] for line in listed.splitlines() if not line.endswith("/"))
assert sorted(it["path"] for it in archive["assets"]) == paths, paths
kinds = {it["path"]: it["kind"] for it in archive["assets"]}
for path, kind in {"mmgp": "executable", "README.md": "readme", "CHANGELOG.md": "changelog", "LICENSE-MIT": "license",
                   "man/man1/mmgp.1": "unknown", "completions/_mmgp": "unknown"}.items():
    assert kinds.get(path) == kind, (path, kinds)
END
mkdir "$work/unpacked"
tar -xzf "$work"/first/mmgp-*.tar.gz -C "$work/unpacked" --strip-components=1
cmp "$MMGP" "$work/unpacked/mmgp"
"$work/unpacked/mmgp" predict --params pbpi-qs20 --top 3 > "$work/said" 2>&1 || fail "$(cat "$work/said")"

# A program of another version has no place in it.
printf '#!/bin/sh\necho mmgp 0.0.9\n' > "$work/old"
chmod +x "$work/old"
if MMGP=$work/old packaging/archive.sh "$work/third" 2> "$work/said"; then
    fail "archive.sh took a program of another version"
fi
grep -q "found mmgp 0.0.9, expected mmgp " "$work/said"

# checked FOLDER SHA256: its recipes are filled in, Python, and what rattler-build reads.
checked() {
    local code=0
    if grep -n '@[A-Z0-9]*@' "$1/spack/package.py" "$1/conda/recipe.yaml"; then fail "$1: these are not filled in"; fi
    [ "$(grep -hFc "$2" "$1/spack/package.py" "$1/conda/recipe.yaml" | xargs)" = "1 1" ] || fail "$1: found no sha256 $2"
    python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$1/spack/package.py"
    "${PYTHON:-python3}" packaging/conda/build.py "$1/conda/recipe.yaml" || code=$?
    if [ $code = 77 ]; then skipped the recipe for conda: there is no py-rattler-build here; else return $code; fi
}

# Cargo finds every crate in the sources and nowhere else; compiling them is a matter of minutes, and of a release.
if ! git diff --quiet HEAD; then
    skipped the archive of the sources: there are changes here that no commit has
    recipes "file://$work" "$(sha256_of /dev/null)" "$work"
    checked "$work" "$(sha256_of /dev/null)"
elif ! packaging/source.sh "$work/sources"; then
    fail "source.sh made no archive"
else
    mkdir "$work/home"
    tar -xzf "$work"/sources/mmgp-*.tar.gz -C "$work"
    (cd "$work"/mmgp-*/ && CARGO_HOME=$work/home cargo tree --locked --offline --all-features > /dev/null)
    checked "$work/sources" "$(sha256_of "$work"/sources/mmgp-*.tar.gz)"
fi
