"""Streams: how much one person can change what is released step after step.

A release is a matrix times the contributions of all steps, and noise: running sums, sliding
windows, trees, or the noise of a training run. A person takes part several times, in a pattern.
`participation_sensitivity` finds the worst contributions, and proves its number; `audit` judges
what others claim.

Examples
--------
>>> from sensitivity_lab import streams
>>> tree = [[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
>>> found = streams.participation_sensitivity(tree, k=2, separation=2)
>>> found.exact, found.value, found.witness.x
(None, 2.8284271247461903, {0: 1, 2: 1})
"""

from .participation import (
    ParticipationSensitivity,
    ParticipationWitness,
    audit,
    participation_sensitivity,
)

__all__ = [
    "ParticipationSensitivity",
    "ParticipationWitness",
    "audit",
    "participation_sensitivity",
]

__dir__ = __all__.copy  # for tab completion
