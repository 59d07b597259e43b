"""A checkpoint never answers for another function, whatever it was that changed it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from itertools import product

import pytest
from changed_functions import WAYS, helper, program

import sensitivity_lab as sl
from sensitivity_lab.running.fingerprint import NoFingerprintError, fingerprint

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 5, 8, 13])
REFUSED = (sl.errors.CheckpointError, sl.errors.InputError, sl.errors.QueryError)


@pytest.fixture(autouse=True)
def modules_of_a_test():
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name.startswith(("helper_", "a_package")):
            del sys.modules[name]
    importlib.invalidate_caches()


def fingerprint_of(function):
    """Return a fingerprint; None if there is none."""
    try:
        return fingerprint(function)
    except NoFingerprintError:
        return None


def solved(function, folder=None, size=3):
    """Return the value and its witness; what is refused and why."""
    try:
        found = sl.global_sensitivity(
            UNIVERSE, function, size=size, neighbors="bounded", run=sl.Run(checkpoint=folder)
        )
    except REFUSED as error:
        return type(error), str(error)
    return found.value, found.witness.query_x, found.witness.query_y


@pytest.mark.parametrize("name", WAYS)
def test_another_function_has_another_fingerprint_or_none(name, tmp_path):
    states = WAYS[name](tmp_path)
    before = fingerprint_of(next(states))
    after = fingerprint_of(next(states))
    assert before is None or before != after
    states.close()


def _resume(name, tmp_path, named, blocks):
    """Check that what is kept of a function never answers for the changed one."""
    states = WAYS[name](tmp_path)
    folder = tmp_path / "kept"

    def query(function):
        return sl.from_function(function, name="my query 1") if named else function

    first = query(next(states))
    before = solved(first)
    begun = solved(first, folder)
    if blocks == "some":
        for file in sorted(folder.glob("*.block"))[::2]:
            file.unlink()
    second = query(next(states))
    after = solved(second)
    resumed = solved(second, folder)
    states.close()
    # A function that keeps state answers once and is refused the next time.
    refused = {found[0] for found in (before, begun, after, resumed)} & set(REFUSED)
    assert begun == before or refused
    assert resumed == after or resumed[0] in REFUSED or refused == {sl.errors.QueryError}
    assert before != after or refused, "this way changes nothing"


def _marks(at: int, form: int) -> list[pytest.MarkDecorator]:
    """`make check` asks each way in one of the four forms, in turn, and `make stress` in all."""
    if at % 25 == 0:
        return []
    return [pytest.mark.exhaustive if form == at % 4 else pytest.mark.stress]


@pytest.mark.parametrize(
    ("name", "named", "blocks"),
    [
        pytest.param(name, named, blocks, marks=_marks(at, form))
        for at, name in enumerate(WAYS)
        for form, (named, blocks) in enumerate(product((True, False), ("all", "some")))
    ],
)
def test_another_function_is_refused_or_answered_anew(name, tmp_path, named, blocks):
    _resume(name, tmp_path, named, blocks)


# What has a fingerprint, and the same one in every process.

PROGRAM = """
import abc, collections, dataclasses, datetime, decimal, enum, fractions, functools, logging, math
import operator, re, typing
import numpy as np
import pandas as pd
import scipy

LOG = logging.getLogger("queries")

class Scale(enum.Enum):
    TWO = 2

class Flags(enum.Flag):
    A = 1
    B = 2

Pair = collections.namedtuple("Pair", "u v")

class Typed(typing.NamedTuple):
    u: int
    v: float = 0.5

@dataclasses.dataclass(frozen=True)
class Weighted:
    weights: typing.Optional[list[int]] = dataclasses.field(default_factory=lambda: [1, 2])
    def __call__(self, x): return float(self.weights[0] * x[0])

class Base(abc.ABC):
    @abc.abstractmethod
    def of(self, x): ...
    @functools.cached_property
    def by(self): return 2
    @property
    def name(self): return "name"

class Derived(Base):
    __slots__ = ("own",)
    def of(self, x): return float(super().name == "name") * self.by
    @classmethod
    def make(cls): return cls()

def checked(g):
    @functools.wraps(g)
    def wrapper(x):
        return g(x)
    return wrapper

@functools.lru_cache
def squared(a): return a * a

@checked
def decorated(x): return float(squared(int(x[0])))

DAYS = pd.to_datetime(["2020", "2021"], utc=True)
TABLE = pd.DataFrame({"a": pd.Categorical(["u", "v"]), "b": DAYS})
DEEP = {"a": [1, (2.5, None, {3, 4}, frozenset("ab"), b"x")], Scale.TWO: np.arange(3)}
SELF = []
SELF.append(SELF)

