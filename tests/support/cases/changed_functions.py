"""Ways to change what a function computes without changing its source text or its name.

Each way is a generator: it yields the function, changes what it computes, and yields it again.
"""

from __future__ import annotations

import abc
import builtins
import contextvars
import decimal
import enum
import functools
import importlib
import itertools
import math
import os
import random
import sys
import threading
import types
import weakref
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Way = Callable[[Path], Iterator[Callable[[Any], Any]]]

WAYS: dict[str, Way] = {}

_NUMBER = itertools.count()


def way(function: Way) -> Way:
    """Add a way."""
    WAYS[function.__name__] = function
    return function


def program(source: str, **names: Any) -> dict[str, Any]:
    """Run a program with some globals, and return all of them."""
    found: dict[str, Any] = {"__name__": "a_program", "np": np, "pd": pd, **names}
    exec(compile(source, "a_program.py", "exec"), found)
    return found


def helper(folder: Path, text: str, package: str = "") -> Any:
    """Write a module that is not installed, and import it."""
    place = folder / package
    place.mkdir(exist_ok=True)
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    name = f"helper_{next(_NUMBER)}"
    if package:
        (place / "__init__.py").write_text("")
    (place / f"{name}.py").write_text(text)
    importlib.invalidate_caches()
    return importlib.import_module(f"{package}.{name}" if package else name)


def of_global(source: str, before: Any, after: Any, **names: Any) -> Iterator[Any]:
    """Yield f of a program before and after its global `it` is another one."""
    found = program(source, it=before, **names)
    yield found["f"]
    found["it"] = after
    yield found["f"]


# Names.


@way
def a_global_that_hides_a_builtin(_folder):
    found = program("def f(x): return float(max * x[0])", max=2)
    yield found["f"]
    found["max"] = 3
    yield found["f"]


@way
def an_own_function_that_hides_a_builtin(_folder):
    found = program("def f(x): return float(round(x[0]))", round=lambda one: one + 1)
    yield found["f"]
    found["round"] = lambda one: one + 2
    yield found["f"]


@way
def a_global_that_no_longer_hides_a_builtin(_folder):
    found = program("def f(x): return float(max(x))", max=min)
    yield found["f"]
    del found["max"]
    yield found["f"]


@way
def a_builtin_that_is_replaced(_folder):
    own = dict(vars(builtins))
    found = program("def f(x): return float(abs(x[0]))", __builtins__=own)
    yield found["f"]
    own["abs"] = lambda one: one + 1
    yield found["f"]


@way
def a_global_of_an_inner_function(_folder):
    yield from of_global("def f(x): return float((lambda: it)() * x[0])", 2, 3)


@way
def a_global_of_an_inner_class(_folder):
    source = "def f(x):\n class A:\n  b = it\n return float(A.b * x[0])"
    yield from of_global(source, 2, 3)


@way
def a_global_that_was_not_there(_folder):
    source = "def f(x):\n try: return float(it * x[0])\n except NameError: return 0.0"
    found = program(source)
    yield found["f"]
    found["it"] = 2
    yield found["f"]


@way
def an_entry_deep_in_a_global(_folder):
    deep = {"a": [1, {"b": (2, [3])}]}
    found = program("def f(x): return float(it['a'][1]['b'][1][0] * x[0])", it=deep)
    yield found["f"]
    deep["a"][1]["b"][1][0] = 4
    yield found["f"]


@way
def globals_by_name(_folder):
    yield from of_global("def f(x): return float(globals()['i' + 't'] * x[0])", 2, 3)


@way
def eval_of_a_text(_folder):
    yield from of_global("def f(x): return float(eval('it') * x[0])", 2, 3)


@way
def eval_by_another_name(_folder):
    yield from of_global("e = eval\ndef f(x): return float(e('i' + 't') * x[0])", 2, 3)


@way
def exec_of_a_text(_folder):
    yield from of_global("def f(x):\n d = {}\n exec('v = it', globals(), d)\n return d['v']", 2, 3)


@way
def globals_of_the_function(_folder):
    yield from of_global("def f(x): return float(f.__globals__['it'] * x[0])", 2, 3)


