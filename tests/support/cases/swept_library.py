"""A library to sweep that nobody needs to install: some of its settings hang, fail or die.

In a module of its own, since worker processes import it.
"""

from __future__ import annotations

import os
import time

from tools.sweep.setting import REFUSED, Judged, Library, Setting

PAIR = "[0] and [1]"


def settings(names=("tight", "refused", "raises", "dies", "hangs", "violated")):
    for name in names:
        yield Setting(f"make_{name}", f"{name}()", (0, 1), (1,))


def tights():
    return settings([f"tight_{place}" for place in range(6)])


def judge(setting):
    match setting.constructor:
        case "make_refused":
            return Judged(REFUSED, remark="no such type")
        case "make_raises":
            raise ValueError("first line\nof two\n")
        case "make_dies":
            os._exit(3)
        case "make_hangs":
            time.sleep(600)
        case "make_violated":
            return Judged("violated", "0.5", PAIR, "print('reproduced')\n")
    return Judged("tight", "1")


def version():
    return "1.0"


def constructors():
    return [*(one.constructor for one in settings()), "make_another"]


LIBRARY = Library("swept", version, settings, judge, constructors)
SOUND = Library("swept", version, tights, judge, list)
