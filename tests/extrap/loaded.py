"""What Extra-P reads from an exported file is what the CSV file holds, and it fits a model to it.

usage: loaded.py extra-p|extra-p-json|extra-p-jsonl FILE RUNS.csv
"""

import csv
import subprocess
import sys
from pathlib import Path

from extrap.fileio.file_reader.json_file_reader import JsonFileReader
from extrap.fileio.file_reader.text_file_reader import TextFileReader

target, file, runs = sys.argv[1:]
reader = TextFileReader() if target == "extra-p" else JsonFileReader()
experiment = reader.read_experiment(file)
assert [parameter.name for parameter in experiment.parameters] == ["m", "p"]

expected = {}
for row in csv.DictReader(open(runs)):
    expected.setdefault((float(row["m"]), float(row["p"])), []).append(float(row["time_s"]))
found = {}
for (callpath, metric), measurements in experiment.measurements.items():
    assert (callpath.name, metric.name) == ("run", "time"), (callpath, metric)
    for measurement in measurements:
        point = tuple(float(value) for value in measurement.coordinate)
        assert measurement.repetitions == len(expected[point])
        found[point] = (measurement.minimum, measurement.mean, measurement.maximum)
assert found.keys() == expected.keys()
for point, (least, mean, most) in found.items():
    times = expected[point]
    assert (least, most) == (min(times), max(times)), point
    assert abs(mean - sum(times) / len(times)) < 1e-12 * mean, point

flag = "--text" if target == "extra-p" else "--json"
extrap = Path(sys.executable).with_name("extrap")
options = ["--modeler", "multi-parameter", "--options", "#spm=Default"]
options += ["#spo=allow_negative_exponents=true"]
command = [extrap, flag, file, *options, "--print", "functions"]
model = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
print(f"{target}: {len(found)} points; {model}")
