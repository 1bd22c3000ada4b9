"""The package keeps the rules of the house, and each rule catches what it is for."""

import pytest

from tests.support.house import rules
from tests.support.house.rules import RULES
from tests.support.house.source import Module, modules

DOC = '"""Doc."""\n'

BROKEN = [
    (rules.no_door_import, "import discreet"),
    (rules.no_door_import, "from discreet import core"),
    (rules.no_door_import, "from .. import core"),
    (rules.no_door_import, "from discreet.audit import verify"),
    (rules.no_door_import, "import discreet.events"),
    (rules.no_type_checking, "from typing import TYPE_CHECKING"),
    (rules.no_type_checking, "import typing\nif typing.TYPE_CHECKING:\n    pass"),
    (rules.no_local_import, "def f():\n    import json"),
    (rules.no_local_import, "class A:\n    async def f(self):\n        from json import loads"),
    (rules.no_dynamic_import, "import importlib\nimportlib.import_module('json')"),
    (rules.no_dynamic_import, "__import__('json')"),
    (rules.no_heavy_import, "import scipy.stats as stats"),
    (rules.no_heavy_import, "from duckdb import connect"),
    (rules.no_heavy_import, "def f():\n    import pyarrow.parquet"),
    (rules.no_other_randomness, "import random"),
    (rules.no_other_randomness, "from random import gauss"),
    (rules.no_other_randomness, "from numpy import random"),
    (rules.no_other_randomness, "import numpy.random"),
    (rules.no_other_randomness, "from numpy.random import default_rng"),
    (rules.no_other_randomness, "import numpy as np\nnp.random.default_rng()"),
    (rules.no_other_randomness, "import secrets"),
    (rules.no_other_randomness, "import os\nos.urandom(8)"),
    (rules.no_other_randomness, "from os import urandom"),
    (rules.no_seed, "def f(*, seed=None): pass"),
    (rules.no_seed, "f(random_state=3)"),
    (rules.no_seed, "def reseed(rng): pass"),
    (rules.no_seed, "self.noise_seed = 1"),
    (rules.no_print, "def f():\n    print(1)"),
    (rules.one_passage, "pass_gate(ledger, order, work)"),
    (rules.one_passage, "exact = project.engine.execute(plan, salt)"),
    (rules.one_passage, "run = self._engine.execute"),
    (rules.one_passage, "with project.engine.reading_once(plans, permit): pass"),
    (rules.one_passage, "permit = Permit()"),
    (rules.short_file, "x = 1\n" * 401),
    (rules.documented, "x = 1"),
    (rules.documented, DOC + "def f(): pass"),
    (rules.documented, DOC + "class A:\n    'Doc.'\n    def f(self): pass"),
]

ALLOWED = [
    (rules.no_door_import, "core/a.py", "from discreet.core.errors import DiscreetError"),
    (rules.no_local_import, "core/optional.py", "def f():\n    import json"),
    (rules.no_dynamic_import, "cli/main.py", "import importlib\nimportlib.import_module('json')"),
    (rules.no_other_randomness, "randomness/rng.py", "import os\nos.urandom(8)"),
    (rules.no_seed, "core/a.py", "superseded = proceed = seedling = 1"),
    (rules.no_print, "cli/commands/query.py", "print(1)"),
    (rules.one_passage, "project/passage.py", "pass_gate(a, b, project.engine.execute)"),
    (rules.one_passage, "ledger/gate.py", "self._permit = Permit()"),
    (rules.one_passage, "ledger/a.py", "connection.execute('SELECT 1')"),
    (rules.documented, "core/_private.py", "def f(): pass"),
    (
        rules.documented,
        "core/a.py",
        DOC + "def _f(): pass\nclass A:\n    'D.'\n    def _g(self): 1",
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_package_keeps(rule):
    found = [
        f"{module.place}:{line}: {what}" for module in modules() for line, what in rule(module)
    ]
    assert not found, f"{rule.__doc__}\n" + "\n".join(found)


@pytest.mark.parametrize(("rule", "text"), BROKEN)
def test_rule_catches(rule, text: str):
    assert list(rule(Module.parse(text)))


@pytest.mark.parametrize(("rule", "place", "text"), ALLOWED)
def test_rule_allows(rule, place: str, text: str):
    assert not list(rule(Module.parse(text, place=place)))


def test_every_rule_is_shown_to_work():
    assert {rule for rule, _ in BROKEN} == set(RULES)