F = [
    np.median, max, len, np.add, operator.itemgetter(0), functools.partial(np.quantile, q=0.5),
    lambda x: float(np.percentile(x, 3) + np.linalg.norm(x) + x.sum() + math.pi),
    lambda x: float(scipy.stats.iqr(x)),
    lambda x: float(Scale.TWO.value * x[0] + (Flags.A | Flags.B).value),
    lambda x: float(Pair(1, 2).u + Typed(1).v + len(DEEP) + len(SELF)),
    lambda x: float(TABLE.groupby("a", observed=True)["b"].count().max()),
    lambda x: float(getattr(x, "sum")() + decimal.Decimal(1) / fractions.Fraction(1).denominator),
    lambda x: float(bool(re.compile("a").match("a"))) if not LOG else 0.0,
    lambda x: float(datetime.timedelta(1).days * x[0]),
    Weighted(), Derived().of, Derived.make, decorated, np.vectorize(lambda a: a + 1),
    np.ma.array([1, 2], mask=[0, 1]).sum, "a".join, np.poly1d([1, 2]),
]
"""


@pytest.mark.exhaustive
def test_ordinary_functions_have_fingerprints(tmp_path):
    module = helper(tmp_path, PROGRAM)
    fingerprints = [fingerprint(function) for function in module.F]
    assert fingerprints == [fingerprint(function) for function in module.F]
    assert len(set(fingerprints)) == len(module.F)
    script = (
        "import sys, importlib; sys.path.insert(0, sys.argv[1])\n"
        "from sensitivity_lab.running.fingerprint import fingerprint\n"
        "print(*map(fingerprint, importlib.import_module(sys.argv[2]).F))"
    )
    told = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), module.__name__],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7"},
    )
    assert told.stdout.split() == fingerprints


def test_imports_are_seen_in_code_with_many_constants(tmp_path):
    module = helper(tmp_path, "SCALE = 2\n")
    many = "".join(f" x{at} = {at + 0.5}\n" for at in range(300))
    source = f"def f(x):\n{many} from {module.__name__} import SCALE\n return float(SCALE)"
    before = fingerprint(program(source)["f"])
    module.SCALE = 3
    assert fingerprint(program(source)["f"]) != before


def test_what_cannot_be_told_is_listed(tmp_path):
    found = program(
        "import os\n"
        "def f(x):\n"
        " scale = globals()['scale'] * getattr(x, chr(115))\n"
        " return scale + len(eval('x')) + len(os.environ) + it.random()",
        it=__import__("random").Random(1),
    )
    with pytest.raises(sl.errors.InputError) as caught:
        sl.global_sensitivity(
            UNIVERSE, found["f"], size=3, neighbors="bounded", run=sl.Run(checkpoint=tmp_path)
        )
    assert str(caught.value) == (
        "query 'f' cannot be distinguished from others, because it uses getattr of a name that it "
        "computes; eval, which answers by more than its arguments; globals, which answers by more "
        "than its arguments; it, a random generator; and 1 more; name it, and change the name "
        "whenever the query changes: from_function(function, name='my query 1')"
    )


@pytest.mark.parametrize("local", [False, True])
def test_kept_answers_of_another_function_are_shown(tmp_path, local):
    file = tmp_path / "scale"

    def call(scale):
        file.write_text(str(scale))
        query = sl.from_function(
            lambda x: float(file.read_text()) * float(x[0]), name="first record 1"
        )
        options = {"neighbors": "bounded", "run": sl.Run(checkpoint=tmp_path / "kept")}
        if local:
            return sl.local_sensitivity(UNIVERSE, query, dataset=[1, 2, 3], **options)
        return sl.global_sensitivity(UNIVERSE, query, size=3, **options)

    assert call(2).value == call(2).value
    with pytest.raises(sl.errors.CheckpointError) as caught:
        call(3)
    dataset, kept, now = ("(2, 3, 13)", 4, 6) if local else ("(1, 2, 3)", "2.0", "3.0")
    assert str(caught.value) == (
        f"the checkpoint {str(tmp_path / 'kept')!r} holds answers of another query: on the dataset "
        f"{dataset}, first record 1 is kept as {kept}, and is {now} now; the query has changed "
        "where its fingerprint does not see it, or is random; choose another folder, or delete "
        "this one, and give the query a new name if it has one"
    )


@pytest.mark.exhaustive
def test_32_of_many_kept_answers_are_evaluated_again(tmp_path):
    calls = []

    class Counting:
        def __init__(self):
            self.unused = iter([])

        def __call__(self, x):
            calls.append(tuple(x.tolist()))
            return float(x[0])

    universe = sl.Universe.from_domain(range(8))
    query = sl.from_function(Counting(), name="first record 1")
    for _ in range(2):
        calls.clear()
        sl.global_sensitivity(
            universe, query, size=4, neighbors="bounded", run=sl.Run(checkpoint=tmp_path)
        )
    kept = calls[:32]
    assert len(set(kept)) == 32
    assert {(0, 0, 0, 0), (7, 7, 7, 7)} < set(kept)
    assert len(calls) == 32 + 2
