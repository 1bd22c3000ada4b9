"""Where arrays decide noise, numbers of different types never meet; and each check shows its power.

The rule: in ``randomness``, ``mechanisms`` and the engines no operation mixes signed with unsigned
integers, integers of different widths, or integers with floats, and no signed integer wraps around.
Everything is run with a NumPy that refuses to, and the source is read for what a run cannot see.
"""

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from fractions import Fraction
from types import CodeType, FunctionType, ModuleType

import numpy as np
import pytest

import discreet.mechanisms
import discreet.randomness
from discreet.engines.duckdb import engine
from discreet.mechanisms.selection import rank_choice
from discreet.mechanisms.thresholds import partition
from discreet.randomness import argmax, gamma_integer
from discreet.randomness.rng import SystemRng
from discreet.randomness.tables import draw
from discreet.randomness.tables.blocks import Blocks, block_table
from discreet.randomness.tables.decay import decay
from discreet.randomness.tables.law import NoiseLaw
from tests.support.house.mutant import mutant
from tests.support.house.number_rules import (
    FLOAT_WITH_REASON,
    HOMES,
    NARROW_WITH_REASON,
    NUMBER_RULES,
    no_casting,
    no_default_type,
    no_float_conversion,
    no_named_type,
    no_narrow_type,
)
from tests.support.house.source import Module, modules
from tests.support.projects.clinic import run_exact, visit, write_project
from tests.support.statistics.every_draw import DRIVES, SCALES
from tests.support.statistics.guarded_numpy import GUARDED_NUMPY, GuardedRng, MixedNumbers, guarded

WIDE = NoiseLaw(Fraction(0), Fraction(1, 2**30))
MIDDLE = NoiseLaw(Fraction(0), Fraction(1, 2**20))

# ---------------------------------------------------------------- a guarded run