@way
def a_frame(_folder):
    source = "import sys\ndef f(x): return float(sys._getframe().f_globals['it'] * x[0])"
    yield from of_global(source, 2, 3)


@way
def eval_of_a_data_frame(_folder):
    source = "def f(x):\n t = pd.DataFrame({'v': x})\n return float(t.eval('v * @it').sum())"
    yield from of_global(source, 2, 3)


# Modules.


@way
def data_of_a_helper(folder):
    module = helper(folder, "SCALE = 2\ndef stat(x): return float(SCALE * x[0])\n")
    yield program("def f(x): return helper.stat(x)", helper=module)["f"]
    module.SCALE = 3
    yield program("def f(x): return helper.stat(x)", helper=module)["f"]


@way
def source_of_a_helper(folder):
    module = helper(folder, "def stat(x): return float(x[0])\n")
    yield program("def f(x): return helper.stat(x)", helper=module)["f"]
    Path(module.__file__).write_text("def stat(x): return float(x[-1] + 1)\n")
    importlib.reload(module)
    yield program("def f(x): return helper.stat(x)", helper=module)["f"]


@way
def function_of_a_helper(folder):
    module = helper(folder, "def stat(x): return float(x[0])\n")
    found = program("def f(x): return helper.stat(x)", helper=module)
    yield found["f"]
    module.stat = lambda x: float(x[-1])
    yield found["f"]


@way
def a_helper_imported_inside(folder):
    module = helper(folder, "SCALE = 2\n")
    found = program(f"def f(x):\n import {module.__name__} as h\n return float(h.SCALE * x[0])")
    yield found["f"]
    module.SCALE = 3
    yield found["f"]


@way
def a_name_imported_inside(folder):
    module = helper(folder, "SCALE = 2\n")
    found = program(f"def f(x):\n from {module.__name__} import SCALE\n return float(SCALE * x[0])")
    yield found["f"]
    module.SCALE = 3
    yield found["f"]


@way
def a_helper_in_a_package_imported_inside(folder):
    module = helper(folder, "SCALE = 2\n", "a_package")
    name = module.__name__
    found = program(f"def f(x):\n import {name}\n return float({name}.SCALE * x[0])")
    yield found["f"]
    module.SCALE = 3
    yield found["f"]


@way
def a_helper_of_a_helper(folder):
    below = helper(folder, "SCALE = 2\n")
    text = f"import {below.__name__} as below\ndef stat(x): return float(below.SCALE * x[0])\n"
    found = program("def f(x): return helper.stat(x)", helper=helper(folder, text))
    yield found["f"]
    below.SCALE = 3
    yield found["f"]


@way
def attributes_that_a_module_computes(folder):
    text = "TABLE = {'SCALE': 2}\ndef __getattr__(name): return TABLE[name]\n"
    module = helper(folder, text)
    found = program("def f(x): return float(helper.SCALE * x[0])", helper=module)
    yield found["f"]
    module.TABLE["SCALE"] = 3
    yield found["f"]


@way
def a_computed_name_of_a_helper(folder):
    module = helper(folder, "SCALE = 2\n")
    found = program("def f(x): return float(getattr(h, 'SC' + str('ALE')) * x[0])", h=module)
    yield found["f"]
    module.SCALE = 3
    yield found["f"]


@way
def the_table_of_a_helper(folder):
    module = helper(folder, "def SCALE(): return 2\n")
    found = program("def f(x): return float(vars(h)['SCALE']() * x[0])", h=module)
    yield found["f"]
    module.SCALE = lambda: 3
    yield found["f"]


@way
def a_getter_of_a_helper(folder):
    module = helper(folder, "def SCALE(): return 2\n")
    source = (
        "import operator\ng = operator.attrgetter('SCALE')\ndef f(x): return float(g(h)() * x[0])"
    )
    found = program(source, h=module)
    yield found["f"]
    module.SCALE = lambda: 3
    yield found["f"]


@way
def a_module_imported_by_its_name(folder):
    module = helper(folder, "SCALE = 2\n")
    source = "import importlib\ndef f(x): return float(importlib.import_module(it).SCALE * x[0])"
    found = program(source, it=module.__name__)
    yield found["f"]
    module.SCALE = 3
    yield found["f"]


