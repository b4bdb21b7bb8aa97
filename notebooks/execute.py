"""Runs a notebook from start to end; stores its outputs, or compares them with the stored ones.

usage: execute.py store|check NOTEBOOK.ipynb

What is stored is what a second run would store: no times, no version of a kernel, no path or name of
this machine. `check` compares what is printed, letter by letter, and of a picture that it is there;
a cell with the tag `volatile` may print anything.
"""

import difflib
import getpass
import re
import socket
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

# Many times what any cell takes on a busy machine.
LONGEST_CELL_S = 600
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def main(mode, path):
    stored = nbformat.read(path, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    begin = time.monotonic()
    client = NotebookClient(
        notebook,
        timeout=LONGEST_CELL_S,
        kernel_name=KERNEL["name"],
        record_timing=False,
        # Or the kernel warns of a connection that never leaves this machine.
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        sys.exit(f"{path.name}: {COLOUR.sub('', str(error))}\n{said(notebook)}")
    tidy(notebook)
    complaints = leaks(notebook) + doubts(notebook)
    if mode == "check":
        complaints += differences(stored, notebook)
    if complaints:
        sys.exit("\n".join([f"{path.name}:"] + complaints))
    if mode == "store":
        nbformat.write(notebook, path)
    done = {"store": "ran, outputs stored", "check": "ran, outputs as stored"}[mode]
    print(f"{path.name}: {done} ({time.monotonic() - begin:.0f} s)")


def said(notebook):
    """What the failing cell complained of."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    words = [output.text for output in outputs if output.get("name") == "stderr"]
    words += [output.evalue for output in outputs if output.output_type == "error"]
    return COLOUR.sub("", "\n".join(words))


def tidy(notebook):
    """Leaves nothing that depends on the machine or the hour."""
    notebook.metadata = {
        "kernelspec": KERNEL,
        "language_info": {"name": KERNEL["language"]},
    }
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:02}"
        tags = cell.metadata.get("tags", [])
        cell.metadata = {"tags": tags} if tags else {}
        if cell.cell_type == "code":
            cell.outputs = [tidied(output) for output in merged(cell.outputs)]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for count, cell in enumerate(code, start=1):
        cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count


def merged(outputs):
    """Neighbouring pieces of one stream as one: how a stream is cut depends on the hour."""
    whole = []
    for output in outputs:
        last = whole[-1] if whole else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            whole.append(output)
    return whole


def tidied(output):
    if "metadata" in output:
        output.metadata = {}
    return output


def doubts(notebook):
    """A run that ends may still have printed an error or a warning to a reader."""
    complaints = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error" or output.get("name") == "stderr":
                text = output.get("text") or output.get("evalue")
                complaints.append(f"  {cell.id} wrote to standard error: {text}")
    return complaints


def leaks(notebook):
    """What would tell of this machine."""
    repository = str(Path(__file__).resolve().parent.parent)
    names = {repository, str(Path.home()), socket.gethostname(), tempfile.gettempdir() + "/"}
    names |= {f"/{getpass.getuser()}/", "index.crates.io", "pypi.org", "127.0.0.1"}
    text = nbformat.writes(notebook)
    return [f"  tells of this machine: {name}" for name in sorted(names) if len(name) > 2 and name in text]


def differences(stored, fresh):
    """Where what is printed is not what is stored, line by line."""
    lines = list(difflib.unified_diff(shown(stored), shown(fresh), "stored", "now", lineterm="", n=1))
    return ["  " + line for line in lines]


def shown(notebook):
    lines = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        lines += [f"[{cell.id}]"]
        if "volatile" in cell.metadata.get("tags", []):
            continue
        for output in cell.outputs:
            if output.output_type == "stream":
                lines += output.text.splitlines()
            for kind, content in sorted(output.get("data", {}).items()):
                is_picture = kind.startswith("image/") or "<svg" in content
                lines += [f"({kind})"] + ([] if is_picture else content.splitlines())
    return lines


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ["store", "check"]:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]))
