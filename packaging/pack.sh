# What the scripts beside it share: an archive has the same bytes whenever it is made from the same files of the
# same commit. Needs GNU tar, gzip, sha256sum and, for the list of what there is, python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
    echo "error: $*" >&2
    exit 1
}

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
[ -n "$version" ] || fail 'Cargo.toml: found no version, expected version = "X.Y.Z" under [workspace.package]'
# Every file of an archive has the time of its commit.
seconds=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} ||
    fail "found no commit, whose time files get: set SOURCE_DATE_EPOCH to seconds since 1970"

sha256_of() { sha256sum "$1" | cut -d ' ' -f 1; }

# pack PARENT NAME OUT: the folder PARENT/NAME becomes OUT/NAME.tar.gz, with its checksum beside it, and the list of
# what OUT has is written anew.
pack() {
    local parent=$1 name=$2 out=$3
    mkdir -p "$out"
    LC_ALL=C tar --create --format=gnu --sort=name --mtime="@$seconds" --owner=0 --group=0 --numeric-owner \
        --mode=u+rw,go=u,go-w --directory="$parent" "$name" | gzip --no-name --best > "$out/.$name.tar.gz"
    mv "$out/.$name.tar.gz" "$out/$name.tar.gz"
    (cd "$out" && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
    python3 packaging/manifest.py "$out" "$version"
}

# recipes ADDRESS SHA256 OUT: the recipes, of the archive of the sources at ADDRESS.
recipes() {
    local recipe
    for recipe in spack/package.py conda/recipe.yaml; do
        mkdir -p "$3/${recipe%/*}"
        sed -e "s|@VERSION@|$version|g" -e "s|@ADDRESS@|$1|g" -e "s|@SHA256@|$2|g" "packaging/$recipe" > "$3/$recipe"
    done
}