@way
def the_table_of_modules(folder):
    module = helper(folder, "SCALE = 2\n")
    source = "import sys\ndef f(x): return float(sys.modules[it].SCALE * x[0])"
    found = program(source, it=module.__name__)
    yield found["f"]
    module.SCALE = 3
    yield found["f"]


@way
def a_module_without_a_file(_folder):
    module = types.ModuleType("made_here")
    module.SCALE = lambda: 2
    found = program("def f(x): return float(h.SCALE() * x[0])", h=module)
    yield found["f"]
    module.SCALE = lambda: 3
    yield found["f"]


@way
def an_attribute_of_an_installed_module(_folder):
    before = math.tau
    found = program("import math\ndef f(x): return float(math.tau * x[0])")
    try:
        yield found["f"]
        math.tau = 3.0
        yield found["f"]
    finally:
        math.tau = before


# Functions.


@way
def attributes_of_the_function(_folder):
    found = program("def f(x): return float(f.scale * x[0])\nf.scale = 2")
    yield found["f"]
    found["f"].scale = 3
    yield found["f"]


@way
def defaults(_folder):
    found = program("def f(x, scale=2): return float(scale * x[0])")
    yield found["f"]
    found["f"].__defaults__ = (3,)
    yield found["f"]


@way
def defaults_by_keyword(_folder):
    found = program("def f(x, *, scale=2): return float(scale * x[0])")
    yield found["f"]
    found["f"].__kwdefaults__ = {"scale": 3}
    yield found["f"]


@way
def what_is_in_a_default(_folder):
    found = program("def f(x, scales=[2]): return float(scales[0] * x[0])")
    yield found["f"]
    found["f"].__defaults__[0][0] = 3
    yield found["f"]


@way
def a_closure(_folder):
    found = program("def make(scale):\n def f(x): return float(scale * x[0])\n return f")
    yield found["make"](2)
    yield found["make"](3)


@way
def constants_of_the_code(_folder):
    found = program("def f(x): return float(2.5 * x[0])")
    yield found["f"]
    code = found["f"].__code__
    constants = tuple(3.5 if one == 2.5 else one for one in code.co_consts)
    found["f"].__code__ = code.replace(co_consts=constants)
    yield found["f"]


@way
def the_extent_of_a_try(_folder):
    source = (
        "def f(x):\n a = 0\n"
        " try:\n  a = 1\n  if x[0] > 2: raise ValueError\n except ValueError: a = 5\n"
        " return float(a)"
    )
    found = program(f"{source}\ndef g(x): raise ValueError")
    plain = found["f"].__code__
    shorter = "def f(x):\n a = 0\n try:\n  a = 1\n except ValueError: a = 5\n return float(a)"
    table = program(shorter)["f"].__code__.co_exceptiontable
    calls = "def h(x):\n try: return f(x)\n except ValueError: return -1.0"
    yield program(calls, f=found["f"])["h"]
    found["f"].__code__ = plain.replace(co_exceptiontable=b"" if table else table)
    yield program(calls, f=found["f"])["h"]


@way
def a_decorator(_folder):
    source = (
        "import functools\n"
        "def scaled(by):\n"
        " def wrap(g):\n"
        "  @functools.wraps(g)\n"
        "  def wrapper(x): return by * g(x)\n"
        "  return wrapper\n"
        " return wrap\n"
        "@scaled(it)\ndef f(x): return float(x[0])"
    )
    yield program(source, it=2)["f"]
    yield program(source, it=3)["f"]


@way
def what_a_decorated_function_wraps(_folder):
    source = "import functools\ndef f(x): return float(f.__wrapped__(x))"
    found = program(source)
    found["f"].__wrapped__ = lambda x: x[0]
    yield found["f"]
    found["f"].__wrapped__ = lambda x: x[-1]
    yield found["f"]


@way
def a_partial(_folder):
    found = program("def g(x, scale): return float(scale * x[0])")
    yield functools.partial(found["g"], scale=2)
    yield functools.partial(found["g"], scale=3)


