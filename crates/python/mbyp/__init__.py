"""m processes of p threads or accelerators each: which (m, p)? The numbers and words are those of ``mmgp``."""

from ._emulator import EmulatedRun, StudyResult, emulate, study
from ._errors import CommandNotFoundError, Error, InputError, InUseError, MbypWarning
from ._tuner import Best, Trial, Tuner

__all__ = [
    "Best",
    "CommandNotFoundError",
    "EmulatedRun",
    "Error",
    "InUseError",
    "InputError",
    "MbypWarning",
    "StudyResult",
    "Trial",
    "Tuner",
    "emulate",
    "study",
]
