"""Patients and their visits, which depend on them, for tests of two related tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.roles.owner import Owner
from tests.support.projects.frames import owned

PEOPLE, MOST = 3_000, 6
PARENTS: dict[str, Any] = {
    "patient": "integer",
    "age": {"type": "integer", "min": 0, "max": 99, "nullable": False},
    "sex": {"type": "text", "keys": ["f", "m"], "nullable": False},
}
CHILDREN: dict[str, Any] = {
    "patient": "integer",
    "cost": {"type": "integer", "min": 0, "max": 99},
    "kind": {"type": "text", "keys": ["x", "y"], "nullable": False},
}


def people() -> dict[str, pa.Table]:
    """Return patients, and visits: the old have more and dearer ones, women those of kind x."""
    random = np.random.default_rng(1)
    age, is_woman = random.integers(0, 100, PEOPLE), random.random(PEOPLE) < 0.5
    number = random.poisson(np.where(age >= 50, 3.0, 1.0))
    owner = random.permutation(np.repeat(np.arange(PEOPLE), number))
    is_old, woman = age[owner] >= 50, is_woman[owner]
    cost = random.integers(0, 40, len(owner)) + np.where(is_old, 60, 0)
    kind = random.random(len(owner)) < np.where(woman, 0.8, 0.2)
    parents = {
        "patient": np.arange(PEOPLE) + 10**6,
        "age": age,
        "sex": np.where(is_woman, "f", "m"),
    }
    children = {"patient": owner + 10**6, "cost": cost, "kind": np.where(kind, "x", "y")}
    return {"patients": pa.table(parents), "visits": pa.table(children)}


def owned_people(tables: dict[str, pa.Table], place: Path, **said: Any) -> Owner:
    """Own the patients and their visits, with a ledger on disk."""
    columns = {"patients": PARENTS, "visits": CHILDREN} | said.pop("columns", {})
    usual: dict[str, Any] = {
        "budget": {"rho": 500},
        "rows_per_group": MOST,
        "groups_per_unit": 1,
        "ledger": place / "ledger",
        "id_space": place.name,
    }
    return owned(tables, columns=columns, **usual | said)