@way
def a_cached_helper(_folder):
    source = (
        "import functools\n@functools.lru_cache\ndef g(a): return float(it * a)\n"
        "def f(x): return g(int(x[0]))"
    )
    yield program(source, it=2)["f"]
    yield program(source, it=3)["f"]


@way
def a_cache_that_is_filled(_folder):
    source = (
        "import functools\n@functools.lru_cache\ndef g(a): return float(it() * a)\n"
        "def f(x): return g(int(x[0]))"
    )
    found = program(source, it=lambda: 2)
    yield found["f"]
    found["g"].cache_clear()
    found["it"] = lambda: 3
    [found["g"](a) for a in (1, 2, 3, 5, 8, 13)]
    found["it"] = lambda: 2
    yield found["f"]


@way
def frompyfunc(_folder):
    found = program("def f(x): return float(it(x)[0])", it=np.frompyfunc(lambda a: a + 1, 1, 1))
    yield found["f"]
    found["it"] = np.frompyfunc(lambda a: a + 2, 1, 1)
    yield found["f"]


@way
def vectorize(_folder):
    found = program("def f(x): return float(it(x)[0])", it=np.vectorize(lambda a: a + 1))
    yield found["f"]
    found["it"] = np.vectorize(lambda a: a + 2)
    yield found["f"]


@way
def single_dispatch(_folder):
    source = (
        "import functools\n@functools.singledispatch\ndef g(a): return 1.0\n"
        "def f(x): return g(int(x[0]))"
    )
    found = program(source)
    yield found["f"]
    found["g"].register(int, lambda a: 2.0 * a)
    yield found["f"]


@way
def another_ufunc(_folder):
    yield from of_global("def f(x): return float(it.reduce(x))", np.add, np.multiply)


@way
def a_method_of_a_builtin(_folder):
    yield from of_global("def f(x): return float(it(int(x[0])))", {1: 2}.__contains__, {}.get)


# Data.


@way
def the_mask_of_a_masked_array(_folder):
    made = [np.ma.array([1, 2], mask=mask) for mask in ([0, 1], [1, 0])]
    yield from of_global("def f(x): return float(it.sum() * x[0])", *made)


@way
def the_fill_value_of_a_masked_array(_folder):
    made = [np.ma.array([1, 2], mask=[0, 1], fill_value=fill) for fill in (3, 4)]
    yield from of_global("def f(x): return float(it.filled().sum() * x[0])", *made)


@way
def an_object_in_an_array(_folder):
    made = [np.array([[1], [2, scale]], dtype=object) for scale in (2, 3)]
    yield from of_global("def f(x): return float(it[1][1] * x[0])", *made)


@way
def names_of_fields(_folder):
    made = [np.array([(2, 3)], dtype=[(a, "i8"), (b, "i8")]) for a, b in ("uv", "vu")]
    yield from of_global("def f(x): return float(it['u'][0] * x[0])", *made)


@way
def the_order_of_an_array(_folder):
    made = [np.array([[1, 2], [3, 4]], order=order) for order in "CF"]
    yield from of_global("def f(x): return float(it.ravel('K')[1] * x[0])", *made)


@way
def the_values_of_an_enum(_folder):
    made = [enum.Enum("Scale", {"IT": scale}, module="a_program") for scale in (2, 3)]
    yield from of_global("def f(x): return float(it.IT.value * x[0])", *made)


@way
def the_value_of_a_member(_folder):
    made = [enum.Enum("Scale", {"IT": scale}, module="a_program").IT for scale in (2, 3)]
    yield from of_global("def f(x): return float(it.value * x[0])", *made)


@way
def categories(_folder):
    made = [pd.Series(pd.Categorical.from_codes([0], [scale, 9])) for scale in (2, 3)]
    yield from of_global("def f(x): return float(int(it[0]) * x[0])", *made)


@way
def unused_categories(_folder):
    made = [pd.Series(pd.Categorical([2], categories=every)) for every in ([2], [2, 3])]
    yield from of_global("def f(x): return float(len(it.cat.categories) * x[0])", *made)


@way
def the_index_of_a_table(_folder):
    made = [pd.DataFrame({"v": [2, 3]}, index=index) for index in (["a", "b"], ["b", "a"])]
    yield from of_global("def f(x): return float(it.loc['a', 'v'] * x[0])", *made)


