"""How a sweep of PipelineDP runs a pipeline: without noise, and with every choice of its sampler.

`HEAD` is text, which audits and the scripts of findings run alike. It replaces, while a pipeline
runs, what adds noise, what selects partitions, and the generator that samples records.
"""

HEAD = '''import functools
import itertools
import math
from collections import Counter, namedtuple
from contextlib import ExitStack
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pipeline_dp
from pipeline_dp import Metrics, NoiseKind, PartitionSelectionStrategy
from pipeline_dp import combiners, dp_computations, partition_selection
from pipeline_dp.aggregate_params import NormKind

Step = namedtuple("Step", "norm claim noise epsilon delta value chance", defaults=[None])
TOTAL = 1.0, 1e-3
OTHER = "z"  # one person is in this partition, in all datasets, for PipelineDP takes no empty ones
steps, sizes, picks, known = [], [], [], {}


def add_noise(self, value):
    """Remember what reaches a mechanism and what the mechanism is told, and add no noise."""
    laplace = self.noise_kind == NoiseKind.LAPLACE
    made, claim = self._mechanism, float(self.sensitivity)
    delta = 0.0 if laplace else made.delta
    norm = "L1" if laplace else "L2"
    steps.append(Step(norm, claim, self.noise_parameter, made.epsilon, delta, float(value)))
    return value


def laplace(value, eps, l1_sensitivity):
    made = dp_computations.LaplaceMechanism.create_from_epsilon(eps, l1_sensitivity)
    return made.add_noise(value)


def gaussian(value, eps, delta, l2_sensitivity):
    made = dp_computations.GaussianMechanism.create_from_epsilon_delta(eps, delta, l2_sensitivity)
    return made.add_noise(value)


def vector(value, params, own=dp_computations.add_noise_vector):
    """Remember a vector as one step: its noise hides all coordinates together."""
    before = len(steps)
    own(value, params)
    several = steps[before:]
    steps[before:] = [several[0]._replace(value=tuple(one.value for one in several))]
    return value


class Selector:
    """A selection that keeps every partition, and remembers with which chance it would."""

    def __init__(self, made):
        self.made = made

    def should_keep(self, number):
        made, most = self.made, self.made.max_partitions_contributed
        chance = made.probability_of_keep(number)
        steps.append(Step("kept", most, None, made.epsilon, made.delta, float(number), chance))
        return True

    def noised_value_if_should_keep(self, number):
        self.made.noised_value_if_should_keep  # not all selections have it
        return number if self.should_keep(number) else None


def selection(*given, own=partition_selection.create_partition_selection_strategy):
    return Selector(own(*given))


weighted = functools.cache(partition_selection.create_weighted_gaussian_thresholding)


def deviation(self, own=pipeline_dp.PLDBudgetAccountant._find_minimum_base_noise_std):
    """Return what an accountant finds, which takes seconds and is the same for all datasets."""
    asked = [(one.mechanism_spec, one.weight, one.sensitivity) for one in self._mechanisms]
    key = repr((self.total_epsilon, self.total_delta, asked))
    if key not in known:
        known[key] = own(self)
    return known[key]


class Tree:
    """A tree of quantiles that remembers its entries; the noise of its levels is not seen."""

    def __init__(self, *_):
        self.entries = Counter()

    def add_entry(self, value):
        self.entries[value] += 1

    def compute_quantiles(
        self, epsilon, delta, max_partitions_contributed, max_contributions_per_partition,
        quantiles, noise_type,
    ):
        most = max_partitions_contributed, max_contributions_per_partition
        norm, root = ("L1", 1) if noise_type == "laplace" else ("L2", 0.5)
        claim = most[0] ** root * most[1]
        steps.append(Step(norm, claim, None, epsilon, delta, dict(self.entries)))
        return [0.0 for _ in quantiles]


def choose(population, size, replace):
    """Draw as told: the place among all ways to choose, which are equally likely."""
    ways = list(itertools.combinations(range(len(population)), size))
    sizes.append(len(ways))
    return ways[picks[len(sizes) - 1] if len(sizes) <= len(picks) else 0]


STAND_INS = (
    (dp_computations.AdditiveMechanism, "add_noise", add_noise),
    (dp_computations, "apply_laplace_mechanism", laplace),
    (dp_computations, "apply_gaussian_mechanism", gaussian),
    (dp_computations, "add_noise_vector", vector),
    (partition_selection, "create_partition_selection_strategy", selection),
    (partition_selection, "create_weighted_gaussian_thresholding", weighted),
    (pipeline_dp.PLDBudgetAccountant, "_find_minimum_base_noise_std", deviation),
    (combiners, "quantile_tree", SimpleNamespace(QuantileTree=Tree)),
    (np.random, "choice", choose),
)
BY_COLUMN = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0],
    partition_extractor=lambda row: row[1],
    value_extractor=lambda row: row[2],
)


def engine(accountant, total):
    made = getattr(pipeline_dp, accountant)(*total)
    return made, pipeline_dp.DPEngine(made, pipeline_dp.LocalBackend())


def aggregate(
    rows, *metrics, public=None, total=TOTAL, accountant="NaiveBudgetAccountant", shared=False,
    **given,
):
    if shared:  # rows with equal vectors hold one array, as those that look it up in a table do
        arrays = {tuple(row[2]): np.array(row[2]) for row in rows}
        rows = [(*row[:2], arrays[tuple(row[2])]) for row in rows]
    made, one = engine(accountant, total)
    params = pipeline_dp.AggregateParams(metrics=list(metrics), **given)
    found = one.aggregate(rows, params, BY_COLUMN, public_partitions=public)
    made.compute_budgets()
    return found


def select(rows, total=TOTAL, accountant="NaiveBudgetAccountant", **given):
    made, one = engine(accountant, total)
    found = one.select_partitions(rows, pipeline_dp.SelectPartitionsParams(**given), BY_COLUMN)
    made.compute_budgets()
    return found


def run(x, source, choice=()):
    """Return the steps by partition, for one choice of the sampler.

    A dataset is a list of people, and a person is a tuple of rows: a partition and a value.
    """
    rows = [(who, *row) for who, person in enumerate(x) for row in person]
    rows.append((len(x), OTHER, [0.0, 0.0] if "VECTOR_SUM" in source else 0.0))
    picks[:] = choice
    sizes.clear()
    steps.clear()
    with ExitStack() as stack:
        for owner, name, other in STAND_INS:
            stack.enter_context(patch.object(owner, name, other))
        made = list(eval(source, {**globals(), "rows": rows}))
    keys = [one[0] if isinstance(one, tuple) else one for one in made]
    # Partitions go through the stages one after the other, in the order in which they come out.
    parts = ([s for s in steps if s.norm == "kept"], [s for s in steps if s.norm != "kept"])
    shares = [len(part) // len(keys) for part in parts]
    assert all(share * len(keys) == len(part) for share, part in zip(shares, parts))
    return {
        key: [s for share, part in zip(shares, parts) for s in part[i * share : (i + 1) * share]]
        for i, key in enumerate(keys)
    }


def choices(x, source):
    """Return all choices of the sampler; they are equally likely."""
    run(x, source)
    return list(itertools.product(*map(range, sizes)))


def told(found):
    """Return what the mechanisms of each partition are told: their norms, claims and budgets."""
    (one,) = {tuple(step[:5] for step in made) for made in found.values()}
    return one


def values(found, place):
    """Return the numbers of a step, by partition and coordinate, without the spare partition."""
    made = {}
    for key, several in found.items():
        value = several[place].value
        parts = value if isinstance(value, dict) else dict(enumerate(np.ravel(value).tolist()))
        if key != OTHER:
            made.update({(key, name): part for name, part in parts.items()})
    return made


def law(x, source, epsilon):
    """Return the law of a run with Gaussian noise: an epsilon, chances of partitions, and means.

    The means are in units of the deviations of the noise. Where the sampler chooses, the chances
    are those of a mixture; then there must be no means.
    """
    chances, means = Counter(), {}
    every = choices(x, source)
    for choice in every:
        found = run(x, source, choice)
        kept = {}
        for key in sorted(set(found) - {OTHER}):
            kept[key] = math.prod(one.chance for one in found[key] if one.norm == "kept")
        for flags in itertools.product((False, True), repeat=len(kept)):
            there = tuple(itertools.compress(kept, flags))
            chance = math.prod(kept[key] if key in there else 1 - kept[key] for key in kept)
            chances[there] += chance / len(every)
            noisy = [one for key in there for one in found[key] if one.norm != "kept"]
            assert all(one.norm == "L2" for one in noisy) and (not noisy or len(every) == 1)
            parts = [(one.noise, part) for one in noisy for part in np.ravel(one.value)]
            means[there] = [float(part) / noise for noise, part in parts]
    return epsilon, {one: p for one, p in chances.items() if p}, means
'''
"""Names that the sources of settings use. `TOTAL` is the epsilon and the delta of a call."""
