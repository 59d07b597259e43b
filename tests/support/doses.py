"""How many random problems the tests of `make stress` look at: the one place where that is read.

``STRESS`` says how many universes, ``NEAR_TIES`` how many near ties and ``BOUNDS`` how many bounds.
Without them, it is as many as before a release.
"""

import os

OF_A_RELEASE = 20_000
STRESS = int(os.environ.get("STRESS", OF_A_RELEASE))
NEAR_TIES = int(os.environ.get("NEAR_TIES", "1000000"))
BOUNDS = int(os.environ.get("BOUNDS", "1000"))


def dose(of_a_release: int) -> int:
    """Return how many of the problems of a release to look at: at least a fifth of them.

    For tests whose problems are quicker than a universe that every engine solves.
    """
    return max(of_a_release * STRESS // OF_A_RELEASE, of_a_release // 5)