@way
def the_attributes_of_a_table(_folder):
    made = [pd.DataFrame({"v": [2]}) for _ in range(2)]
    for scale, table in enumerate(made):
        table.attrs["scale"] = scale
    yield from of_global("def f(x): return float(it.attrs['scale'] * x[0])", *made)


@way
def the_type_of_a_column(_folder):
    made = [pd.Series([1, 2], dtype=kind) for kind in ("int64", "Int64")]
    yield from of_global(
        "def f(x): return float(len(it.dtype.name + '_' * (it.dtype == 'Int64')))", *made
    )


@way
def missing_values_of_a_column(_folder):
    made = [pd.Series([1, missing], dtype=object) for missing in (None, np.nan)]
    yield from of_global("def f(x): return float((it[1] is None) * x[0])", *made)


def _subclass(base: type, *content: Any) -> list[Any]:
    kind = type("Scaled", (base,), {"__module__": "a_program"})
    made = [kind(*content) for _ in range(2)]
    for scale, one in enumerate(made, 2):
        one.scale = scale
    return made


@way
def a_subclass_of_dict(_folder):
    yield from of_global("def f(x): return float(it.scale * x[0])", *_subclass(dict))


@way
def a_subclass_of_list(_folder):
    yield from of_global("def f(x): return float(it.scale * x[0])", *_subclass(list))


@way
def a_subclass_of_tuple(_folder):
    yield from of_global("def f(x): return float(it.scale * x[0])", *_subclass(tuple, (1, 2)))


@way
def a_subclass_of_float(_folder):
    yield from of_global("def f(x): return float(it.scale * x[0])", *_subclass(float, 1.5))


@way
def a_subclass_of_int(_folder):
    yield from of_global("def f(x): return float(it.scale * x[0])", *_subclass(int, 1))


@way
def a_subclass_of_str(_folder):
    yield from of_global("def f(x): return float(it.scale * x[0])", *_subclass(str, "a"))


@way
def a_subclass_of_fraction(_folder):
    yield from of_global("def f(x): return float(it.scale * x[0])", *_subclass(Fraction, 1))


@way
def a_subclass_of_decimal(_folder):
    made = _subclass(decimal.Decimal, 1)
    yield from of_global("def f(x): return float(it.scale * x[0])", *made)


@way
def a_subclass_of_deque(_folder):
    yield from of_global("def f(x): return float(it.scale * x[0])", *_subclass(deque, [1]))


@way
def a_subclass_of_arrays(_folder):
    kind = type("Scaled", (np.ndarray,), {"__module__": "a_program"})
    made = [np.arange(2).view(kind) for _ in range(2)]
    for scale, one in enumerate(made, 2):
        one.scale = scale
    yield from of_global("def f(x): return float(it.scale * x[0])", *made)


@way
def the_behaviour_of_a_subclass(_folder):
    made = [
        type(
            "Scaled",
            (float,),
            {"__module__": "a_program", "__mul__": lambda _self, a, by=by: a * by},
        )
        for by in (2, 3)
    ]
    yield from of_global("def f(x): return float(it * int(x[0]))", *(kind(1.0) for kind in made))


@way
def what_a_default_dictionary_makes(_folder):
    made = [defaultdict(int), defaultdict(lambda: 2)]
    yield from of_global("def f(x): return float(it[int(x[0])] + x[0])", *made)


@way
def the_order_of_a_dictionary(_folder):
    made = [OrderedDict(a=2, b=3), OrderedDict(b=3, a=2)]
    yield from of_global("def f(x): return float(next(iter(it.values())) * x[0])", *made)


@way
def a_named_tuple(_folder):
    made = [namedtuple("Pair", names)(2, 3) for names in ("u v", "v u")]
    yield from of_global("def f(x): return float(it.u * x[0])", *made)


@way
def minus_zero(_folder):
    yield from of_global("def f(x): return float(np.copysign(1, it) * x[0])", 0.0, -0.0)


