#!/usr/bin/env python3
"""Writes FOLDER/dist-manifest.json about the archives of VERSION in FOLDER, read out of them.

    packaging/manifest.py FOLDER VERSION

Its fields are those of the file of this name that cargo-dist writes, so that what reads cargo-dist's releases reads
these. No file, field or order depends on when or where it is written.
"""

import hashlib
import json
import re
import sys
import tarfile
from pathlib import Path

# What a file of an archive is, by the beginning of its name.
KINDS = {"README": "readme", "CHANGELOG": "changelog", "LICENSE": "license"}


def asset(path: str) -> dict:
    name = path.rpartition("/")[2]
    kind = "executable" if path == "mmgp" else KINDS.get(re.split("[.-]", name)[0], "unknown")
    return {"name": name, "path": path, "kind": kind}


def artifacts(archive: Path, version: str) -> dict:
    """An archive and its checksum. Without a target it has the sources, whose files nobody lists."""
    target = archive.name.removesuffix(".tar.gz").removeprefix(f"mmgp-{version}").removeprefix("-")
    triples = [target] if target else []
    checksum = f"{archive.name}.sha256"
    found = {
        "name": archive.name,
        "kind": "executable-zip" if target else "source-tarball",
        "target_triples": triples,
        "checksum": checksum,
        "checksums": {"sha256": hashlib.sha256(archive.read_bytes()).hexdigest()},
    }
    if target:
        with tarfile.open(archive) as files:
            found["assets"] = [asset(it.name.partition("/")[2]) for it in files if it.isfile()]
    return {archive.name: found, checksum: {"name": checksum, "kind": "checksum", "target_triples": triples}}


def main() -> None:
    folder, version = Path(sys.argv[1]), sys.argv[2]
    found = {}
    for archive in sorted([*folder.glob(f"mmgp-{version}.tar.gz"), *folder.glob(f"mmgp-{version}-*.tar.gz")]):
        found |= artifacts(archive, version)
    manifest = {
        "announcement_tag": f"v{version}",
        "announcement_is_prerelease": "-" in version,
        "announcement_title": f"mmgp {version}",
        "releases": [{"app_name": "mmgp", "app_version": version, "artifacts": list(found)}],
        "artifacts": found,
    }
    (folder / "dist-manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


main()