def loaded(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(found.name)


HOUSE = [*loaded(discreet.randomness), *loaded(discreet.mechanisms), engine]


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every array that these folders make refuses to mix, tables included."""
    for module in HOUSE:
        if hasattr(module, "np"):
            monkeypatch.setattr(module, "np", GUARDED_NUMPY)
    for table in (block_table, decay):
        table.cache_clear()
    yield
    for table in (block_table, decay):
        table.cache_clear()


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("name", DRIVES)
def test_nothing_mixes_numbers(name, scale, guard, rng):
    DRIVES[name](scale, GuardedRng(rng), guarded)


def test_the_generator_mixes_no_numbers(guard):
    generator = SystemRng()
    for count in (0, 3, 1000, 20_000):
        assert generator.words(count).dtype == np.uint64


def test_everything_that_takes_randomness_is_run(guard, rng):
    called: set[CodeType] = set()
    source = GuardedRng(rng)
    sys.setprofile(lambda frame, *_: called.add(frame.f_code))
    try:
        for drive in DRIVES.values():
            drive(SCALES[1], source, guarded)
    finally:
        sys.setprofile(None)
    missed = {f"{f.__module__}.{f.__qualname__}" for f in takers() if f.__code__ not in called}
    assert not missed


def takers() -> Iterator[FunctionType]:
    """Functions and methods of these folders with an argument ``rng``."""
    for module in HOUSE:
        for found in vars(module).values():
            if getattr(found, "__module__", None) != module.__name__:
                continue
            for part in vars(found).values() if inspect.isclass(found) else [found]:
                function = inspect.unwrap(getattr(part, "__func__", part))
                if inspect.isfunction(function) and "rng" in inspect.signature(function).parameters:
                    yield function


AGGREGATES = "COUNT(*), SUM(age), SUM(cost), VARIANCE(age), COUNT(DISTINCT note)"


@pytest.mark.parametrize("more", ["", ", MEDIAN(age)"])
@pytest.mark.parametrize("key", ["", "clinic", "note"])
def test_the_engine_returns_integers_as_they_are(key, more, tmp_path, guard, monkeypatch):
    """What comes from the engine is int64 without gaps: a NULL would make floats of a column."""
    seen: dict[str, str] = {}
    for name in ("_by_public_keys", "_by_private_keys"):
        monkeypatch.setattr(engine, name, _watched(getattr(engine, name), seen))
    rows = [visit(f"p{i}", "ab"[i % 2], age=(i, None)[i % 3 == 0], note="xy") for i in range(50)]
    rows.append(visit("nobody's", "c", age=None, cost=None, note="zz"))
    by = (f"{key}, ", f" GROUP BY {key}") if key else ("", "")
    run_exact(write_project(tmp_path, rows), f"SELECT {by[0]}{AGGREGATES}{more} FROM visits{by[1]}")
    # A list of integers is written large_list<l: int64>; it is NULL where it is empty.
    assert {text.split(" ")[-1].rstrip(">") for text in seen.values()} == {"int64"}
    assert len(seen) > len(AGGREGATES.split(", "))


def _watched(inner, seen):
    def watch(found, *rest):
        for name, column in found.items():
            if name[0] in "agu":
                seen[name] = _type_of(column)
        return inner(found, *rest)

    return watch


def _type_of(column):
    if isinstance(column, np.ndarray):
        return "gaps" if isinstance(column, np.ma.MaskedArray) else str(column.dtype)
    is_whole = "list<" in str(column.type) or not column.null_count
    return str(column.type) if is_whole else "gaps"


# ---------------------------------------------------------------- what the guard catches

SIGNED, WORDS = np.array([1, 2, 2**62]), np.array([1, 2, 3], dtype=np.uint64)
NARROW, REALS = np.array([1, 2, 3], dtype=np.uint32), np.array([0.5, 1.0, 2.0])

MIXED = [
    lambda a, b, c, d: a + b,
    lambda a, b, c, d: a + c,
    lambda a, b, c, d: a * d,
    lambda a, b, c, d: a < b,
    lambda a, b, c, d: a + np.uint64(1),
    lambda a, b, c, d: b + np.int64(1),
    lambda a, b, c, d: a + 0.5,
    lambda a, b, c, d: d + (2**53 + 1),
    lambda a, b, c, d: a / 2,
    lambda a, b, c, d: np.sqrt(a),
    lambda a, b, c, d: a.sum(dtype=np.float64),
    lambda a, b, c, d: a.mean(),
    lambda a, b, c, d: np.add(a, 1, out=a, casting="unsafe"),
    lambda a, b, c, d: np.add(a, 1, out=d),
    lambda a, b, c, d: np.where(a > 1, a, b),
    lambda a, b, c, d: np.concatenate([a, b]),
    lambda a, b, c, d: np.searchsorted(a, b),
    lambda a, b, c, d: np.clip(a, 0.5, 2),
    lambda a, b, c, d: a.__iadd__(b),
    lambda a, b, c, d: a.__setitem__(slice(None), b),
    lambda a, b, c, d: a.__setitem__(slice(None), d),
    lambda a, b, c, d: a.__setitem__(0, 1.5),
    lambda a, b, c, d: a.astype(np.int32),
    lambda a, b, c, d: (-a).astype(np.uint64),
    lambda a, b, c, d: (d * 2.0**70).astype(np.int64),
    lambda a, b, c, d: a + a,
    lambda a, b, c, d: a * 2,
    lambda a, b, c, d: a << 1,
    lambda a, b, c, d: a[[2, 2]].sum(),
]
ALIKE = [
    lambda a, b, c, d: a + a[::-1] - 3,
    lambda a, b, c, d: b - b[::-1],
    lambda a, b, c, d: b >> np.uint64(3),
    lambda a, b, c, d: 2 * d / 3 + 0.25,
    lambda a, b, c, d: (a > 1).sum() + a[:2].sum(),
    lambda a, b, c, d: np.where(a > 1, a, 0),
    lambda a, b, c, d: np.take(d, a[:2], mode="clip"),
    lambda a, b, c, d: np.ldexp(*np.frexp(d)),
    lambda a, b, c, d: a.__setitem__(slice(None), c),
    lambda a, b, c, d: c.astype(np.int64) + a[0],
    lambda a, b, c, d: np.floor(d).astype(np.int64),
    lambda a, b, c, d: np.less(a, 2, out=np.empty(3, dtype=np.bool_)),
]


def fresh() -> list:
    return [guarded(array.copy()) for array in (SIGNED, WORDS, NARROW, REALS)]


@pytest.mark.parametrize("operation", MIXED)
def test_guard_refuses(operation):
    with pytest.raises(MixedNumbers):
        operation(*fresh())


@pytest.mark.parametrize("operation", ALIKE)
def test_guard_allows(operation):
    operation(*fresh())


def fills(module: ModuleType, law: NoiseLaw, rng) -> None:
    module.fill(block_table(law), guarded(np.empty(2000, dtype=np.int64)), rng)


def keeps(module: ModuleType, law: NoiseLaw, rng) -> None:
    blocks = Blocks(law, 2**10, 8)
    module.under_weight(blocks, guarded(np.array([0])), guarded(np.array([5])), rng)


def chooses(module: ModuleType, _: NoiseLaw, rng) -> None:
    module.gumbel_argmax(guarded(np.array([1, 2, 3])), 2, rng)


def weighs(module: ModuleType, _: NoiseLaw, rng) -> None:
    module.weighted_argmax(guarded(np.array([1, 2])), guarded(np.array([1, 2])), 2, rng)


def sums(module: ModuleType, _: NoiseLaw, rng) -> None:
    module.gamma_integer(3, 5, 10, rng)


def cuts(module: ModuleType, _: NoiseLaw, rng) -> None:
    module.noisy_cuts(2**62 - 1, depth=3, scale=Fraction(5), rng=rng)


def ranks(module: ModuleType, _: NoiseLaw, rng) -> None:
    most = 2**62 - 1
    values = guarded(np.empty(0, dtype=np.int64))
    scale = share = Fraction(1, 2)
    module.choose_by_rank(values, lower=-most, upper=most, share=share, scale=scale, rng=rng)


UNSAFE = ("np.add(part, offset, out=part)", 'np.add(part, offset, out=part, casting="unsafe")')
UNSIGNED = ("(words & np.uint64(width - 1)).view(np.int64)", "words & np.uint64(width - 1)")
MUTANTS = [
    (draw, fills, WIDE, [UNSAFE, UNSIGNED]),
    (draw, fills, WIDE, [UNSAFE]),
    (draw, fills, WIDE, [UNSIGNED]),
    (draw, fills, MIDDLE, [("np.uint32(width - 1)).astype(np.int64)", "np.uint32(width - 1))")]),
    (draw, keeps, WIDE, [("steps.astype(np.float64) *", "steps *")]),
    (argmax, chooses, WIDE, [("(scaled - whole)", "(scaled - whole.astype(np.int64))")]),
    (argmax, weighs, WIDE, [("counts[part].astype(np.float64)", "counts[part]")]),
    (gamma_integer, sums, WIDE, [("_HALF_BITS).sum(axis=1)", "_HALF_BITS).sum(axis=1) / 1")]),
    (gamma_integer, sums, WIDE, [(">= 1 << _HALF_BITS", ">= 2.0**31")]),
    (partition, cuts, WIDE, [("numbers * each + numbers * rest", "numbers * size")]),
    (rank_choice, ranks, WIDE, [("edges[1:] - firsts", "np.diff(edges) - 1")]),
]


@pytest.mark.parametrize(("module", "run", "law", "changes"), MUTANTS)
def test_mutants_are_caught(module, run, law, changes, guard, rng):
    source = GuardedRng(rng)
    run(module, law, source)
    twin = mutant(module, *changes)
    vars(twin)["np"] = GUARDED_NUMPY
    with pytest.raises(MixedNumbers):
        run(twin, law, source)


# ---------------------------------------------------------------- the source

BROKEN = [
    (no_casting, "np.add(a, b, out=a, casting='unsafe')"),
    (no_narrow_type, "a.view(np.uint32)"),
    (no_narrow_type, "np.float32(a)"),
    (no_narrow_type, "a.astype(np.int_)"),
    (no_float_conversion, "a.astype(np.float64)"),
    (no_float_conversion, "a.astype(float)"),
    (no_float_conversion, "a.sum(axis=1, dtype=np.float64)"),
    (no_float_conversion, "np.float64(a)"),
    (no_default_type, "np.empty(3)"),
    (no_default_type, "np.zeros((3, 4))"),
    (no_named_type, "a.astype('int64')"),
    (no_named_type, "a.astype(int)"),
    (no_named_type, "np.array(a, dtype='f4')"),
]
ALLOWED = [
    (no_narrow_type, "a.view(np.uint64)"),
    (no_float_conversion, "np.empty(3, dtype=np.float64)"),
    (no_float_conversion, "a.astype(np.int64)"),
    (no_default_type, "np.empty(3, dtype=np.int64)"),
    (no_named_type, "a.astype(np.intp)"),
]


def house() -> list[Module]:
    return [module for module in modules() if module.place.startswith(HOMES)]


@pytest.mark.parametrize("rule", NUMBER_RULES, ids=lambda rule: rule.__name__)
def test_source_keeps(rule):
    found = [f"{module.place}:{line}: {what}" for module in house() for line, what in rule(module)]
    assert not found, f"{rule.__doc__}\n" + "\n".join(found)


@pytest.mark.parametrize(("rule", "text"), BROKEN)
def test_rule_catches(rule, text: str):
    assert list(rule(Module.parse(text, place="randomness/example.py")))


@pytest.mark.parametrize(("rule", "text"), ALLOWED)
def test_rule_allows(rule, text: str):
    assert not list(rule(Module.parse(text, place="randomness/example.py")))


def test_every_rule_is_shown_to_work():
    assert {rule for rule, _ in BROKEN} == set(NUMBER_RULES)


def test_every_reason_is_still_needed():
    texts = {module.place: ast.unparse(module.tree) for module in house()}
    needed = [*FLOAT_WITH_REASON, *((place, f"np.{name}") for place, name in NARROW_WITH_REASON)]
    assert all(text in texts[place] for place, text in needed)