@way
def a_slice_of_an_array(_folder):
    made = [slice(np.array([1, 2, scale])) for scale in (2, 3)]
    yield from of_global("def f(x): return float(it.stop[2] * x[0])", *made)


# Objects and classes.

_SCALED = """
class Base: scale = 2
class Meta(type):
 by = 2
 def __call__(cls, *a): return super().__call__(*a)
class Scaled(Base):
 def __init__(self, own=2): self.own = own
 def __call__(self, x): return float(self.scale * self.own * x[0])
 def method(self, x): return float(self.own * x[0])
 @property
 def of(self): return 2
 @staticmethod
 def fixed(): return 2
 def by_property(self, x): return float(self.of * self.fixed() * x[0])
class Slotted:
 __slots__ = ("own",)
 def __init__(self, own): self.own = own
 def __call__(self, x): return float(self.own * x[0])
class WithMeta(metaclass=Meta):
 def __call__(self, x): return float(type(self).by * x[0])
class Descriptor:
 def __init__(self, by): self.by = by
 def __get__(self, one, kind=None): return self.by
class Described:
 it = Descriptor(2)
 def __call__(self, x): return float(self.it * x[0])
"""


@way
def an_attribute_of_an_object(_folder):
    one = program(_SCALED)["Scaled"]()
    yield one
    one.own = 3
    yield one


@way
def the_object_of_a_method(_folder):
    one = program(_SCALED)["Scaled"]()
    yield one.method
    one.own = 3
    yield one.method


@way
def a_slot(_folder):
    one = program(_SCALED)["Slotted"](2)
    yield one
    one.own = 3
    yield one


@way
def an_attribute_of_a_base_class(_folder):
    found = program(_SCALED)
    yield found["Scaled"]()
    found["Base"].scale = 3
    yield found["Scaled"]()


@way
def an_attribute_of_a_metaclass(_folder):
    found = program(_SCALED)
    yield found["WithMeta"]()
    found["Meta"].by = 3
    yield found["WithMeta"]()


@way
def a_property(_folder):
    kind = program(_SCALED)["Scaled"]
    yield kind().by_property
    kind.of = property(lambda _self: 3)
    yield kind().by_property


@way
def a_static_method(_folder):
    kind = program(_SCALED)["Scaled"]
    yield kind().by_property
    kind.fixed = staticmethod(lambda: 3)
    yield kind().by_property


@way
def a_descriptor(_folder):
    kind = program(_SCALED)["Described"]
    yield kind()
    vars(kind)["it"].by = 3
    yield kind()


@way
def a_class_that_is_registered(_folder):
    kind = abc.ABCMeta("Kind", (), {})

    found = program("def f(x): return float(isinstance(2, it) * x[0])", it=kind)
    yield found["f"]
    kind.register(int)
    yield found["f"]


@way
def an_entry_of_a_dataclass(_folder):
    @dataclass
    class Scales:
        by: list[int] = field(default_factory=lambda: [2])

    one = Scales()
    found = program("def f(x): return float(it.by[0] * x[0])", it=one)
    yield found["f"]
    one.by[0] = 3
    yield found["f"]


@way
def a_value_that_a_property_cached(_folder):
    class Scales:
        @functools.cached_property
        def by(self) -> int:
            return 2

    one = Scales()
    found = program("def f(x): return float(it.by * x[0])", it=one)
    yield found["f"]
    one.by = 3
    yield found["f"]


@way
def an_object_that_pickle_would_hide(_folder):
    class Hidden:
        def __init__(self, scale: int) -> None:
            self.scale = scale

        def __reduce__(self) -> Any:
            return Hidden, (2,)

    yield from of_global("def f(x): return float(it.scale * x[0])", Hidden(2), Hidden(3))


@way
def a_namespace(_folder):
    made = [types.SimpleNamespace(by=scale) for scale in (2, 3)]
    yield from of_global("def f(x): return float(it.by * x[0])", *made)


@way
def a_view_of_a_mapping(_folder):
    below = {"by": 2}
    found = program("def f(x): return float(it['by'] * x[0])", it=types.MappingProxyType(below))
    yield found["f"]
    below["by"] = 3
    yield found["f"]


# The world outside the program, and what is used up.


