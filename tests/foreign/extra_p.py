"""Extra-P as a server, for an environment that has it: a line of JSON with runs and mappings in, a line with the
predicted times of the mappings out."""

import itertools
import json
import math
import os
import sys
import warnings

import numpy

from extrap.entities.callpath import Callpath
from extrap.entities.coordinate import Coordinate
from extrap.entities.experiment import Experiment
from extrap.entities.measurement import Measure, Measurement
from extrap.entities.metric import Metric
from extrap.entities.parameter import Parameter
from extrap.modelers.model_generator import ModelGenerator

PROGRAM, TIME = Callpath("run"), Metric("time")


def experiment_of(runs):
    experiment = Experiment()
    experiment.add_parameter(Parameter("m"))
    experiment.add_parameter(Parameter("p"))
    experiment.add_callpath(PROGRAM)
    experiment.add_metric(TIME)
    for (m, p), each in itertools.groupby(sorted(runs), lambda run: (run[0], run[1])):
        coordinate = Coordinate(float(m), float(p))
        experiment.add_coordinate(coordinate)
        values = [time for _, _, time in each]
        experiment.add_measurement(Measurement(coordinate, PROGRAM, TIME, values))
    return experiment


def modelled(runs, mappings, logarithms):
    generator = ModelGenerator(experiment_of(runs), use_measure=Measure.MEDIAN)
    of_one_parameter = generator.modeler.single_parameter_modeler
    of_one_parameter.allow_negative_exponents = True
    of_one_parameter.allow_log_terms = logarithms
    generator.model_all()
    function = generator.models[PROGRAM, TIME].hypothesis.function
    return [float(function.evaluate([m, p])) for m, p in mappings]


def predicted(runs, mappings):
    """A negative power of log(1) has no value, so that some runs and mappings have no model with
    logarithms; with none at all it is the mean, as where Extra-P finds nothing better."""
    for logarithms in (True, False):
        try:
            times = modelled(runs, mappings, logarithms)
        except (ArithmeticError, ValueError, numpy.linalg.LinAlgError):
            continue
        if all(map(math.isfinite, times)):
            return times
    return [float(numpy.mean([time for _, _, time in runs]))] * len(mappings)


# What libraries print goes elsewhere: the answers alone are on standard output.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
warnings.simplefilter("ignore")
for line in sys.stdin:
    asked = json.loads(line)
    answers.write(json.dumps(predicted(asked["runs"], asked["mappings"])) + "\n")
    answers.flush()
