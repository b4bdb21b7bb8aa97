"""m processes of p threads or accelerators each: which (m, p)? The numbers and words are those of ``mmgp``.

>>> import mbyp
>>> mbyp.load("pbpi-qs20").choose().p
4
"""

from ._answers import Answer
from ._belief import Belief, Choice, Picture, Prediction, Report, WhatIf, fit, load
from ._emulator import EmulatedRun, StudyResult, emulate, study
from ._errors import CommandNotFoundError, Error, FileError, InputError, InUseError, MbypWarning
from ._mbyp import VERSION
from ._tuner import Best, Trial, Tuner

__version__ = VERSION.partition(" ")[0]

__all__ = [
    "Answer",
    "Belief",
    "Best",
    "Choice",
    "CommandNotFoundError",
    "EmulatedRun",
    "Error",
    "FileError",
    "InUseError",
    "InputError",
    "MbypWarning",
    "Picture",
    "Prediction",
    "Report",
    "StudyResult",
    "Trial",
    "Tuner",
    "WhatIf",
    "emulate",
    "fit",
    "load",
    "study",
]