@way
def a_generator(_folder):
    found = program("def f(x): return float(sum(it) * x[0] + x[0])", it=(i for i in [2]))
    yield found["f"]
    found["it"] = (i for i in [3])
    yield found["f"]


@way
def an_iterator(_folder):
    yield from of_global(
        "def f(x): return float(next(it) * x[0])", itertools.repeat(2), itertools.repeat(3)
    )


@way
def a_random_generator(_folder):
    made = [random.Random(1), random.Random(2)]
    yield from of_global("def f(x): return float(it.getstate()[1][1] % 97 * x[0])", *made)


@way
def the_random_numbers_of_numpy(_folder):
    source = "def f(x):\n np.random.seed(it())\n return float(np.random.randint(1000) * x[0])"
    yield from of_global(source, lambda: 1, lambda: 2)


@way
def an_environment_variable(_folder):
    name = "SENSITIVITY_LAB_TEST"
    found = program(f"import os\ndef f(x): return float(os.environ[{name!r}]) * float(x[0])")
    try:
        os.environ[name] = "2"
        yield found["f"]
        os.environ[name] = "3"
        yield found["f"]
    finally:
        del os.environ[name]


@way
def a_file_by_open(folder):
    file = folder / "scale.txt"
    source = "def f(x):\n with open(it) as file: return float(file.read()) * float(x[0])"
    found = program(source, it=str(file))
    file.write_text("2")
    yield found["f"]
    file.write_text("3")
    yield found["f"]


@way
def a_file_by_path(folder):
    file = folder / "scale.txt"
    found = program("def f(x): return float(it.read_text()) * float(x[0])", it=file)
    file.write_text("2")
    yield found["f"]
    file.write_text("3")
    yield found["f"]


@way
def a_file_by_numpy(folder):
    file = folder / "scale.npy"
    found = program("def f(x): return float(np.load(it)[0] * x[0])", it=str(file))
    np.save(file, np.array([2]))
    yield found["f"]
    np.save(file, np.array([3]))
    yield found["f"]


@way
def a_file_by_pandas(folder):
    file = folder / "scale.csv"
    found = program(
        "def f(x): return float(pd.read_csv(it).columns[0]) * float(x[0])", it=str(file)
    )
    file.write_text("2\n")
    yield found["f"]
    file.write_text("3\n")
    yield found["f"]


@way
def an_array_in_a_file(folder):
    made = np.memmap(folder / "scale.bin", dtype=np.int64, mode="w+", shape=(1,))
    made[0] = 2
    found = program("def f(x): return float(it[0] * x[0])", it=made)
    yield found["f"]
    made[0] = 3
    yield found["f"]


@way
def a_context_variable(_folder):
    variable = contextvars.ContextVar("scale")
    found = program("def f(x): return float(it.get() * x[0])", it=variable)
    token = variable.set(2)
    yield found["f"]
    variable.reset(token)
    variable.set(3)
    yield found["f"]


@way
def what_a_thread_holds(_folder):
    local = threading.local()
    local.scale = 2
    found = program("def f(x): return float(it.scale * x[0])", it=local)
    yield found["f"]
    local.scale = 3
    yield found["f"]


@way
def a_weak_reference(_folder):
    targets = [type("Scale", (), {"by": scale, "__module__": "a_program"})() for scale in (2, 3)]
    made = [weakref.ref(target) for target in targets]
    yield from of_global("def f(x): return float(it().by * x[0])", *made)


@way
def the_precision_of_decimals(_folder):
    source = "from decimal import Decimal\ndef f(x): return float(Decimal(int(x[0])) / Decimal(7))"
    found = program(source)
    with decimal.localcontext() as context:
        yield found["f"]
        context.prec = 2
        yield found["f"]


@way
def the_clock(_folder):
    source = "import datetime\ndef f(x): return float(datetime.datetime.now().microsecond * x[0])"
    found = program(source)
    yield found["f"]
    yield found["f"]


@way
def a_counter_of_calls(_folder):
    source = "n = 0\ndef f(x):\n global n\n n += 1\n return float(n > 40) + float(x[0])"
    found = program(source)
    yield found["f"]
    found["n"] = 100
    yield found["f"]
