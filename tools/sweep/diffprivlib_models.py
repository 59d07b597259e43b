"""What a sweep audits of models whose mechanisms take no number: trees, forests, and losses.

`leaves`, `gradient` and `curvature` return, for a dataset, what the noise of such a model must
hide. The audit and the scripts of findings run the same text.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

from sensitivity_lab.audits.call import audit
from sensitivity_lab.metrics import METRICS
from sensitivity_lab.results.literals import literal, short_literal

from . import plain
from .scripts import judged, script_of
from .setting import Judged, Setting, version_of

HEAD = '''import sys
import warnings
from math import exp, log

import diffprivlib
import numpy as np
from diffprivlib import models
from diffprivlib.mechanisms import PermuteAndFlip, Vector
from diffprivlib.models.logistic_regression import _logistic_regression_path

warnings.simplefilter("ignore")
made = {}


def label(self):
    """Remember the chances of both labels of a leaf: permute-and-flip of two candidates."""
    place = sys._getframe(1).f_locals
    scale = self.epsilon / self.sensitivity / (2 - self.monotonic)
    lead = self.utility[0] - self.utility[1]
    less = log(0.5) - scale * abs(lead)
    more = log(1 - exp(less))
    tree = place["self"].nodes[0].threshold
    made[tree, int(place["leaf"])] = (more, less) if lead > 0 else (less, more)
    return 0


def loss_of(self, function):
    """Remember the loss and its data instead of a noisy one, and end the search."""

    def flat(w, X, y, weight, penalty):
        made["loss"] = self, function, X, y
        return 0.0, np.zeros_like(w)

    return flat


PermuteAndFlip.randomise, Vector.randomise = label, loss_of


class LogisticRegression:
    """What the model of this name does with two classes; itself it needs an older scikit-learn."""

    def __init__(self, **given):
        self.given = given

    def fit(self, X, y):
        _logistic_regression_path(X, y, epsilon=1, pos_class=1, Cs=[1.0], **self.given)


def fitted(x, model):
    made.clear()
    spent = {"epsilon": 1, "accountant": diffprivlib.BudgetAccountant(), "random_state": 0}
    eval(model, {**globals(), "spent": spent}).fit(np.c_[x][:, :1], np.array(x)[:, 1])
    return dict(made)


def leaves(x, model):
    """Return the logarithms of the chances of labels, by tree and leaf."""
    return fitted(x, model)


def gradient(x, model):
    """Return the gradient of the loss, as a sum over records, where it is steep."""
    mechanism, function, X, y = fitted(x, model)["loss"]
    steep = np.array([1000.0, -950.0][: mechanism.dimension])
    return (len(y) * function(steep, X, y, None, 0.0)[1]).tolist()


def curvature(x, model):
    """Return the second derivative of the loss, as a sum over records, at 0."""
    mechanism, function, X, y = fitted(x, model)["loss"]
    hessian = function.__self__.gradient_hessian(np.zeros(1), X, y, l2_reg_strength=0.0)[1]
    return float(len(y) * hessian[0, 0])


def claim_of(kind, x, model):
    """Return the claim: the epsilon of a call, or what the mechanism is told."""
    if kind == "leaves":
        return 1
    mechanism = fitted(x, model)["loss"][0]
    bound = mechanism.data_sensitivity
    return 2 * bound if kind == "gradient" else mechanism.function_sensitivity * bound
'''
"""The names that audits and scripts use."""

METRICS_OF = {"leaves": "loss", "gradient": "L2", "curvature": "absolute"}
"""By the kind of audit, the metric on its answers."""

NEIGHBORS = {"bounded": "hamming", "unbounded": "insert_delete"}
"""Trees take records in their order, so neighbors keep it: that is the weaker demand."""


def judge(setting: Setting) -> Judged:
    """Return what comes out of a setting of such a model."""
    kind, near = setting.option("audit"), NEIGHBORS[setting.option("neighbors")]
    names: dict[str, Any] = {**vars(plain), "__name__": "finding"}
    with MechanismsKept(), warnings.catch_warnings():
        exec(HEAD, names)
        datasets = [
            list(x)
            for size in setting.sizes or ()
            for x in itertools.product(setting.values, repeat=size)
            if len({record[-1] for record in x}) == 2
        ]
        claim = names["claim_of"](kind, datasets[0], setting.source)
        far = METRICS_OF[kind]
        known = {repr(x): names[kind](x, setting.source) for x in datasets}
        report = audit(
            None, lambda x: known[repr(x)], claim, datasets=datasets,
            neighbors=near, outputs=far if far in METRICS else plain.DISTANCES[far], distances=1,
            subject=setting.constructor, progress=False,
        )  # fmt: skip
    row = report.decisive

    def finding() -> tuple[str, str]:
        x, y = list(row.evidence.x), list(row.evidence.y)
        body = f"""{HEAD}

model = {setting.source!r}
x, y = {literal(x)}, {literal(y)}
assert not farther({near!r}, x, y, 1)
claim = claim_of({kind!r}, x, model)
answers = {kind}(x, model), {kind}(y, model)
print("claim", claim, "answers", *answers)
assert farther({far!r}, *answers, claim)
"""
        needs = f"diffprivlib=={version_of('diffprivlib', 'diffprivlib')} 'scikit-learn<1.9'"
        what = f"({kind}, {near} neighbors)"
        title = f"{setting.constructor} of diffprivlib claims too little {what}."
        pair = f"{short_literal(x)} and {short_literal(y)}, {kind}"
        return pair, script_of(title, needs, body)

    return judged(report, row, finding)


class MechanismsKept:
    """Put the mechanisms back that the text replaces."""

    def __enter__(self) -> None:
        from diffprivlib.mechanisms import PermuteAndFlip, Vector

        self._own = [(one, one.randomise) for one in (PermuteAndFlip, Vector)]

    def __exit__(self, *_: object) -> None:
        for one, randomise in self._own:
            one.randomise = randomise
